/**
 * Filters as Qdrant's JSON conditions. Pure. Qdrant matches a list when one of its elements matches, which equality
 * does not mean here. The key `path[]` reaches the elements of a list and nothing else, so it tells a list from a value;
 * but no ordinary payload index has that key, and a search that asks for it reads the payload of every candidate. So there
 * are two forms: the exact one, and a wide one for reads whose rows are compared once more (`verify.ts`).
 * Numbers are compared by ranges: `match` knows whole numbers only, and 5 is not 5.0 to it.
 */
import { comparesInstants, type Scalar } from "../../abi/filter.js";
import { isNumber, isText, later, laterAll, place, type Slot } from "../hole.js";
import { operandOf, operandsOf, reduceFilter, refuse, type Compiled } from "../reduce.js";
import type { Shape, ShapeCondition } from "../shape.js";

type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/** One condition: {key, match}, {key, range}, {is_empty}, {is_null}, {has_id}, or a nested filter. */
export type QdrantCondition = { readonly [key: string]: Json };

export interface QdrantFilter {
  readonly must?: readonly QdrantCondition[];
  readonly must_not?: readonly QdrantCondition[];
  readonly should?: readonly QdrantCondition[];
}

/** `exact`: no other point passes; `wide`: also points with a list where a value is compared. */
export type Width = "exact" | "wide";

/** The filter of search, scroll and count requests. @throws BackendError unsupported for `like` and texts that are no dates in an order. */
export function compileFilter(filter: Shape, width: Width = "exact"): Compiled<QdrantFilter> {
  const reduced = reduceFilter(filter);
  return typeof reduced === "string" ? reduced : compile(reduced, width);
}

function compile(filter: Shape, width: Width): QdrantFilter {
  if ("and" in filter) return merge(filter.and.map((part) => compile(part, width)));
  if ("or" in filter) return { should: filter.or.map((part) => nested(compile(part, width))) };
  return compileCondition(filter, width);
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

function compileCondition(condition: ShapeCondition, width: Width): QdrantFilter {
  if (condition.path === "id") return compileId(condition);
  const { op } = condition;
  const path = pathOf(condition.path);
  const operands = operandsOf(condition).map(storable);
  const equal = comparesInstants(condition) ? atInstant : equals;
  const anyEqual = comparesInstants(condition) ? (key: string, values: readonly Slot[]) => values.map((value) => atInstant(key, value)) : among;
  const single = width === "exact" ? valueOnly : valueOrElement;
  switch (op) {
    case "eq":
      return single(path, (key) => equal(key, operandOf(condition)));
    case "ne":
      // A list with the value in it does not pass: a guard that excludes a value excludes it there, too.
      return mustNot(equal(path, operandOf(condition)));
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return single(path, (key) => ({ key, range: { [op]: ordered(operandOf(condition)) } }));
    case "in":
      return anyOf(anyEqual(path, operands));
    case "nin":
      return mustNot(...anyEqual(path, operands));
    case "contains_any":
      return width === "wide" ? anyOf(anyEqual(path, operands)) : must(nested(anyOf(anyEqual(path, operands))), nested(anyOf(anyEqual(`${path}[]`, operands))));
    case "contains_all":
      return must(...operands.flatMap((value) => (width === "wide" ? [equal(path, value)] : [equal(path, value), equal(`${path}[]`, value)])));
    case "exists":
      return condition.value === true ? mustNot(empty(path)) : must(empty(path));
    case "is_null":
      return condition.value === true ? single(path, isNull) : mustNot(nested(valueOnly(path, isNull)));
    case "text_match":
      return single(path, (key) => ({ key, match: { text: place(operandOf(condition) as string) } }));
    case "like":
      return refuse("qdrant", "the operator like");
    default:
      return op satisfies never;
  }
}

/** A condition on the value itself, where a list with such an element does not count. */
function valueOnly(path: string, condition: (key: string) => QdrantCondition): QdrantFilter {
  return { must: [condition(path)], must_not: [condition(`${path}[]`)] };
}

function valueOrElement(path: string, condition: (key: string) => QdrantCondition): QdrantFilter {
  return must(condition(path));
}

/** A path as Qdrant reads it: a name with other characters is quoted, and a quote cannot be written. */
function pathOf(path: string): string {
  return path.split(".").map((name) => {
    if (/^[\w-]+$/.test(name)) return name;
    return name === "" || /["\\]/.test(name) ? refuse("qdrant", `the path '${path}'`) : `"${name}"`;
  }).join(".");
}

/** Texts are UTF-8 in Qdrant, which has no half of a surrogate pair. */
function storable(value: Slot): Slot {
  return typeof value === "string" && /\p{Surrogate}/u.test(value) ? refuse("qdrant", "texts with half a surrogate pair") : value;
}

/** Ranges parse stored dates, so equality of instants is a range of one; `match` would compare spellings. */
function atInstant(key: string, value: Slot): QdrantCondition {
  return { key, range: { gte: later(value, String), lte: later(value, String) } };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Point ids are whole numbers or UUIDs; a text of digits is the number, and other texts are the id of nothing. */
function compileId(condition: ShapeCondition): QdrantFilter {
  const ids = laterAll(operandsOf(condition), (values) => values.flatMap(pointId));
  switch (condition.op) {
    case "eq":
    case "in":
      return must({ has_id: ids });
    case "ne":
    case "nin":
      return mustNot({ has_id: ids });
    default:
      return refuse("qdrant", `the operator ${condition.op} on record ids`);
  }
}

function pointId(value: Scalar): readonly (string | number)[] {
  const text = String(value);
  if (UUID.test(text)) return [text];
  return Number.isSafeInteger(Number(text)) && Number(text) >= 0 && String(Number(text)) === text ? [Number(text)] : [];
}

const isNull = (key: string): QdrantCondition => ({ is_null: { key } });
const empty = (key: string): QdrantCondition => ({ is_empty: { key } });

function equals(key: string, value: Slot): QdrantCondition {
  if (value === null) return isNull(key);
  if (isNumber(value)) return { key, range: { gte: place(value), lte: place(value) } };
  return { key, match: { value: storable(value) as string | boolean } };
}

/** Texts in one condition, everything else one by one. */
function among(key: string, values: readonly Slot[]): readonly QdrantCondition[] {
  const texts = values.filter(isText).map((value) => place(value));
  return [
    ...(texts.length === 0 ? [] : [{ key, match: { any: texts } }]),
    ...values.filter((value) => !isText(value)).map((value) => equals(key, value)),
  ];
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Ranges order numbers and dates. */
function ordered(value: Slot): string | number {
  if (isNumber(value)) return place(value);
  // Where the condition is of dtype datetime the text is an instant; otherwise Qdrant compares it as one all the same.
  return later(value, (one) => (typeof one === "string" && DATE.test(one) ? one : refuse("qdrant", "an order of texts that are no dates")));
}
