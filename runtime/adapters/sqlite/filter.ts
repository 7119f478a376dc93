/**
 * Filters as SQL over a collection's columns. Pure; values go into parameters, paths into quoted names after they
 * were checked against the grammar of paths, so a caller's text never becomes SQL.
 * Selects exactly the rows for which `evaluate` of runtime/abi/filter.ts is true.
 */
import { BackendError } from "../../abi/errors.js";
import { comparesInstants, type Scalar } from "../../abi/filter.js";
import { keyOfCanonical } from "../../base/instant.js";
import { parseLike, likeProblem } from "../../base/like.js";
import { wordsOf } from "../../base/text.js";
import { type Given, isNumber, later, laterAll, place, type Slot } from "../hole.js";
import { operandOf, operandsOf, reduceFilter } from "../reduce.js";
import { isLongPattern, type Shape, type ShapeCondition } from "../shape.js";
import { listTableName, listValue } from "./indexes.js";
import { columnName, encodeWord, FALSE, instantPath, isColumnPath, listIndexPath, listPath, NULL, tableName, TRUE } from "./layout.js";

export type SqlValue = string | number;

/** A condition in SQL with its parameters, in the order of their question marks. */
export interface Sql {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

export interface FilterTarget {
  /** Name of the collection. */
  readonly name: string;
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
 * Maximum number of words in a query of the full-text index: SQLite parses a query in quadratic time.
 * text_match still compares all words, with our function; in a hybrid search the first ones of the text rank.
 */
export const MAX_INDEX_WORDS = 64;

const ID_COLUMN = `f."@id"`;

const NOTHING: Sql = { sql: "0", params: [] };
const EVERYTHING: Sql = { sql: "1", params: [] };

/** The WHERE condition of a filter over the alias `f`. @throws BackendError unsupported for a path that cannot be a column. */
export function compileFilter(filter: Shape, target: FilterTarget = { name: "collection", paths: null }): Sql {
  const reduced = reduceFilter(filter);
  if (typeof reduced === "string") return reduced === "all" ? EVERYTHING : NOTHING;
  return compileReduced(reduced, target);
}

function compileReduced(filter: Shape, target: FilterTarget): Sql {
  if ("and" in filter) return combine("AND", filter.and.map((part) => compileReduced(part, target)));
  if ("or" in filter) return combine("OR", filter.or.map((part) => compileReduced(part, target)));
  if (filter.path === "id") return compileCondition({ scalar: ID_COLUMN, list: null, listTable: null, hasInstants: false }, filter, target);
  if (!isColumnPath(filter.path)) throw new BackendError("unsupported", "sqlite", `sqlite cannot filter on the path '${filter.path}'`);
  const hasInstants = comparesInstants(filter);
  return compileCondition(columnsOf(hasInstants ? instantPath(filter.path) : filter.path, hasInstants, target), filter, target);
}

/** Whether a filter goes through whole texts: its time is that of the texts, and one statement over many rows would take seconds. */
export function comparesTexts(filter: Shape): boolean {
  if ("and" in filter) return filter.and.some(comparesTexts);
  return "or" in filter ? filter.or.some(comparesTexts) : filter.op === "like" || filter.op === "text_match";
}

function columnsOf(path: string, hasInstants: boolean, { name, paths }: FilterTarget): Columns {
  const has = (column: string): boolean => paths === null || paths.has(column);
  const lists = listPath(path);
  const isIndexed = paths?.has(listIndexPath(path)) === true;
  return { scalar: has(path) ? `f.${columnName(path)}` : "NULL", list: has(lists) ? `f.${columnName(lists)}` : null, listTable: isIndexed ? listTableName(name, lists) : null, hasInstants };
}

/** Where the values of a path are. */
interface Columns {
  readonly scalar: string;
  /** `null` when no record has a list there. */
  readonly list: string | null;
  /** The table with the values of the lists; `null` when there is none. */
  readonly listTable: string | null;
  /** The columns have keys of instants, not the texts that were loaded. */
  readonly hasInstants: boolean;
}

function combine(word: "AND" | "OR", parts: readonly Sql[]): Sql {
  return { sql: parts.map(({ sql }) => `(${sql})`).join(` ${word} `), params: parts.flatMap(({ params }) => params) };
}

/** @param condition As `reduceFilter` leaves it: its operand has the type that its operator takes. */
function compileCondition(columns: Columns, condition: ShapeCondition, target: FilterTarget): Sql {
  const { op } = condition;
  const column = columns.scalar;
  switch (op) {
    case "eq":
      return compare(columns, "=", operandOf(condition));
    case "ne":
      return compare(columns, "IS NOT", operandOf(condition));
    case "in":
      return among(columns, operandsOf(condition));
    case "nin":
      return not(column, among(columns, operandsOf(condition)));
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return order(columns, op, operandOf(condition));
    case "exists":
      return { sql: condition.value === false ? `${column} IS NULL OR ${column} = ${NULL}` : `${column} IS NOT NULL AND ${column} <> ${NULL}`, params: [] };
    case "is_null":
      return { sql: `${column} ${condition.value === false ? "IS NOT" : "="} ${NULL}`, params: [] };
    case "contains_any":
    case "contains_all":
      return contains(columns, op, operandsOf(condition));
    case "like":
      return like(column, operandOf(condition) as Given<string>);
    case "text_match":
      return textMatch(column, operandOf(condition) as Given<string>, target);
    default:
      return op satisfies never;
  }
}

/** Numbers and texts are parameters; these three are spelled out. */
function constantOf(value: Slot): string | null {
  if (value === null) return NULL;
  return typeof value === "boolean" ? (value ? TRUE : FALSE) : null;
}

/** A number or text as the column has it. */
function param({ hasInstants }: Columns, value: Slot): SqlValue {
  return hasInstants ? later(value, keyOf) : (value as SqlValue);
}

function jsonParam({ hasInstants }: Columns, values: readonly Slot[]): SqlValue {
  return laterAll(values, (all) => JSON.stringify(hasInstants ? all.map(keyOf) : all));
}

function keyOf(canonical: Scalar): string {
  return keyOfCanonical(String(canonical));
}

function compare(columns: Columns, operator: string, value: Slot): Sql {
  const constant = constantOf(value);
  return { sql: `${columns.scalar} ${operator} ${constant ?? "?"}`, params: constant === null ? [param(columns, value)] : [] };
}

function not(column: string, { sql, params }: Sql): Sql {
  return { sql: `${column} IS NULL OR NOT (${sql})`, params };
}

const OPERATORS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/**
 * SQLite orders numbers before texts before blobs whatever their values, so each comparison is bounded to the
 * operand's own type; an index can serve both bounds.
 */
function order(columns: Columns, op: keyof typeof OPERATORS, value: Slot): Sql {
  const { scalar } = columns;
  const compared = `${scalar} ${OPERATORS[op]} ?`;
  const upwards = op === "gt" || op === "gte";
  const bound = isNumber(value) ? (upwards ? `${scalar} < ''` : null) : `${scalar} ${upwards ? "< x''" : ">= ''"}`;
  return { sql: bound === null ? compared : `${compared} AND ${bound}`, params: [param(columns, value)] };
}

function among(columns: Columns, values: readonly Slot[]): Sql {
  const direct = scalarAmong(columns, values);
  if (columns.list === null) return direct;
  const listed = listHas(columns, columns.list, values);
  return { sql: `${direct.sql} OR ${listed.sql}`, params: [...direct.params, ...listed.params] };
}

function scalarAmong(columns: Columns, values: readonly Slot[]): Sql {
  const column = columns.scalar;
  const constants = values.map(constantOf).filter((one) => one !== null);
  const plain = values.filter((value) => constantOf(value) === null);
  if (plain.length <= MAX_PLACEHOLDERS) {
    return { sql: `${column} IN (${[...plain.map(() => "?"), ...constants].join(", ")})`, params: plain.map((value) => param(columns, value)) };
  }
  const fromJson = `${column} IN (SELECT value FROM json_each(?))`;
  const sql = constants.length === 0 ? fromJson : `(${fromJson} OR ${column} IN (${constants.join(", ")}))`;
  return { sql, params: [jsonParam(columns, plain)] };
}

/** True when the list has one of the values in it. The operands are passed as JSON, so that types compare. */
function listHas(columns: Columns, list: string, values: readonly Slot[]): Sql {
  const { listTable } = columns;
  const params = [jsonParam(columns, values)];
  if (listTable !== null) return { sql: `f."@row" IN (SELECT "@row" FROM ${listTable} WHERE "value" IN (SELECT ${listValue("o")} FROM json_each(?) o) AND ${turnSql('"@row"', false)})`, params };
  return { sql: `(${list} IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(${list}) e JOIN json_each(?) o ON ${sameJson("e", "o")}))`, params };
}

/** Two elements of json_each are the same JSON scalar; integers and reals are both numbers. */
function sameJson(a: string, b: string): string {
  return `${a}.type NOT IN ('array', 'object') AND replace(${a}.type, 'integer', 'real') = replace(${b}.type, 'integer', 'real') AND ${a}.value IS ${b}.value`;
}

function contains(columns: Columns, op: "contains_any" | "contains_all", values: readonly Slot[]): Sql {
  const { list } = columns;
  const [first] = values;
  if (first === undefined || list === null) return NOTHING;
  if (op === "contains_any") return listHas(columns, list, values);
  const all: Sql = {
    sql: `${list} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM json_each(?) o WHERE NOT EXISTS (SELECT 1 FROM json_each(${list}) e WHERE ${sameJson("e", "o")}))`,
    params: [jsonParam(columns, values)],
  };
  // The index finds the lists with the first value; the condition decides about them.
  return columns.listTable === null ? all : combine("AND", [listHas(columns, list, [first]), all]);
}

/**
 * SQLite's LIKE folds ASCII only, so a match is always correct, and a mismatch is correct for ASCII text; what remains
 * (a text with other letters, a pattern with other letters) is decided by our function. A long pattern, which is never a
 * hole, is passed to our function alone: the time of LIKE grows with the product of pattern and value.
 */
function like(column: string, pattern: Given<string>): Sql {
  const checked = later(pattern, checkedLike);
  const isText = `typeof(${column}) = 'text'`;
  const ask = `${FUNCTIONS.like}(${column}, ?)`;
  if (typeof pattern === "string" && (isLongPattern(pattern) || pattern.includes("\0"))) return { sql: `${isText} AND ${ask}`, params: [checked] };
  return {
    sql: `${isText} AND (${column} LIKE ? ESCAPE '\\' OR (${column} GLOB '*[^' || char(1) || '-~]*' AND ${ask}))`,
    params: [later(pattern, canonicalLike), checked],
  };
}

function checkedLike(pattern: string): string {
  const problem = likeProblem(pattern);
  if (problem !== null) throw new BackendError("unsupported", "sqlite", problem);
  return pattern;
}

/** The pattern with a backslash only where LIKE needs one: it rejects a single one at the end. */
function canonicalLike(pattern: string): string {
  return parseLike(pattern)
    .map((token) => (token === "any" ? "%" : token === "one" ? "_" : token.text.replace(/[\\%_]/g, "\\$&")))
    .join("");
}

/** The index finds the few records that have all the words anywhere; our function decides about the one field. */
function textMatch(column: string, text: Given<string>, { name }: FilterTarget): Sql {
  const table = tableName(name, "text");
  const ask: Sql = { sql: `typeof(${column}) = 'text' AND ${FUNCTIONS.words}(${column}, ?)`, params: [place(text)] };
  // The index has the words of records, not of their ids.
  if (column === ID_COLUMN) return ask;
  return {
    sql: `f."@row" IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ? AND ${turnSql("rowid", false)}) AND ${ask.sql}`,
    params: [later(text, matchAll), ...ask.params],
  };
}

function matchAll(text: string): string {
  return rarest([...new Set(wordsOf(text))]).map((word) => `"${encodeWord(word)}"`).join(" AND ");
}

/** The longest words, which few records have. */
function rarest(words: readonly string[]): readonly string[] {
  return words.length <= MAX_INDEX_WORDS ? words : [...words].sort((a, b) => b.length - a.length).slice(0, MAX_INDEX_WORDS);
}
