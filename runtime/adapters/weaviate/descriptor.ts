/** The descriptor of the backend `weaviate`: a Weaviate server. Pure; the adapter itself loads when a catalog names it. */
import type { BackendDescriptor } from "../descriptor.js";
import { compileFilter } from "./filter.js";

export const descriptor: BackendDescriptor = {
  name: "weaviate",
  summary: "a Weaviate server",
  packages: ["weaviate-client"],
  settings: {
    url: { default: null, use: "endpoint" },
    api_key: { default: null, use: "secret" },
    grpc_url: { default: null, use: "endpoint" },
    tenant: { default: null, use: "place" },
    embedding_mode: { default: "auto", use: "option" },
  },
  capabilities: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all", "like", "text_match"],
    nestedPaths: false, arrays: true, hybrid: true, scroll: true, countWithFilter: true, idLookup: true,
    scoreThreshold: false, hnswEf: false, serverSideEmbedding: true, introspection: "typed",
    requiresExplicitIndex: false, filteredRecallSafe: true, exact: false, routes: ["tenant"], comparesInstants: true,
  },
  compileFilter: (filter) => compileFilter(filter),
  load: () => import("./index.js"),
  provenOn: ["Weaviate 1.35.2"],
};
