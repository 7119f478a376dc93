/** The descriptor of the backend `sqlite`, the embedded store: one file, filled by `toolsrv load`. Pure; the adapter itself loads when a catalog names it. */
import { EXTENDED_OPS } from "../../abi/filter.js";
import type { BackendDescriptor } from "../descriptor.js";
import { compileFilter } from "./filter.js";

export const descriptor: BackendDescriptor = {
  name: "sqlite",
  summary: "the embedded store: one file, filled by `toolsrv load`",
  packages: [],
  settings: {
    path: { default: null, use: "path" },
    codes_memory_mb: { default: null, use: "option" },
  },
  capabilities: {
    supportLevel: "stable", extendedOps: EXTENDED_OPS, nestedPaths: true, arrays: true, hybrid: true, scroll: true,
    countWithFilter: true, idLookup: true, scoreThreshold: false, hnswEf: false, serverSideEmbedding: false,
    introspection: "typed", requiresExplicitIndex: false, filteredRecallSafe: true, exact: true, routes: [], comparesInstants: true,
  },
  compileFilter: (filter) => compileFilter(filter),
  load: () => import("./index.js"),
  isFilled: true,
};
