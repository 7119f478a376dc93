/**
 * Filters as Milvus boolean expressions. Pure. Expressions are text, so every literal is escaped here: quotes,
 * backslashes and line ends; names were checked against the grammar of paths, so none can be anything else. A missing
 * value is unknown to Milvus and makes a comparison unknown, so `ne` and `nin` also ask whether the value exists.
 * `like` is case-sensitive there, and its wildcards cannot be escaped.
 */
import type { Condition, Filter, Scalar } from "../../abi/filter.js";
import { parseLike } from "../../base/like.js";
import { operandOf, operandsOf, reduceFilter, refuse, refuseInstants, type Compiled } from "../reduce.js";
import { ASSUMED, type Field, fieldOf, type Fields } from "./fields.js";

/** @throws BackendError unsupported for nulls, exists, is_null, text_match, and patterns with a literal % or _. */
export function compileFilter(filter: Filter, fields: Fields = ASSUMED): Compiled<string> {
  const reduced = reduceFilter(filter);
  return typeof reduced === "string" ? reduced : compile(reduced, fields);
}

function compile(filter: Filter, fields: Fields): Compiled<string> {
  if ("and" in filter) return join("and", filter.and.map((part) => compile(part, fields)));
  if ("or" in filter) return join("or", filter.or.map((part) => compile(part, fields)));
  return compileCondition(filter, fields);
}

const isText = (part: Compiled<string>): part is string => part !== "all" && part !== "none";

/**
 * The parts as one expression, without those that cannot matter. Long ones are a tree: the server parses expressions
 * by recursion, and a plan may be about a hundred levels deep.
 */
function join(word: "and" | "or", parts: readonly Compiled<string>[]): Compiled<string> {
  const decisive = word === "and" ? "none" : "all";
  if (parts.includes(decisive)) return decisive;
  const rest = parts.filter(isText);
  const [only] = rest;
  if (only === undefined) return word === "and" ? "all" : "none";
  if (rest.length === 1) return only;
  if (rest.length <= 8) return rest.map((part) => `(${part})`).join(` ${word} `);
  const half = rest.length >> 1;
  return `(${join(word, rest.slice(0, half))}) ${word} (${join(word, rest.slice(half))})`;
}

const OPERATORS = { eq: "==", ne: "!=", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

function compileCondition(condition: Condition, fields: Fields): Compiled<string> {
  refuseInstants("milvus", condition);
  const { op } = condition;
  const field = fieldOf(condition.path, fields);
  if (condition.path === "id" && field.kind === "integer") return compileNumberedId(field.name, condition);
  switch (op) {
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return compare(field, op, operandOf(condition));
    case "ne":
      return orMissing(field, compare(field, op, operandOf(condition)));
    case "in":
      return among(field, operandsOf(condition));
    case "nin":
      return orMissing(field, notAmong(field, operandsOf(condition)));
    case "contains_any":
      return contains("any", field, operandsOf(condition));
    case "contains_all":
      return contains("all", field, operandsOf(condition));
    case "like":
      return field.kind === "text" || field.kind === "any" || field.kind === "assumed" ? `${field.name} like ${literal(pattern(String(condition.value)))}` : "none";
    case "exists":
    case "is_null":
    case "text_match":
      return refuse("milvus", `the operator ${op}`);
    default:
      return op satisfies never;
  }
}

/** Ids are texts to a filter. Whole numbers are written as they are: some have more digits than a number of JavaScript. */
function compileNumberedId(name: string, condition: Condition): Compiled<string> {
  const ids = operandsOf(condition).filter((id): id is string => typeof id === "string" && /^-?\d{1,19}$/.test(id) && String(BigInt(id)) === id);
  switch (condition.op) {
    case "eq":
    case "in":
      return ids.length === 0 ? "none" : `${name} in [${ids.join(", ")}]`;
    case "ne":
    case "nin":
      return ids.length === 0 ? "all" : `${name} not in [${ids.join(", ")}]`;
    default:
      return refuse("milvus", `the operator ${condition.op} on record ids`);
  }
}

/** Values of another type than the field's are not equal to it, and Milvus refuses to compare them. */
function compare(field: Field, op: keyof typeof OPERATORS, value: Scalar): Compiled<string> {
  const written = literal(value);
  return fits(field, value) ? `${field.name} ${OPERATORS[op]} ${written}` : op === "ne" ? "all" : "none";
}

function fits({ kind }: Field, value: Scalar): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "integer":
    case "float":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "list":
      return false;
    case "any":
    case "assumed":
      return true;
    default:
      return kind satisfies never;
  }
}

/** A value that is one of the operands, or a list with one of them in it. */
function among(field: Field, operands: readonly Scalar[]): Compiled<string> {
  operands.forEach(literal);
  switch (field.kind) {
    case "list":
      return contains("any", field, operands);
    case "any":
      return join("or", [...operands.map((value) => compare(field, "eq", value)), contains("any", field, operands)]);
    default: {
      const able = operands.filter((value) => fits(field, value));
      return able.length === 0 ? "none" : `${field.name} in ${list(able)}`;
    }
  }
}

function notAmong(field: Field, operands: readonly Scalar[]): Compiled<string> {
  const inside = among(field, operands);
  if (!isText(inside)) return inside === "none" ? "all" : "none";
  return field.kind === "any" || field.kind === "list" ? `not (${inside})` : `${field.name} not in ${list(operands.filter((value) => fits(field, value)))}`;
}

/** The elements of a list have one type in an expression. */
function contains(which: "any" | "all", field: Field, operands: readonly Scalar[]): Compiled<string> {
  operands.forEach(literal);
  if (field.kind !== "list" && field.kind !== "any" && field.kind !== "assumed") return "none";
  const groups = (["string", "number", "boolean"] as const).map((type) => operands.filter((value) => typeof value === type)).filter((group) => group.length > 0);
  return join(which === "any" ? "or" : "and", groups.map((group) => `ARRAY_CONTAINS_${which === "any" ? "ANY" : "ALL"}(${field.name}, ${list(group)})`));
}

/** An expression, or no value at all: what is missing differs from everything. */
function orMissing({ name, missing }: Field, expression: Compiled<string>): Compiled<string> {
  if (!isText(expression) || missing === "never") return expression;
  return `(${expression}) or (${missing === "null" ? `${name} is null` : `not exists ${name}`})`;
}

function list(values: readonly Scalar[]): string {
  return `[${values.map(literal).join(", ")}]`;
}

/** Beyond this, a whole number is written as one with a fraction: Milvus has 64 bits for whole ones. */
const MAX_WHOLE = 2 ** 63;

function literal(value: Scalar): string {
  if (value === null) return refuse("milvus", "comparisons with null");
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return Math.abs(value) >= MAX_WHOLE ? value.toExponential() : String(value);
  if (/\p{Surrogate}/u.test(value)) return refuse("milvus", "texts with half a surrogate pair");
  return `'${escape(value)}'`;
}

const ESCAPES: { readonly [char: string]: string } = { "\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** What ends a literal or a line. Other control characters are themselves: not every engine knows escapes for them. */
function escape(text: string): string {
  return text.replace(/[\\'\n\r\t]/g, (char) => ESCAPES[char] ?? char);
}

function pattern(text: string): string {
  const tokens = parseLike(text);
  if (tokens.some((token) => typeof token !== "string" && /[%_]/.test(token.text))) return refuse("milvus", "a literal % or _ in a pattern");
  return tokens.map((token) => (token === "any" ? "%" : token === "one" ? "_" : token.text)).join("");
}
