/**
 * The statements of this adapter, built from requests. Pure: `search`, `fetch` and `count` run exactly the text that
 * `explain` shows.
 */
import type { Filter } from "../../abi/filter.js";
import { wordsOf } from "../../base/text.js";
import type { FetchRequest } from "../adapter.js";
import { comparesTexts, compileFilter, MAX_INDEX_WORDS, type Sql, type SqlValue, turnSql } from "./filter.js";
import { encodeWord, tableName } from "./layout.js";

/** Parameters with the query vector among them. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly (SqlValue | Float32Array)[];
}

/** Paths of a collection, as far as they are known. */
export type Paths = ReadonlySet<string> | null;

/** Rows that a filter has selected before, in the same state of the file. */
export interface SelectedRows {
  readonly rows: ArrayLike<number>;
}

/** Rows of a scan, `from < "@row" <= to`: a large collection is searched in slices. */
export interface Slice {
  readonly from: number;
  readonly to: number;
}

/**
 * The nearest records by cosine, best first, equal ones by id. A zero vector (a text without words)
 * is similar to nothing: 0. Exact: every record that the filter selects is compared.
 */
export function denseSql(collection: string, vector: Float32Array, filter: Filter | SelectedRows | null, limit: number, paths: Paths, slice: Slice | null = null): Statement {
  const vectors = tableName(collection, "vectors");
  const where = whereSql(filter, collection, paths);
  const score = `ifnull(1 - vec_distance_cosine(v."vector", ?), 0)`;
  // CROSS JOIN keeps the order: the filter runs first, over the narrow table, and vectors are read for what is left.
  const from = where === null ? `${vectors} v` : `${tableName(collection, "fields")} f CROSS JOIN ${vectors} v ON v."@row" = f."@row"`;
  const scan = where === null ? "v" : "f";
  const bounds: Sql | null = slice === null ? null : { sql: `${scan}."@row" > ? AND ${scan}."@row" <= ?`, params: [slice.from, slice.to] };
  const conditions = [bounds, where].filter((part) => part !== null);
  return {
    sql: lines(
      `SELECT v."@row" AS "row", v."@id" AS "id", ${score} AS "score"`,
      `FROM ${from}`,
      conditions.length > 0 && `WHERE ${conditions.map(({ sql }) => (conditions.length > 1 ? `(${sql})` : sql)).join(" AND ")}`,
      `ORDER BY "score" DESC, "id" LIMIT ?`,
    ),
    params: [vector, ...conditions.flatMap(({ params }) => params), limit],
  };
}

/** The records that share words with the text (its first 64 distinct ones), best by BM25 first, equal ones by id; `null` for a text without words. */
export function wordsSql(collection: string, text: string, filter: Filter | SelectedRows | null, limit: number, paths: Paths): Statement | null {
  const words = [...new Set(wordsOf(text))].slice(0, MAX_INDEX_WORDS);
  if (words.length === 0) return null;
  const table = tableName(collection, "text");
  const where = whereSql(filter, collection, paths);
  return {
    sql: lines(
      `SELECT f."@row" AS "row", f."@id" AS "id", -bm25(${table}) AS "score"`,
      `FROM ${table} JOIN ${tableName(collection, "fields")} f ON f."@row" = ${table}.rowid`,
      `WHERE ${table} MATCH ?${where === null ? "" : ` AND (${where.sql})`}`,
      `ORDER BY "score" DESC, "id" LIMIT ?`,
    ),
    params: [`{text} : (${words.map((word) => `"${encodeWord(word)}"`).join(" OR ")})`, ...(where?.params ?? []), limit],
  };
}

/** The matching records in id order. Records are read for the rows that are left, not for those that are sorted or skipped. */
export function fetchSql({ collection, filter, limit, offset }: FetchRequest, paths: Paths): Statement {
  const where = boundedSql(filter, collection, paths);
  return {
    sql: lines(
      `SELECT n."id", r."record"`,
      `FROM (SELECT f."@row" AS "row", f."@id" AS "id" FROM ${tableName(collection, "fields")} f`,
      `WHERE ${where.sql}`,
      `ORDER BY f."@id" LIMIT ? OFFSET ?) n JOIN ${tableName(collection, "records")} r ON r."@row" = n."row"`,
      `ORDER BY n."id"`,
    ),
    params: [...where.params, limit, offset],
  };
}

/** The vectors of records, in no particular order; for a copy. */
export function vectorsSql(collection: string, ids: readonly string[]): Statement {
  return {
    sql: lines(
      `SELECT f."@id" AS "id", v."vector"`,
      `FROM ${tableName(collection, "fields")} f JOIN ${tableName(collection, "vectors")} v ON v."@row" = f."@row"`,
      `WHERE f."@id" IN (SELECT value FROM json_each(?))`,
    ),
    params: [JSON.stringify(ids)],
  };
}

/** How many records match. */
export function countSql(collection: string, filter: Filter | null, paths: Paths): Statement {
  const fields = tableName(collection, "fields");
  // Without a condition SQLite counts pages, not rows.
  if (filter === null) return { sql: `SELECT count(*) AS "n" FROM ${fields}`, params: [] };
  const where = boundedSql(filter, collection, paths);
  return { sql: lines(`SELECT count(*) AS "n" FROM ${fields} f`, `WHERE ${where.sql}`), params: where.params };
}

/** A condition in a statement that can be ended before all rows were compared: asked first, also of rows that do not match. */
function boundedSql(filter: Filter | null, collection: string, paths: Paths): Sql {
  const where = whereSql(filter, collection, paths);
  const turn = turnSql(`f."@row"`, filter !== null && comparesTexts(filter));
  return where === null ? { sql: turn, params: [] } : { sql: `${turn} AND (${where.sql})`, params: where.params };
}

/** The rows that a filter selects, in no particular order: one JSON list, which takes half the time of as many rows. */
export function rowsSql(collection: string, filter: Filter, paths: Paths): Statement {
  const where = whereSql(filter, collection, paths);
  return { sql: lines(`SELECT json_group_array(f."@row") FROM ${tableName(collection, "fields")} f`, where !== null && `WHERE ${where.sql}`), params: where?.params ?? [] };
}

/** The records of found rows, in no particular order. */
export function recordsSql(collection: string): string {
  return `SELECT "record" FROM ${tableName(collection, "records")} WHERE "@row" = ?`;
}

/** Every record of a collection that passes the conditions with an index or a cheap comparison, and whether it passes the others. */
export function scanSql(collection: string, filter: Filter, paths: Paths): Statement {
  const conjuncts = conjunctsOf(filter);
  const cheap = whereSql({ and: conjuncts.filter((part) => !comparesTexts(part)) }, collection, paths);
  const dear = whereSql({ and: conjuncts.filter(comparesTexts) }, collection, paths);
  return {
    sql: lines(`SELECT f."@row" AS "row", (${dear?.sql ?? "1"}) AS "hit"`, `FROM ${tableName(collection, "fields")} f`, cheap !== null && `WHERE ${cheap.sql}`),
    params: [...(dear?.params ?? []), ...(cheap?.params ?? [])],
  };
}

function conjunctsOf(filter: Filter): readonly Filter[] {
  return "and" in filter ? filter.and.flatMap(conjunctsOf) : [filter];
}

function whereSql(filter: Filter | SelectedRows | null, collection: string, paths: Paths): Sql | null {
  if (filter !== null && "rows" in filter) return { sql: `f."@row" IN (SELECT value FROM json_each(?))`, params: [`[${Array.prototype.join.call(filter.rows, ",")}]`] };
  return filter === null ? null : compileFilter(filter, { collection, paths });
}

function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join("\n");
}
