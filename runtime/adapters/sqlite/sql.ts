/**
 * The statements of this adapter. Pure; `queries.ts` keeps one for each shape of a read.
 */
import { type Given, later, place } from "../hole.js";
import type { Shape } from "../shape.js";
import { comparesTexts, compileFilter, MAX_INDEX_WORDS, type Sql, type SqlValue, turnSql } from "./filter.js";
import { encodeWord, tableName } from "./layout.js";

/** Parameters with the query vector among them. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly (SqlValue | Float32Array)[];
}

/** Paths of a collection, as far as they are known. */
export type Paths = ReadonlySet<string> | null;

/** The collection of a statement. */
export interface Target {
  readonly name: string;
  readonly paths: Paths;
}

/** Rows that a filter has selected before, in the same state of the file. */
export interface SelectedRows {
  readonly rows: Given<ArrayLike<number>>;
}

/** Rows of a scan, `from < "@row" <= to`: a large collection is searched in slices. */
export interface Slice {
  readonly from: Given<number>;
  readonly to: Given<number>;
}

export interface DenseShape {
  readonly vector: Given<Float32Array>;
  readonly filter: Shape | SelectedRows | null;
  readonly limit: Given<number>;
  readonly slice: Slice | null;
}

/**
 * The nearest records by cosine, best first, equal ones by id. A zero vector (a text without words)
 * is similar to nothing: 0. Exact: every record that the filter selects is compared.
 */
export function denseSql({ vector, filter, limit, slice }: DenseShape, target: Target): Statement {
  const vectors = tableName(target.name, "vectors");
  const where = whereSql(filter, target);
  const score = `ifnull(1 - vec_distance_cosine(v."vector", ?), 0)`;
  // CROSS JOIN keeps the order: the filter runs first, over the narrow table, and vectors are read for what is left.
  const from = where === null ? `${vectors} v` : `${tableName(target.name, "fields")} f CROSS JOIN ${vectors} v ON v."@row" = f."@row"`;
  const scan = where === null ? "v" : "f";
  const bounds: Sql | null = slice === null ? null : { sql: `${scan}."@row" > ? AND ${scan}."@row" <= ?`, params: [place(slice.from), place(slice.to)] };
  const conditions = [bounds, where].filter((part) => part !== null);
  return {
    sql: lines(
      `SELECT v."@row" AS "row", v."@id" AS "id", ${score} AS "score"`,
      `FROM ${from}`,
      conditions.length > 0 && `WHERE ${conditions.map(({ sql }) => (conditions.length > 1 ? `(${sql})` : sql)).join(" AND ")}`,
      `ORDER BY "score" DESC, "id" LIMIT ?`,
    ),
    params: [place(vector), ...conditions.flatMap(({ params }) => params), place(limit)],
  };
}

export interface WordsShape {
  /** Words, of which there is at least one. */
  readonly words: Given<readonly string[]>;
  readonly filter: Shape | SelectedRows | null;
  readonly limit: Given<number>;
}

/** The records that share words with the text (its first 64 distinct ones), best by BM25 first, equal ones by id. */
export function wordsSql({ words, filter, limit }: WordsShape, target: Target): Statement {
  const table = tableName(target.name, "text");
  const where = whereSql(filter, target);
  return {
    sql: lines(
      `SELECT f."@row" AS "row", f."@id" AS "id", -bm25(${table}) AS "score"`,
      `FROM ${table} JOIN ${tableName(target.name, "fields")} f ON f."@row" = ${table}.rowid`,
      `WHERE ${table} MATCH ?${where === null ? "" : ` AND (${where.sql})`}`,
      `ORDER BY "score" DESC, "id" LIMIT ?`,
    ),
    params: [later(words, matchAny), ...(where?.params ?? []), place(limit)],
  };
}

function matchAny(words: readonly string[]): string {
  return `{text} : (${words.slice(0, MAX_INDEX_WORDS).map((word) => `"${encodeWord(word)}"`).join(" OR ")})`;
}

export interface PageShape {
  readonly filter: Shape | null;
  readonly limit: Given<number>;
  readonly offset: Given<number>;
}

/** The matching records in id order. Records are read for the rows that are left, not for those that are sorted or skipped. */
export function fetchSql({ filter, limit, offset }: PageShape, target: Target): Statement {
  const where = boundedSql(filter, target);
  return {
    sql: lines(
      `SELECT n."id", r."record"`,
      `FROM (SELECT f."@row" AS "row", f."@id" AS "id" FROM ${tableName(target.name, "fields")} f`,
      `WHERE ${where.sql}`,
      `ORDER BY f."@id" LIMIT ? OFFSET ?) n JOIN ${tableName(target.name, "records")} r ON r."@row" = n."row"`,
      `ORDER BY n."id"`,
    ),
    params: [...where.params, place(limit), place(offset)],
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
export function countSql(filter: Shape | null, target: Target): Statement {
  const fields = tableName(target.name, "fields");
  // Without a condition SQLite counts pages, not rows.
  if (filter === null) return { sql: `SELECT count(*) AS "n" FROM ${fields}`, params: [] };
  const where = boundedSql(filter, target);
  return { sql: lines(`SELECT count(*) AS "n" FROM ${fields} f`, `WHERE ${where.sql}`), params: where.params };
}

/** A condition in a statement that can be ended before all rows were compared: asked first, also of rows that do not match. */
function boundedSql(filter: Shape | null, target: Target): Sql {
  const where = whereSql(filter, target);
  const turn = turnSql(`f."@row"`, filter !== null && comparesTexts(filter));
  return where === null ? { sql: turn, params: [] } : { sql: `${turn} AND (${where.sql})`, params: where.params };
}

/** The rows that a filter selects, in no particular order: one JSON list, which takes half the time of as many rows. */
export function rowsSql(filter: Shape, target: Target): Statement {
  const where = compileFilter(filter, target);
  return { sql: lines(`SELECT json_group_array(f."@row") FROM ${tableName(target.name, "fields")} f`, `WHERE ${where.sql}`), params: where.params };
}

/** The records of found rows, in no particular order. */
export function recordsSql(collection: string): string {
  return `SELECT "record" FROM ${tableName(collection, "records")} WHERE "@row" = ?`;
}

/** Every record of a collection that passes the conditions with an index or a cheap comparison, and whether it passes the others. */
export function scanSql(filter: Shape, target: Target): Statement {
  const conjuncts = conjunctsOf(filter);
  const cheap = compileFilter({ and: conjuncts.filter((part) => !comparesTexts(part)) }, target);
  const dear = compileFilter({ and: conjuncts.filter(comparesTexts) }, target);
  return {
    sql: lines(`SELECT f."@row" AS "row", (${dear.sql}) AS "hit"`, `FROM ${tableName(target.name, "fields")} f`, `WHERE ${cheap.sql}`),
    params: [...dear.params, ...cheap.params],
  };
}

function conjunctsOf(filter: Shape): readonly Shape[] {
  return "and" in filter ? filter.and.flatMap(conjunctsOf) : [filter];
}

function whereSql(filter: Shape | SelectedRows | null, target: Target): Sql | null {
  if (filter !== null && "rows" in filter) return { sql: `f."@row" IN (SELECT value FROM json_each(?))`, params: [later(filter.rows, rowList)] };
  return filter === null ? null : compileFilter(filter, target);
}

function rowList(rows: ArrayLike<number>): string {
  return `[${Array.prototype.join.call(rows, ",")}]`;
}

function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join("\n");
}
