/**
 * Filters as the values that Weaviate's client builds: {operator, target, value}, joined by And and Or. Pure.
 * Properties are flat names; `like` has no escape for its own wildcards, so a pattern that needs one is refused.
 */
import { comparesInstants, type Condition, type Filter, type Scalar } from "../../abi/filter.js";
import { parseLike } from "../../base/like.js";
import { wordsOf } from "../../base/text.js";
import { flatPath, operandOf, operandsOf, reduceFilter, refuse, type Compiled } from "../reduce.js";

export type WeaviateFilter =
  | { readonly operator: "And" | "Or"; readonly filters: readonly WeaviateFilter[]; readonly value: null }
  | {
      readonly operator: "Equal" | "NotEqual" | "GreaterThan" | "GreaterThanEqual" | "LessThan" | "LessThanEqual" | "Like" | "ContainsAny" | "ContainsAll";
      readonly target: { readonly property: string };
      readonly value: string | number | boolean | readonly (string | number | boolean)[];
      /** The property is a date: the value is RFC 3339, and the server compares instants. */
      readonly valueType?: "date";
    };

type Comparison = Exclude<WeaviateFilter["operator"], "And" | "Or">;

/** @throws BackendError unsupported for nested paths, nulls, exists, is_null, and patterns with a literal * or ?. */
export function compileFilter(filter: Filter): Compiled<WeaviateFilter> {
  const reduced = reduceFilter(filter);
  return typeof reduced === "string" ? reduced : compile(reduced);
}

function compile(filter: Filter): WeaviateFilter {
  if ("and" in filter) return join("And", filter.and.map(compile));
  if ("or" in filter) return join("Or", filter.or.map(compile));
  return compileCondition(filter);
}

function join(operator: "And" | "Or", filters: readonly WeaviateFilter[]): WeaviateFilter {
  const [only] = filters;
  return filters.length === 1 && only !== undefined ? only : { operator, filters, value: null };
}

const OPERATORS = { eq: "Equal", ne: "NotEqual", gt: "GreaterThan", gte: "GreaterThanEqual", lt: "LessThan", lte: "LessThanEqual" } as const;

function compileCondition(condition: Condition): WeaviateFilter {
  const path = flatPath("weaviate", condition);
  const property = path === "id" ? "_id" : path;
  const { op } = condition;
  const test = (operator: Comparison, value: string | number | boolean | readonly (string | number | boolean)[]): WeaviateFilter => ({
    operator, target: { property }, value, ...(comparesInstants(condition) ? { valueType: "date" as const } : {}),
  });
  switch (op) {
    case "eq":
    case "ne":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      if (path === "id" && op !== "eq" && op !== "ne") return refuse("weaviate", `the operator ${op} on record ids`);
      return test(OPERATORS[op], given(operandOf(condition)));
    case "in":
      return join("Or", operandsOf(condition).map((value) => test("Equal", given(value))));
    case "nin":
      return join("And", operandsOf(condition).map((value) => test("NotEqual", given(value))));
    case "contains_any":
      return test("ContainsAny", operandsOf(condition).map(given));
    case "contains_all":
      return test("ContainsAll", operandsOf(condition).map(given));
    case "like":
      return test("Like", pattern(String(condition.value)));
    case "text_match":
      return join("And", searchWords(String(condition.value)).map((word) => test("Like", `*${word}*`)));
    case "exists":
    case "is_null":
      return refuse("weaviate", `the operator ${op}`);
    default:
      return op satisfies never;
  }
}

function given(value: Scalar): string | number | boolean {
  return value === null ? refuse("weaviate", "comparisons with null") : value;
}

/** Words of one text_match: each is a condition of its own for the server. */
const MAX_WORDS = 256;

function searchWords(text: string): readonly string[] {
  const words = [...new Set(wordsOf(text))];
  return words.length > MAX_WORDS ? refuse("weaviate", `text_match with more than ${MAX_WORDS} different words`) : words;
}

/** `%` and `_` are `*` and `?` there, and those two cannot be written as themselves. */
function pattern(text: string): string {
  const parts = parseLike(text).map((token) => (token === "any" ? "*" : token === "one" ? "?" : token.text));
  const literal = parseLike(text).some((token) => typeof token !== "string" && /[*?]/.test(token.text));
  return literal ? refuse("weaviate", "a literal * or ? in a pattern") : parts.join("");
}
