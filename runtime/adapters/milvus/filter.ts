/**
 * Filters as Milvus boolean expressions. Pure. Expressions are text, so every literal is escaped here: quotes,
 * backslashes and line ends; names were checked against the grammar of paths, so none can be anything else. A missing
 * value is unknown to Milvus and makes a comparison unknown, so `ne` and `nin` also ask whether the value exists.
 * `like` is case-sensitive there, and its wildcards cannot be escaped.
 */
import type { Scalar } from "../../abi/filter.js";
import { parseLike } from "../../base/like.js";
import { Hole, isNumber, isText, later, laterAll, type Slot, typeOf } from "../hole.js";
import { operandOf, operandsOf, reduceFilter, refuse, refuseInstants, type Compiled } from "../reduce.js";
import type { Shape, ShapeCondition } from "../shape.js";
import { ASSUMED, type Field, fieldOf, type Fields } from "./fields.js";

/** @throws BackendError unsupported for nulls, exists, is_null, text_match, and patterns with a literal % or _. */
export function compileFilter(filter: Shape, fields: Fields = ASSUMED): Compiled<string> {
  const reduced = reduceFilter(filter);
  const compiled = typeof reduced === "string" ? reduced : compile(reduced, fields);
  return typeof compiled === "string" ? compiled : laterAll(compiled.parts, (parts) => parts.join(""));
}

/** An expression in pieces: texts, and literals of values that only a call has. */
interface Expression {
  readonly parts: readonly string[];
}

/** Text of our own, with expressions and literals in it. */
function text(own: TemplateStringsArray, ...within: readonly (string | Expression)[]): Expression {
  return { parts: own.flatMap((piece, index) => [piece, ...partsOf(within[index])]) };
}

function partsOf(one: string | Expression | undefined): readonly string[] {
  if (one === undefined) return [];
  return typeof one === "object" && "parts" in one ? one.parts : [one];
}

function separated(all: readonly Expression[], separator: string): Expression {
  return { parts: all.flatMap(({ parts }, index) => (index === 0 ? parts : [separator, ...parts])) };
}

function compile(filter: Shape, fields: Fields): Compiled<Expression> {
  if ("and" in filter) return join("and", filter.and.map((part) => compile(part, fields)));
  if ("or" in filter) return join("or", filter.or.map((part) => compile(part, fields)));
  return compileCondition(filter, fields);
}

const isExpression = (part: Compiled<Expression>): part is Expression => typeof part !== "string";

/**
 * The parts as one expression, without those that cannot matter. Long ones are a tree: the server parses expressions
 * by recursion, and a plan may be about a hundred levels deep.
 */
function join(word: "and" | "or", parts: readonly Compiled<Expression>[]): Compiled<Expression> {
  const decisive = word === "and" ? "none" : "all";
  if (parts.includes(decisive)) return decisive;
  const rest = parts.filter(isExpression);
  const [only] = rest;
  if (only === undefined) return word === "and" ? "all" : "none";
  if (rest.length === 1) return only;
  if (rest.length <= 8) return separated(rest.map((part) => text`(${part})`), ` ${word} `);
  const half = rest.length >> 1;
  const [left, right] = [join(word, rest.slice(0, half)), join(word, rest.slice(half))];
  return text`(${left}) ${word} (${right})`;
}

const OPERATORS = { eq: "==", ne: "!=", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

function compileCondition(condition: ShapeCondition, fields: Fields): Compiled<Expression> {
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
      return field.kind === "text" || field.kind === "any" || field.kind === "assumed" ? text`${later(operandOf(condition), (value) => matches(field.name, String(value)))}` : "none";
    case "exists":
    case "is_null":
    case "text_match":
      return refuse("milvus", `the operator ${op}`);
    default:
      return op satisfies never;
  }
}

/** Ids are texts to a filter. Whole numbers are written as they are: some have more digits than a number of JavaScript. */
function compileNumberedId(name: string, condition: ShapeCondition): Compiled<Expression> {
  const ids = laterAll(operandsOf(condition).filter(isWholeNumber), (all) => all.join(", "));
  switch (condition.op) {
    case "eq":
    case "in":
      return ids === "" ? "none" : text`${name} in [${ids}]`;
    case "ne":
    case "nin":
      return ids === "" ? "all" : text`${name} not in [${ids}]`;
    default:
      return refuse("milvus", `the operator ${condition.op} on record ids`);
  }
}

function isWholeNumber(id: Slot): boolean {
  return id instanceof Hole ? id.kind === "digits" : typeof id === "string" && /^-?\d{1,19}$/.test(id) && String(BigInt(id)) === id;
}

/** Values of another type than the field's are not equal to it, and Milvus refuses to compare them. */
function compare(field: Field, op: keyof typeof OPERATORS, value: Slot): Compiled<Expression> {
  const written = literal(value);
  return fits(field, value) ? text`${field.name} ${OPERATORS[op]} ${written}` : op === "ne" ? "all" : "none";
}

function fits({ kind }: Field, value: Slot): boolean {
  switch (kind) {
    case "text":
      return isText(value);
    case "integer":
    case "float":
      return isNumber(value);
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
function among(field: Field, operands: readonly Slot[]): Compiled<Expression> {
  operands.forEach(literal);
  switch (field.kind) {
    case "list":
      return contains("any", field, operands);
    case "any":
      return join("or", [...operands.map((value) => compare(field, "eq", value)), contains("any", field, operands)]);
    default: {
      const able = operands.filter((value) => fits(field, value));
      return able.length === 0 ? "none" : text`${field.name} in ${list(able)}`;
    }
  }
}

function notAmong(field: Field, operands: readonly Slot[]): Compiled<Expression> {
  const inside = among(field, operands);
  if (!isExpression(inside)) return inside === "none" ? "all" : "none";
  return field.kind === "any" || field.kind === "list" ? text`not (${inside})` : text`${field.name} not in ${list(operands.filter((value) => fits(field, value)))}`;
}

/** The elements of a list have one type in an expression. */
function contains(which: "any" | "all", field: Field, operands: readonly Slot[]): Compiled<Expression> {
  operands.forEach(literal);
  if (field.kind !== "list" && field.kind !== "any" && field.kind !== "assumed") return "none";
  // A field that is named like a word of the language is written another way, which this function does not take.
  if (field.name.startsWith("$meta[")) return refuse("milvus", `a comparison with lists of the field ${field.name.slice("$meta[".length, -1)}, which is a word of its filter language`);
  const groups = (["string", "number", "boolean"] as const).map((type) => operands.filter((value) => typeOf(value) === type)).filter((group) => group.length > 0);
  return join(which === "any" ? "or" : "and", groups.map((group) => text`ARRAY_CONTAINS_${which === "any" ? "ANY" : "ALL"}(${field.name}, ${list(group)})`));
}

/** An expression, or no value at all: what is missing differs from everything. */
function orMissing({ name, missing }: Field, expression: Compiled<Expression>): Compiled<Expression> {
  if (!isExpression(expression) || missing === "never") return expression;
  return text`(${expression}) or (${missing === "null" ? `${name} is null` : `not exists ${name}`})`;
}

function list(values: readonly Slot[]): Expression {
  return text`[${separated(values.map((value) => text`${literal(value)}`), ", ")}]`;
}

/** Beyond this, a whole number is written as one with a fraction: Milvus has 64 bits for whole ones. */
const MAX_WHOLE = 2 ** 63;

/** A value as expressions have it; of a hole in each call, by the same code. */
function literal(value: Slot): string {
  return later(value, literalOf);
}

function literalOf(value: Scalar): string {
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

/**
 * A pattern without wildcards is compared, because servers take the empty pattern for one that everything matches.
 * Before 2.4 they know no pattern but `text%` and refuse the others, save those with `_`, which they silently take for
 * the character itself: beside these is a pattern that adds nothing and is refused there.
 */
function matches(name: string, like: string): string {
  const tokens = parseLike(like);
  if (tokens.some((token) => typeof token !== "string" && /[%_]/.test(token.text))) return refuse("milvus", "a literal % or _ in a pattern");
  const pattern = literalOf(tokens.map((token) => (token === "any" ? "%" : token === "one" ? "_" : token.text)).join(""));
  if (tokens.every((token) => typeof token !== "string")) return `${name} == ${pattern}`;
  return tokens.includes("one") ? `(${name} like ${pattern}) and (${name} like '%_')` : `${name} like ${pattern}`;
}
