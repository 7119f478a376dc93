/**
 * The statements of this adapter, compiled once for each shape of a read. Pure: `search`, `fetch` and `count` run what
 * `explain` shows, from the same templates.
 */
import type { Json } from "../../abi/plan.js";
import type { FetchRequest, ReadRequest, SearchRequest } from "../adapter.js";
import type { CountRequest, PreparedReads } from "../prepared.js";
import { refuse, refuseRoute } from "../reduce.js";
import { countSql, fetchSql, pageSql, searchSql, type Statement } from "./sql.js";
import type { Table } from "./table.js";

/** A table, and what was compiled for its columns. */
export interface Known {
  readonly table: Table;
  readonly reads: PreparedReads;
}

export function searchStatement({ table, reads }: Known, request: SearchRequest, exact: boolean, isShown = false): Statement {
  return reads.search(request, exact ? "exact" : "index", (shape) => searchSql(shape, table, exact), isShown);
}

export function fetchStatement({ table, reads }: Known, request: FetchRequest): Statement {
  return reads.fetch(request, "", (shape) => fetchSql(shape, table));
}

/** A page of a copy. */
export function copyStatement({ table, reads }: Known, request: FetchRequest): Statement {
  return reads.fetch(request, "copy", (shape) => pageSql(shape, table));
}

export function countStatement({ table, reads }: Known, request: CountRequest): Statement {
  return reads.count(request, "", ({ filter }) => countSql(filter, table));
}

/** As they run; vectors are shown by their length only. */
export function explainOn(request: ReadRequest, known: Known): Json {
  if ("fetch" in request) return shown(fetchStatement(known, request.fetch));
  if ("count" in request) return shown(countStatement(known, request.count));
  refuseRoute("pgvector", request.search.route);
  if (request.search.mode === "hybrid") refuse("pgvector", "hybrid search");
  return shown(searchStatement(known, request.search, false, true));
}

function shown({ sql, params }: Statement): Json {
  return { sql, params: params as readonly Json[] };
}
