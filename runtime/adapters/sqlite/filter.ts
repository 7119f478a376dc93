/**
 * Filters as SQL over a collection's columns. Pure; values go into parameters, paths into quoted names after they
 * were checked against the grammar of paths, so a caller's text never becomes SQL.
 * Selects exactly the rows for which `evaluate` of runtime/abi/filter.ts is true.
 */
import { BackendError } from "../../abi/errors.js";
import { comparesInstants, type Condition, type Filter, idOperand, instantKeys, isIdPath, type Operand, type Scalar, toList } from "../../abi/filter.js";
import { parseLike, likeProblem } from "../../base/like.js";
import { wordsOf } from "../../base/text.js";
import { listTableName, listValue } from "./indexes.js";
import { columnName, encodeWord, FALSE, instantPath, isColumnPath, listIndexPath, listPath, NULL, tableName, TRUE } from "./layout.js";

export type SqlValue = string | number;

/** A condition in SQL with its parameters, in the order of their question marks. */
export interface Sql {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

export interface FilterTarget {
  readonly collection: string;
  /** Paths that any record of the collection has; `null` when that is not known (no file is read). */
  readonly paths: ReadonlySet<string> | null;
}

/** Functions that the connection registers, for what SQLite's own operators mean differently. */
export const FUNCTIONS = { like: "toolsrv_like", words: "toolsrv_words", turn: "toolsrv_turn" } as const;

/** Rows between two calls of `toolsrv_turn` on average. */
const ROWS_A_TURN = 256;

/**
 * A condition that is always true, over the row numbers in `row`. The function ends the statement when its time is over
 * or its call was cancelled. It is asked for one row of 256, chosen by a hash of the number, because regular numbers may
 * belong to one tenant; a filter that goes through texts asks for each row, because one may take long.
 */
export function turnSql(row: string, eachRow: boolean): string {
  const ask = `${FUNCTIONS.turn}(${row})`;
  const turn = eachRow ? ask : `(${row} * 618033989 >> 16 & ${ROWS_A_TURN - 1} OR ${ask})`;
  // For those who read the query in queries.md or `explain`.
  return `${turn} /* always true: looks at the clock */`;
}

/** Lists longer than this are passed as one JSON parameter: SQLite bounds the number of parameters. */
const MAX_PLACEHOLDERS = 16;

/**
 * Longest pattern, in bytes, that is passed to SQLite's own LIKE: its time grows with the product of pattern and value.
 * Longer ones are passed to our function directly.
 */
const MAX_LIKE_BYTES = 128;

/**
 * Maximum number of words in a query of the full-text index: SQLite parses a query in quadratic time.
 * text_match still compares all words, with our function; in a hybrid search the first ones of the text rank.
 */
export const MAX_INDEX_WORDS = 64;

const ID_COLUMN = `f."@id"`;

const NOTHING: Sql = { sql: "0", params: [] };
const EVERYTHING: Sql = { sql: "1", params: [] };

/** The WHERE condition of a filter over the alias `f`. @throws BackendError unsupported for a path that cannot be a column. */
export function compileFilter(filter: Filter, target: FilterTarget = { collection: "collection", paths: null }): Sql {
  if ("and" in filter) return combine("AND", filter.and.map((part) => compileFilter(part, target)), EVERYTHING);
  if ("or" in filter) return combine("OR", filter.or.map((part) => compileFilter(part, target)), NOTHING);
  if (isIdPath(filter.path)) {
    return compileCondition({ scalar: ID_COLUMN, list: null, listTable: null }, { ...filter, value: idOperand(filter.op, filter.value) }, target);
  }
  if (!isColumnPath(filter.path)) throw new BackendError("unsupported", "sqlite", `sqlite cannot filter on the path '${filter.path}'`);
  return comparesInstants(filter)
    ? compileCondition(columnsOf(instantPath(filter.path), target), { ...filter, value: instantKeys(filter.value) }, target)
    : compileCondition(columnsOf(filter.path, target), filter, target);
}

/** Whether a filter goes through whole texts: its time is that of the texts, and one statement over many rows would take seconds. */
export function comparesTexts(filter: Filter): boolean {
  if ("and" in filter) return filter.and.some(comparesTexts);
  return "or" in filter ? filter.or.some(comparesTexts) : filter.op === "like" || filter.op === "text_match";
}

function columnsOf(path: string, { collection, paths }: FilterTarget): Columns {
  const has = (name: string): boolean => paths === null || paths.has(name);
  const lists = listPath(path);
  const isIndexed = paths?.has(listIndexPath(path)) === true;
  return { scalar: has(path) ? `f.${columnName(path)}` : "NULL", list: has(lists) ? `f.${columnName(lists)}` : null, listTable: isIndexed ? listTableName(collection, lists) : null };
}

/** Where the values of a path are. */
interface Columns {
  readonly scalar: string;
  /** `null` when no record has a list there. */
  readonly list: string | null;
  /** The table with the values of the lists; `null` when there is none. */
  readonly listTable: string | null;
}

function combine(word: "AND" | "OR", parts: readonly Sql[], empty: Sql): Sql {
  const [first] = parts;
  if (first === undefined) return empty;
  if (parts.length === 1) return first;
  return { sql: parts.map(({ sql }) => `(${sql})`).join(` ${word} `), params: parts.flatMap(({ params }) => params) };
}

function compileCondition(columns: Columns, condition: Condition, target: FilterTarget): Sql {
  const { op, value } = condition;
  const column = columns.scalar;
  switch (op) {
    case "eq":
      return isScalar(value) ? compare(column, "=", value) : NOTHING;
    case "ne":
      return isScalar(value) ? compare(column, "IS NOT", value) : EVERYTHING;
    case "in":
      return among(columns, toList(value));
    case "nin":
      return not(column, among(columns, toList(value)));
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return order(column, op, value);
    case "exists":
      return { sql: value === false ? `${column} IS NULL OR ${column} = ${NULL}` : `${column} IS NOT NULL AND ${column} <> ${NULL}`, params: [] };
    case "is_null":
      return { sql: `${column} ${value === false ? "IS NOT" : "="} ${NULL}`, params: [] };
    case "contains_any":
    case "contains_all":
      return contains(columns, op, toList(value));
    case "like":
      return typeof value === "string" ? like(column, value) : NOTHING;
    case "text_match":
      return typeof value === "string" ? textMatch(column, value, target) : NOTHING;
    default:
      return op satisfies never;
  }
}

function isScalar(value: Operand): value is Scalar {
  return value === null || typeof value !== "object";
}

/** Numbers and texts are parameters; the three constants are spelled out. */
function operand(value: Scalar): Sql {
  if (value === null) return { sql: NULL, params: [] };
  if (typeof value === "boolean") return { sql: value ? TRUE : FALSE, params: [] };
  return { sql: "?", params: [value] };
}

function compare(column: string, operator: string, value: Scalar): Sql {
  const right = operand(value);
  return { sql: `${column} ${operator} ${right.sql}`, params: right.params };
}

function not(column: string, { sql, params }: Sql): Sql {
  return { sql: `${column} IS NULL OR NOT (${sql})`, params };
}

const OPERATORS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/**
 * SQLite orders numbers before texts before blobs whatever their values, so each comparison is bounded to the
 * operand's own type; an index can serve both bounds.
 */
function order(column: string, op: keyof typeof OPERATORS, value: Operand): Sql {
  const operator = OPERATORS[op];
  const upwards = op === "gt" || op === "gte";
  if (typeof value === "number") return { sql: `${column} ${operator} ?${upwards ? ` AND ${column} < ''` : ""}`, params: [value] };
  if (typeof value === "string") return { sql: `${column} ${operator} ? AND ${column} ${upwards ? "< x''" : ">= ''"}`, params: [value] };
  return NOTHING;
}

function among({ scalar, ...lists }: Columns, values: readonly Scalar[]): Sql {
  if (values.length === 0) return NOTHING;
  const direct = scalarAmong(scalar, values);
  if (lists.list === null) return direct;
  const listed = listHas(lists, lists.list, values);
  return { sql: `${direct.sql} OR ${listed.sql}`, params: [...direct.params, ...listed.params] };
}

function scalarAmong(column: string, values: readonly Scalar[]): Sql {
  const plain = values.filter((value): value is string | number => typeof value === "string" || typeof value === "number");
  const constants = values.filter((value) => value === null || typeof value === "boolean").map((value) => operand(value).sql);
  if (plain.length <= MAX_PLACEHOLDERS) {
    return { sql: `${column} IN (${[...plain.map(() => "?"), ...constants].join(", ")})`, params: plain };
  }
  const fromJson = `${column} IN (SELECT value FROM json_each(?))`;
  const sql = constants.length === 0 ? fromJson : `(${fromJson} OR ${column} IN (${constants.join(", ")}))`;
  return { sql, params: [JSON.stringify(plain)] };
}

/** True when the list has one of the values in it. The operands are passed as JSON, so that types compare. */
function listHas({ listTable }: Pick<Columns, "listTable">, list: string, values: readonly Scalar[]): Sql {
  const params = [JSON.stringify(values)];
  if (listTable !== null) return { sql: `f."@row" IN (SELECT "@row" FROM ${listTable} WHERE "value" IN (SELECT ${listValue("o")} FROM json_each(?) o) AND ${turnSql('"@row"', false)})`, params };
  return { sql: `(${list} IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(${list}) e JOIN json_each(?) o ON ${sameJson("e", "o")}))`, params };
}

/** Two elements of json_each are the same JSON scalar; integers and reals are both numbers. */
function sameJson(a: string, b: string): string {
  return `${a}.type NOT IN ('array', 'object') AND replace(${a}.type, 'integer', 'real') = replace(${b}.type, 'integer', 'real') AND ${a}.value IS ${b}.value`;
}

function contains(columns: Columns, op: "contains_any" | "contains_all", values: readonly Scalar[]): Sql {
  const { list } = columns;
  const [first] = values;
  if (first === undefined || list === null) return NOTHING;
  if (op === "contains_any") return listHas(columns, list, values);
  const all: Sql = {
    sql: `${list} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM json_each(?) o WHERE NOT EXISTS (SELECT 1 FROM json_each(${list}) e WHERE ${sameJson("e", "o")}))`,
    params: [JSON.stringify(values)],
  };
  // The index finds the lists with the first value; the condition decides about them.
  return columns.listTable === null ? all : combine("AND", [listHas(columns, list, [first]), all], EVERYTHING);
}

/**
 * SQLite's LIKE folds ASCII only, so a match is always correct, and a mismatch is correct for ASCII text; what remains
 * (a text with other letters, a pattern with other letters) is decided by our function.
 */
function like(column: string, pattern: string): Sql {
  const problem = likeProblem(pattern);
  if (problem !== null) throw new BackendError("unsupported", "sqlite", problem);
  const isText = `typeof(${column}) = 'text'`;
  const ask = `${FUNCTIONS.like}(${column}, ?)`;
  if (Buffer.byteLength(pattern) > MAX_LIKE_BYTES || pattern.includes("\0")) return { sql: `${isText} AND ${ask}`, params: [pattern] };
  return {
    sql: `${isText} AND (${column} LIKE ? ESCAPE '\\' OR (${column} GLOB '*[^' || char(1) || '-~]*' AND ${ask}))`,
    params: [canonicalLike(pattern), pattern],
  };
}

/** The pattern with a backslash only where LIKE needs one: it rejects a single one at the end. */
function canonicalLike(pattern: string): string {
  return parseLike(pattern)
    .map((token) => (token === "any" ? "%" : token === "one" ? "_" : token.text.replace(/[\\%_]/g, "\\$&")))
    .join("");
}

/** The index finds the few records that have all the words anywhere; our function decides about the one field. */
function textMatch(column: string, text: string, { collection }: FilterTarget): Sql {
  const words = [...new Set(wordsOf(text))];
  if (words.length === 0) return NOTHING;
  const table = tableName(collection, "text");
  const ask: Sql = { sql: `typeof(${column}) = 'text' AND ${FUNCTIONS.words}(${column}, ?)`, params: [text] };
  // The index has the words of records, not of their ids.
  if (column === ID_COLUMN) return ask;
  return {
    sql: `f."@row" IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ? AND ${turnSql("rowid", false)}) AND ${ask.sql}`,
    params: [rarest(words).map((word) => `"${encodeWord(word)}"`).join(" AND "), ...ask.params],
  };
}

/** The longest words, which few records have. */
function rarest(words: readonly string[]): readonly string[] {
  return words.length <= MAX_INDEX_WORDS ? words : [...words].sort((a, b) => b.length - a.length).slice(0, MAX_INDEX_WORDS);
}
