/** The descriptor of the backend `pinecone`: a Pinecone index. Pure; the adapter itself loads when a catalog names it. */
import type { BackendDescriptor } from "../descriptor.js";
import { compileFilter } from "./filter.js";

export const descriptor: BackendDescriptor = {
  name: "pinecone",
  summary: "a Pinecone index",
  packages: ["@pinecone-database/pinecone"],
  settings: {
    api_key: { default: null, use: "secret" },
    host: { default: null, use: "endpoint" },
    namespace: { default: null, use: "place" },
  },
  capabilities: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all"], nestedPaths: false, arrays: true,
    hybrid: false, scroll: false, countWithFilter: false, idLookup: false, scoreThreshold: false, hnswEf: false,
    serverSideEmbedding: false, introspection: "none", requiresExplicitIndex: false, filteredRecallSafe: true, exact: false, routes: ["namespace"], comparesInstants: false,
  },
  compileFilter: (filter) => compileFilter(filter),
  load: () => import("./index.js"),
  provenOn: ["a stand-in of ours, which checks requests with the models of the client 8.1.0; not on the service"],
};
