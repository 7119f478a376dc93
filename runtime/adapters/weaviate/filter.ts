/**
 * Filters as the values that Weaviate's client builds: {operator, target, value}, joined by And and Or. Pure.
 * Properties are flat names of declared types, and a comparison with a value of another type is an error to the server,
 * so it is decided here. Texts are compared without the spaces around them; `like` has no escape for its own wildcards,
 * so a pattern that needs one is refused.
 */
import { comparesInstants } from "../../abi/filter.js";
import { parseLike } from "../../base/like.js";
import { wordsOf } from "../../base/text.js";
import { Hole, isNumber, isText, isUuid, later, place, type Slot, typeOf } from "../hole.js";
import { flatPath, operandOf, operandsOf, reduceFilter, refuse, type Compiled } from "../reduce.js";
import { hasSpaceAround, type Shape, type ShapeCondition } from "../shape.js";
import type { Properties, Property } from "./properties.js";

type Value = string | number | boolean;
type Operand = Value | Hole;

export type WeaviateFilter =
  | { readonly operator: "And" | "Or" | "Not"; readonly filters: readonly WeaviateFilter[]; readonly value: null }
  | {
      readonly operator: "Equal" | "NotEqual" | "GreaterThan" | "GreaterThanEqual" | "LessThan" | "LessThanEqual" | "Like" | "ContainsAny" | "ContainsAll";
      readonly target: { readonly property: string };
      readonly value: Value | readonly Value[];
      /** The property is a date: the value is RFC 3339, and the server compares instants. */
      readonly valueType?: "date";
    };

type Native = Compiled<WeaviateFilter>;
type Comparison = Exclude<WeaviateFilter["operator"], "And" | "Or" | "Not">;

/**
 * @param properties Those of the collection; null: values are taken to have the types of the operands.
 * @throws BackendError unsupported for nested paths, nulls, exists, is_null, and patterns with a literal * or ?.
 */
export function compileFilter(filter: Shape, properties: Properties = null): Native {
  const reduced = reduceFilter(filter);
  return typeof reduced === "string" ? reduced : compile(reduced, properties);
}

function compile(filter: Shape, properties: Properties): Native {
  if ("and" in filter) return join("And", filter.and.map((part) => compile(part, properties)));
  if ("or" in filter) return join("Or", filter.or.map((part) => compile(part, properties)));
  return compileCondition(filter, properties);
}

function join(operator: "And" | "Or", parts: readonly Native[]): Native {
  const decisive = operator === "And" ? "none" : "all";
  if (parts.includes(decisive)) return decisive;
  const filters = parts.filter((part): part is WeaviateFilter => typeof part !== "string");
  const [only] = filters;
  if (only === undefined) return operator === "And" ? "all" : "none";
  return filters.length === 1 ? only : { operator, filters, value: null };
}

const OPERATORS = { eq: "Equal", ne: "NotEqual", gt: "GreaterThan", gte: "GreaterThanEqual", lt: "LessThan", lte: "LessThanEqual" } as const;

function compileCondition(condition: ShapeCondition, properties: Properties): Native {
  const path = flatPath("weaviate", condition);
  const { op } = condition;
  if (path === "id") return compileId(condition);
  const property = properties === null ? null : properties.get(path) ?? "absent";
  const test = (operator: Comparison, value: Operand | readonly Operand[]): WeaviateFilter => ({
    operator, target: { property: path }, value: value as Value | readonly Value[], ...(comparesInstants(condition) ? { valueType: "date" as const } : {}),
  });
  if (property === "absent") {
    operandsOf(condition).forEach(given);
    return op === "ne" || op === "nin" ? "all" : op === "exists" || op === "is_null" ? refuse("weaviate", `the operator ${op}`) : "none";
  }
  switch (op) {
    case "eq":
    case "ne":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return compare(condition, property, op, given(operandOf(condition)), test);
    case "in":
      return property?.kind === "list" ? contains("ContainsAny", condition, property, test) : join("Or", operandsOf(condition).map((value) => compare(condition, property, "eq", given(value), test)));
    case "nin":
      return property?.kind === "list" ? not(contains("ContainsAny", condition, property, test)) : join("And", operandsOf(condition).map((value) => compare(condition, property, "ne", given(value), test)));
    case "contains_any":
      return contains("ContainsAny", condition, property, test);
    case "contains_all":
      return contains("ContainsAll", condition, property, test);
    case "like":
      return property === null || property.kind === "text" ? test("Like", later(operandOf(condition), (text) => pattern(String(text)))) : property.kind === "words" ? tokenized(path) : "none";
    case "text_match":
      return property === null || property.kind === "text" || property.kind === "words" ? join("And", searchWords(operandOf(condition)).map((word) => test("Like", word))) : "none";
    case "exists":
    case "is_null":
      return refuse("weaviate", `the operator ${op}`);
    default:
      return op satisfies never;
  }
}

type Test = (operator: Comparison, value: Operand | readonly Operand[]) => WeaviateFilter;

/** A comparison of a value with the property's own type; every other value differs from it. */
function compare(condition: ShapeCondition, property: Property | null, op: keyof typeof OPERATORS, value: Operand, test: Test): Native {
  const otherwise = op === "ne" ? "all" : "none";
  const isOrder = op !== "eq" && op !== "ne";
  if (property === null) return test(OPERATORS[op], comparesInstants(condition) ? value : comparable(value));
  if (comparesInstants(condition) !== (property.kind === "date")) return refuse("weaviate", property.kind === "date" ? `comparisons of the date '${condition.path}' as a text; give the parameter dtype datetime` : `dtype datetime on '${condition.path}', which is no date`);
  switch (property.kind) {
    case "words":
      return tokenized(condition.path);
    case "text":
      return isText(value) ? test(OPERATORS[op], comparable(value)) : otherwise;
    case "date":
      return isText(value) ? test(OPERATORS[op], value) : otherwise;
    case "boolean":
      return typeof value === "boolean" && !isOrder ? test(OPERATORS[op], value) : otherwise;
    case "float":
      return isNumber(value) ? test(OPERATORS[op], comparable(value)) : otherwise;
    case "integer":
      return isNumber(value) ? compareWhole(op, value, test) : otherwise;
    case "list":
      return otherwise;
    case "other":
      return refuse("weaviate", `comparisons of '${condition.path}'`);
    default:
      return property.kind satisfies never;
  }
}

/** A number with a fraction lies between two whole ones. */
function compareWhole(op: keyof typeof OPERATORS, value: number | Hole, test: Test): Native {
  if (value instanceof Hole ? value.kind === "integer" : Number.isInteger(value)) return test(OPERATORS[op], comparable(value));
  if (op === "eq" || op === "ne") return op === "ne" ? "all" : "none";
  return op === "gt" || op === "gte" ? test("GreaterThanEqual", later(value, (one) => writable(Math.ceil(one)))) : test("LessThanEqual", later(value, (one) => writable(Math.floor(one))));
}

function contains(operator: "ContainsAny" | "ContainsAll", condition: ShapeCondition, property: Property | null, test: Test): Native {
  const operands = operandsOf(condition).map(given);
  if (property === null) return test(operator, comparesInstants(condition) ? operands : operands.map(comparable));
  if (property.kind !== "list") return "none";
  if (property.element === null) return refuse("weaviate", `comparisons of '${condition.path}'`);
  const able = operands.filter((value) => typeOf(value) === property.element).map(comparable);
  return able.length === 0 || (operator === "ContainsAll" && able.length < operands.length) ? "none" : test(operator, able);
}

function not(filter: Native): Native {
  return typeof filter !== "string" ? { operator: "Not", filters: [filter], value: null } : filter === "none" ? "all" : "none";
}

/** Record ids are UUIDs; other texts are the id of nothing. */
function compileId(condition: ShapeCondition): Native {
  const ids = operandsOf(condition).filter(isUuid).map((id) => place(id));
  const test = (operator: "Equal" | "NotEqual", value: string): WeaviateFilter => ({ operator, target: { property: "_id" }, value });
  switch (condition.op) {
    case "eq":
    case "in":
      return ids.length > 1 ? { operator: "ContainsAny", target: { property: "_id" }, value: ids } : join("Or", ids.map((id) => test("Equal", id)));
    case "ne":
    case "nin":
      return join("And", ids.map((id) => test("NotEqual", id)));
    default:
      return refuse("weaviate", `the operator ${condition.op} on record ids`);
  }
}

function given(value: Slot): Operand {
  return value === null ? refuse("weaviate", "comparisons with null") : value;
}

function tokenized(path: string): never {
  return refuse("weaviate", `comparisons of '${path}', whose index cuts texts into words; give the property tokenization: field`);
}

/** A text as the server compares it: it drops the spaces around it, and has no half of a surrogate pair. */
function whole(text: string): string {
  if (hasSpaceAround(text)) return refuse("weaviate", "comparisons with a text that has spaces around it");
  return /\p{Surrogate}/u.test(text) ? refuse("weaviate", "texts with half a surrogate pair") : text;
}

function comparable(value: Operand): Operand {
  return typeof value === "string" ? whole(value) : typeof value === "number" ? writable(value) : value;
}

/** The client writes whole numbers in 64 bits. */
function writable(value: number): number {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? refuse("weaviate", "whole numbers beyond 53 bits") : value;
}

/** Words of one text_match: each is a condition of its own for the server. */
const MAX_WORDS = 256;

function searchWords(text: Slot): readonly string[] {
  const count = text instanceof Hole ? text.words : distinctWords(String(text)).length;
  if (count > MAX_WORDS) return refuse("weaviate", `text_match with more than ${MAX_WORDS} different words`);
  return Array.from({ length: count }, (_, index) => later(text, (one) => `*${distinctWords(String(one))[index] ?? ""}*`));
}

function distinctWords(text: string): readonly string[] {
  return [...new Set(wordsOf(text))];
}

/** `%` and `_` are `*` and `?` there, and those two cannot be written as themselves. */
function pattern(text: string): string {
  const parts = parseLike(text).map((token) => (token === "any" ? "*" : token === "one" ? "?" : token.text));
  const literal = parseLike(text).some((token) => typeof token !== "string" && /[*?]/.test(token.text));
  return literal ? refuse("weaviate", "a literal * or ? in a pattern") : parts.join("");
}
