/** The descriptor of the backend `qdrant`: a Qdrant server. Pure; the adapter itself loads when a catalog names it. */
import type { BackendDescriptor } from "../descriptor.js";
import { compileFilter } from "./filter.js";

export const descriptor: BackendDescriptor = {
  name: "qdrant",
  summary: "a Qdrant server",
  packages: ["@qdrant/js-client-rest"],
  settings: {
    url: { default: null, use: "endpoint" },
    api_key: { default: null, use: "secret" },
  },
  capabilities: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all", "exists", "is_null", "text_match"],
    nestedPaths: true, arrays: true, hybrid: true, scroll: true, countWithFilter: true, idLookup: true,
    scoreThreshold: true, hnswEf: true, serverSideEmbedding: false, introspection: "typed",
    requiresExplicitIndex: true, filteredRecallSafe: true, exact: false, routes: [], comparesInstants: true,
  },
  compileFilter: (filter) => compileFilter(filter),
  load: () => import("./index.js"),
  provenOn: ["Qdrant's engine (qdrant-edge-py 0.9.0), our REST layer"],
};
