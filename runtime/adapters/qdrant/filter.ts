/**
 * Filters as Qdrant's JSON conditions. Pure. Keys are dotted paths, unchanged. Qdrant matches a list when one of its
 * elements matches, and has no equality of floats: those become a range of one number.
 */
import { comparesInstants, type Condition, type Filter, type Scalar } from "../../abi/filter.js";
import { operandOf, operandsOf, reduceFilter, refuse, type Compiled } from "../reduce.js";

type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/** One condition: {key, match}, {key, range}, {is_empty}, {is_null}, {has_id}, or a nested filter. */
export type QdrantCondition = { readonly [key: string]: Json };

export interface QdrantFilter {
  readonly must?: readonly QdrantCondition[];
  readonly must_not?: readonly QdrantCondition[];
  readonly should?: readonly QdrantCondition[];
}

/** The filter of search, scroll and count requests. @throws BackendError unsupported for `like` and texts that are no dates in an order. */
export function compileFilter(filter: Filter): Compiled<QdrantFilter> {
  const reduced = reduceFilter(filter);
  return typeof reduced === "string" ? reduced : compile(reduced);
}

function compile(filter: Filter): QdrantFilter {
  if ("and" in filter) return merge(filter.and.map(compile));
  if ("or" in filter) return { should: filter.or.map((part) => nested(compile(part))) };
  return compileCondition(filter);
}

/** A conjunction of filters; one with alternatives keeps them together as a nested filter. */
function merge(parts: readonly QdrantFilter[]): QdrantFilter {
  const must = parts.flatMap((part) => (part.should === undefined ? part.must ?? [] : [nested(part)]));
  const mustNot = parts.flatMap((part) => (part.should === undefined ? part.must_not ?? [] : []));
  return { ...(must.length === 0 ? {} : { must }), ...(mustNot.length === 0 ? {} : { must_not: mustNot }) };
}

/** A filter as a condition: a single condition stays one. */
function nested(filter: QdrantFilter): QdrantCondition {
  const [only] = filter.must ?? [];
  const isOne = filter.must?.length === 1 && filter.must_not === undefined && filter.should === undefined;
  return isOne && only !== undefined ? only : { ...filter } as QdrantCondition;
}

const must = (...conditions: readonly QdrantCondition[]): QdrantFilter => ({ must: conditions });
const mustNot = (...conditions: readonly QdrantCondition[]): QdrantFilter => ({ must_not: conditions });
const anyOf = (conditions: readonly QdrantCondition[]): QdrantFilter => (conditions.length === 1 ? must(...conditions) : { should: conditions });

function compileCondition(condition: Condition): QdrantFilter {
  if (condition.path === "id") return compileId(condition);
  const { path: key, op } = condition;
  if (comparesInstants(condition)) return compileInstants(condition);
  switch (op) {
    case "eq":
      return must(equals(key, operandOf(condition)));
    case "ne":
      return mustNot(equals(key, operandOf(condition)));
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return must({ key, range: { [op]: ordered(operandOf(condition)) } });
    case "in":
      return anyOf(among(key, operandsOf(condition)));
    case "contains_any":
      return anyOf(among(key, operandsOf(condition).map((value) => value ?? refuse("qdrant", "null inside a list"))));
    case "nin":
      return mustNot(...among(key, operandsOf(condition)));
    case "contains_all":
      return must(...operandsOf(condition).map((value) => equals(key, value ?? refuse("qdrant", "null inside a list"))));
    case "exists":
      return condition.value === true ? mustNot(empty(key)) : must(empty(key));
    case "is_null":
      return condition.value === true ? must(isNull(key)) : mustNot(isNull(key));
    case "text_match":
      return must({ key, match: { text: String(condition.value) } });
    case "like":
      return refuse("qdrant", "the operator like");
    default:
      return op satisfies never;
  }
}

/** Ranges parse stored dates, so equality of instants is a range of one; `match` would compare spellings. */
function compileInstants(condition: Condition): QdrantFilter {
  const { path: key, op } = condition;
  const at = operandsOf(condition).map((value): QdrantCondition => ({ key, range: { gte: String(value), lte: String(value) } }));
  if (op === "eq" || op === "contains_all") return must(...at);
  if (op === "in" || op === "contains_any") return anyOf(at);
  if (op === "ne" || op === "nin") return mustNot(...at);
  return must({ key, range: { [op]: String(operandOf(condition)) } });
}

/** Point ids are whole numbers or UUIDs; a text of digits is the number. */
function compileId(condition: Condition): QdrantFilter {
  const idOf = (value: Scalar): string | number => (typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : String(value));
  switch (condition.op) {
    case "eq":
    case "in":
      return must({ has_id: operandsOf(condition).map(idOf) });
    case "ne":
    case "nin":
      return mustNot({ has_id: operandsOf(condition).map(idOf) });
    default:
      return refuse("qdrant", `the operator ${condition.op} on record ids`);
  }
}

const isNull = (key: string): QdrantCondition => ({ is_null: { key } });
const empty = (key: string): QdrantCondition => ({ is_empty: { key } });

function equals(key: string, value: Scalar): QdrantCondition {
  if (value === null) return isNull(key);
  return typeof value === "number" && !Number.isInteger(value) ? { key, range: { gte: value, lte: value } } : { key, match: { value } };
}

/** `match.any` takes texts or whole numbers, not both; everything else is matched one by one. */
function among(key: string, values: readonly Scalar[]): readonly QdrantCondition[] {
  const texts = values.filter((value) => typeof value === "string");
  const integers = values.filter((value) => Number.isInteger(value)) as readonly number[];
  const others = values.filter((value) => typeof value !== "string" && !Number.isInteger(value));
  return [
    ...(texts.length === 0 ? [] : [{ key, match: { any: texts } }]),
    ...(integers.length === 0 ? [] : [{ key, match: { any: integers } }]),
    ...others.map((value) => equals(key, value)),
  ];
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Ranges order numbers and dates. */
function ordered(value: Scalar): string | number {
  if (typeof value === "number") return value;
  return typeof value === "string" && DATE.test(value) ? value : refuse("qdrant", "an order of texts that are no dates");
}
