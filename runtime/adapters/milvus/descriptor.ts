/** The descriptor of the backend `milvus`: a Milvus server. Pure; the adapter itself loads when a catalog names it. */
import type { BackendDescriptor } from "../descriptor.js";
import { compileFilter } from "./filter.js";

export const descriptor: BackendDescriptor = {
  name: "milvus",
  summary: "a Milvus server",
  packages: ["@zilliz/milvus2-sdk-node"],
  settings: {
    uri: { default: null, use: "endpoint" },
    token: { default: null, use: "secret" },
    user: { default: null, use: "account" },
    password: { default: null, use: "secret" },
    database: { default: null, use: "place" },
  },
  capabilities: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all", "like"], nestedPaths: true,
    arrays: true, hybrid: false, scroll: true, countWithFilter: true, idLookup: true, scoreThreshold: false,
    hnswEf: false, serverSideEmbedding: false, introspection: "typed", requiresExplicitIndex: true,
    filteredRecallSafe: true, exact: false, routes: [], comparesInstants: false,
  },
  compileFilter: (filter) => compileFilter(filter),
  load: () => import("./index.js"),
  provenOn: ["milvus-lite 3.2.2", "Milvus 2.3.5"],
};
