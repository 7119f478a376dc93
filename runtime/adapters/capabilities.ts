/** What each backend can do, as data: the compiler and the runtime ask this table, never a backend's name. */
import type { ExtendedOp } from "../abi/filter.js";
import type { BackendName } from "../abi/plan.js";

export interface Capabilities {
  readonly supportLevel: "stable" | "experimental";
  /** Operators beyond the eight comparisons. */
  readonly extendedOps: readonly ExtendedOp[];
  readonly nestedPaths: boolean;
  readonly arrays: boolean;
  readonly hybrid: boolean;
  /** Filter-only reads (kind scroll, lookup, search without text). */
  readonly scroll: boolean;
  readonly countWithFilter: boolean;
  /** A lookup by record id that still honours the guard. */
  readonly idLookup: boolean;
  readonly scoreThreshold: boolean;
  readonly hnswEf: boolean;
  readonly serverSideEmbedding: boolean;
  readonly introspection: "typed" | "none";
  readonly requiresExplicitIndex: boolean;
  /** A filtered vector search can't silently return fewer rows than match. */
  readonly filteredRecallSafe: boolean;
  /** Searches compare every candidate. */
  readonly exact: boolean;
  /** Settings of a connection that isolate by address and that every request of the adapter carries out. */
  readonly routes: readonly ("namespace" | "tenant")[];
}

const ALL: readonly ExtendedOp[] = ["exists", "is_null", "contains_any", "contains_all", "like", "text_match"];

export const CAPABILITIES: { readonly [B in BackendName]: Capabilities } = {
  sqlite: {
    supportLevel: "stable", extendedOps: ALL, nestedPaths: true, arrays: true, hybrid: true, scroll: true,
    countWithFilter: true, idLookup: true, scoreThreshold: false, hnswEf: false, serverSideEmbedding: false,
    introspection: "typed", requiresExplicitIndex: false, filteredRecallSafe: true, exact: true, routes: [],
  },
  qdrant: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all", "exists", "is_null", "text_match"],
    nestedPaths: true, arrays: true, hybrid: true, scroll: true, countWithFilter: true, idLookup: true,
    scoreThreshold: true, hnswEf: true, serverSideEmbedding: false, introspection: "typed",
    requiresExplicitIndex: true, filteredRecallSafe: true, exact: false, routes: [],
  },
  pgvector: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all", "exists", "is_null", "like"],
    nestedPaths: true, arrays: true, hybrid: false, scroll: true, countWithFilter: true, idLookup: true,
    scoreThreshold: false, hnswEf: false, serverSideEmbedding: false, introspection: "typed",
    requiresExplicitIndex: true, filteredRecallSafe: true, exact: false, routes: [],
  },
  chroma: {
    supportLevel: "experimental", extendedOps: [], nestedPaths: false, arrays: false, hybrid: false, scroll: true,
    countWithFilter: true, idLookup: true, scoreThreshold: false, hnswEf: false, serverSideEmbedding: false,
    introspection: "none", requiresExplicitIndex: false, filteredRecallSafe: true, exact: false, routes: [],
  },
  pinecone: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all"], nestedPaths: false, arrays: true,
    hybrid: false, scroll: false, countWithFilter: false, idLookup: false, scoreThreshold: false, hnswEf: false,
    serverSideEmbedding: false, introspection: "none", requiresExplicitIndex: false, filteredRecallSafe: true, exact: false, routes: ["namespace"],
  },
  weaviate: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all", "like", "text_match"],
    nestedPaths: false, arrays: true, hybrid: true, scroll: true, countWithFilter: true, idLookup: true,
    scoreThreshold: false, hnswEf: false, serverSideEmbedding: true, introspection: "typed",
    requiresExplicitIndex: false, filteredRecallSafe: true, exact: false, routes: ["tenant"],
  },
  milvus: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all", "like"], nestedPaths: true,
    arrays: true, hybrid: false, scroll: true, countWithFilter: true, idLookup: true, scoreThreshold: false,
    hnswEf: false, serverSideEmbedding: false, introspection: "typed", requiresExplicitIndex: true,
    filteredRecallSafe: true, exact: false, routes: [],
  },
};
