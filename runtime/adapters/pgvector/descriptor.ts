/** The descriptor of the backend `pgvector`: PostgreSQL with the extension pgvector. Pure; the adapter itself loads when a catalog names it. */
import type { BackendDescriptor } from "../descriptor.js";
import { compileFilter } from "./filter.js";

/** What `dsn: pglite://FOLDER` needs instead of the client of a server. */
export const EMBEDDED_PACKAGES = ["@electric-sql/pglite", "@electric-sql/pglite-pgvector"] as const;

export const descriptor: BackendDescriptor = {
  name: "pgvector",
  summary: "PostgreSQL with the extension pgvector",
  packages: ["pg"],
  variant: {
    summary: "`dsn: pglite://FOLDER`", packages: EMBEDDED_PACKAGES, provenOn: ["PGlite 0.5.14 (PostgreSQL 18.6) with pgvector 0.8.7"],
    when: ({ dsn }) => typeof dsn === "string" && dsn.startsWith("pglite:"),
  },
  settings: {
    dsn: { default: null, use: "endpoint" },
    table: { default: null, use: "place" },
    vector_column: { default: "embedding", use: "option" },
    mode: { default: null, use: "option" },
    id_column: { default: "id", use: "option" },
  },
  capabilities: {
    supportLevel: "experimental", extendedOps: ["contains_any", "contains_all", "exists", "is_null", "like"],
    nestedPaths: true, arrays: true, hybrid: false, scroll: true, countWithFilter: true, idLookup: true,
    scoreThreshold: false, hnswEf: false, serverSideEmbedding: false, introspection: "typed",
    requiresExplicitIndex: true, filteredRecallSafe: true, exact: false, routes: [], comparesInstants: true,
  },
  compileFilter: (filter) => compileFilter(filter),
  load: () => import("./index.js"),
  provenOn: ["PostgreSQL 18.4 with pgvector 0.8.5"],
  hasVectors: (settings) => settings["mode"] !== "table" && settings["vector_column"] !== null,
};
