/** The descriptor of the backend `chroma`: a Chroma server. Pure; the adapter itself loads when a catalog names it. */
import type { BackendDescriptor } from "../descriptor.js";
import { compileFilter } from "./filter.js";

export const descriptor: BackendDescriptor = {
  name: "chroma",
  summary: "a Chroma server",
  packages: ["chromadb"],
  settings: {
    url: { default: null, use: "endpoint" },
    auth_token: { default: null, use: "secret" },
  },
  capabilities: {
    supportLevel: "experimental", extendedOps: [], nestedPaths: false, arrays: false, hybrid: false, scroll: true,
    countWithFilter: true, idLookup: true, scoreThreshold: false, hnswEf: false, serverSideEmbedding: false,
    introspection: "none", requiresExplicitIndex: false, filteredRecallSafe: true, exact: false, routes: [], comparesInstants: false,
  },
  compileFilter: (filter) => compileFilter(filter),
  load: () => import("./index.js"),
  provenOn: ["Chroma's own server, of chromadb 1.5.9"],
};
