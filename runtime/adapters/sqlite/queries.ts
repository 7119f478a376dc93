/**
 * The statements of this adapter, compiled once for each shape of a read. Pure: searches, lists, counts and costs run
 * what `explain` shows, from the same templates.
 */
import type { Filter } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import { wordsOf } from "../../base/text.js";
import type { ReadRequest, SearchRequest } from "../adapter.js";
import { Shown } from "../hole.js";
import type { PreparedReads } from "../prepared.js";
import { refuseRoute } from "../reduce.js";
import type { Shape } from "../shape.js";
import { countSql, denseSql, fetchSql, rowsSql, scanSql, type Statement, type Target, wordsSql } from "./sql.js";

/** A collection, and what was compiled for its columns. */
export interface Known extends Target {
  readonly reads: PreparedReads;
}

/** Numbers of rows that a filter has selected before, in the same state of the file. */
export interface Rows {
  readonly rows: ArrayLike<number>;
}

/** Rows `from < "@row" <= to`. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Smallest number of candidates that each half of a hybrid search gives. */
const MIN_CANDIDATES = 100;

/** How many records each ranking of a search gives. */
export function keepOf({ mode, limit }: Pick<SearchRequest, "mode" | "limit">): number {
  return mode === "hybrid" ? Math.max(MIN_CANDIDATES, 2 * limit) : limit;
}

/** The ranking by vector: of the rows that a filter selects, or of such as are known already. */
export function denseStatement(known: Known, query: Float32Array, filter: Filter | Rows | null, keep: number, range: RowRange | null = null, isShown = false): Statement {
  const given = isShown ? new Shown(`<vector of ${query.length}>`) : query;
  if (filter !== null && "rows" in filter) return known.reads.step("dense rows", null, [given, keep, filter.rows], (_, [vector, limit, rows]) => denseSql({ vector, limit, filter: { rows }, slice: null }, known));
  if (range === null) return known.reads.step("dense", filter, [given, keep], (shape, [vector, limit]) => denseSql({ vector, limit, filter: shape, slice: null }, known));
  return known.reads.step("dense slice", filter, [given, keep, range.from, range.to], (shape, [vector, limit, from, to]) => denseSql({ vector, limit, filter: shape, slice: { from, to } }, known));
}

/** The ranking by words; `null` for a text without any. */
export function wordsStatement(known: Known, text: string, filter: Filter | Rows | null, keep: number): Statement | null {
  const all = [...new Set(wordsOf(text))];
  if (all.length === 0) return null;
  if (filter !== null && "rows" in filter) return known.reads.step("words rows", null, [all, keep, filter.rows], (_, [words, limit, rows]) => wordsSql({ words, limit, filter: { rows } }, known));
  return known.reads.step("words", filter, [all, keep], (shape, [words, limit]) => wordsSql({ words, limit, filter: shape }, known));
}

/** The rows that a filter selects, before their vectors are compared. */
export function rowsStatement(known: Known, filter: Filter): Statement {
  return known.reads.step("rows", filter, [], (shape) => rowsSql(shape as Shape, known));
}

/** The same for a filter that reads texts, record by record. */
export function scanStatement(known: Known, filter: Filter): Statement {
  return known.reads.step("scan", filter, [], (shape) => scanSql(shape as Shape, known));
}

/** A read without a vector. */
export type ListRequest = Exclude<ReadRequest, { readonly search: unknown }>;

export function listStatement(known: Known, request: ListRequest): Statement {
  if ("count" in request) return countStatement(known, request.count.filter);
  const { filter, limit, offset } = request.fetch;
  return known.reads.step("fetch", filter, [limit, offset], (shape, [limit, offset]) => fetchSql({ filter: shape, limit, offset }, known));
}

export function countStatement(known: Known, filter: Filter | null): Statement {
  return known.reads.step("count", filter, [], (shape) => countSql(shape, known));
}

/** As they run, on a collection that is small; vectors are shown by their length only. */
export function explainOn(request: ReadRequest, known: Known): Json {
  if (!("search" in request)) return shown(listStatement(known, request));
  const { vector, text, mode, filter, route } = request.search;
  refuseRoute("sqlite", route);
  const keep = keepOf(request.search);
  const dense = vector === null ? null : shown(denseStatement(known, vector, filter, keep, null, true));
  if (mode === "dense" || text === null) return dense;
  const words = wordsStatement(known, text, filter, keep);
  return { dense, words: words === null ? null : shown(words) };
}

function shown({ sql, params }: Statement): Json {
  return { sql, params: params as readonly Json[] };
}
