/**
 * Filters: the one tree that plans, adapters and the guard checker speak, and its reference meaning.
 * Pure data and pure functions; knows no backend. Every backend's compiled filter must select exactly
 * the rows for which `evaluate` is true (the contract suite compares them).
 */
import { instantKey } from "../base/instant.js";
import { readPath } from "../base/paths.js";
import { likeMatcher } from "../base/like.js";
import { wordMatcher } from "../base/text.js";

/** A JSON scalar as in a catalog or an argument. */
export type Scalar = string | number | boolean | null;

/** The operand of a condition: one scalar, or a list for `in`, `nin`, `contains_any`, `contains_all`. */
export type Operand = Scalar | readonly Scalar[];

export const COMPARISON_OPS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"] as const;
export const EXTENDED_OPS = ["exists", "is_null", "contains_any", "contains_all", "like", "text_match"] as const;
export type ComparisonOp = (typeof COMPARISON_OPS)[number];
export type ExtendedOp = (typeof EXTENDED_OPS)[number];
export type Op = ComparisonOp | ExtendedOp;

/** One test of one payload path. `path` is dotted, at most three segments; `id` names the record id. */
export interface Condition {
  readonly path: string;
  readonly op: Op;
  readonly value: Operand;
  /** Comparisons, sets and lists compare instants, whatever their spelling (runtime/base/instant.ts); absent: as typed. */
  readonly dtype?: "datetime";
  /** The plan has the value: it is the same in every call. */
  readonly fixed?: true;
}

/** A bound filter: no parameters left in it. An absent filter is `null`, never an empty `and`. */
export type Filter = Condition | { readonly and: readonly Filter[] } | { readonly or: readonly Filter[] };

/** A filter as a pipeline's retrieve step may write it: operands may be arguments of the call. */
export type FilterTemplate =
  | Condition
  | { readonly path: string; readonly op: Op; readonly param: string; readonly dtype?: "datetime" }
  | { readonly and: readonly FilterTemplate[] }
  | { readonly or: readonly FilterTemplate[] };

/** A stored record as plain JSON; `_id` is the record id, `_score` the similarity of a search. */
export type Row = Record<string, unknown>;

/** Flat conjunction: absent parts drop, nested `and`s open up, one part is returned alone, none is `null`. */
export function andAll(parts: readonly (Filter | null | undefined)[]): Filter | null {
  const flat: Filter[] = [];
  for (const part of parts) {
    if (part === null || part === undefined) continue;
    if ("and" in part) flat.push(...part.and);
    else flat.push(part);
  }
  if (flat.some((part) => "and" in part)) return andAll(flat);
  return flat.length > 1 ? { and: flat } : (flat[0] ?? null);
}

/** Whether a path names the record id rather than a payload field. */
export function isIdPath(path: string): boolean {
  return path === "id" || path === "_id";
}

/**
 * Whether a row is selected; the meaning that every backend must match. Values are typed: numbers meet numbers,
 * texts texts (by code point), booleans booleans; across types nothing is equal, less or greater. A condition of dtype
 * datetime compares instants, and a value that is no instant counts as missing.
 * A missing value fails every test except `ne`, `nin`, `exists false` and `is_null false`.
 */
export function evaluate(filter: Filter | null, row: Row): boolean {
  if (filter === null) return true;
  if ("and" in filter) return filter.and.every((part) => evaluate(part, row));
  if ("or" in filter) return filter.or.some((part) => evaluate(part, row));
  if (isIdPath(filter.path)) return testId(filter, row["_id"]);
  const value = readPath(row, filter.path);
  return comparesInstants(filter) ? testValue({ ...filter, value: instantKeys(filter.value) }, keyOf(value)) : testValue(filter, value);
}

/** Whether a condition compares instants: presence and the operators of texts have nothing to do with them. */
export function comparesInstants({ path, op, dtype }: Omit<Condition, "value"> & { readonly value?: unknown }): boolean {
  return dtype === "datetime" && !isIdPath(path) && op !== "exists" && op !== "is_null" && op !== "like" && op !== "text_match";
}

/** The operands of a condition on instants as keys that sort; what is no instant is left out of a list, and no scalar equals it. */
export function instantKeys(value: Operand): Operand {
  const keys = toList(value).flatMap((one) => (typeof one === "string" ? instantKey(one) ?? [] : []));
  return isList(value) ? keys : (keys[0] ?? []);
}

/** A stored value as the keys of its instants: a text, or a list of them. */
function keyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(keyOf).filter((key) => typeof key === "string");
  return typeof value === "string" ? (instantKey(value) ?? undefined) : undefined;
}

/** The record id is a text to every operator, whatever the store keeps; numeric operands of equality become text. */
function testId(condition: Condition, id: unknown): boolean {
  return testValue({ ...condition, value: idOperand(condition.op, condition.value) }, String(id));
}

/** The operand as it is compared with a record id. */
export function idOperand(op: Op, value: Operand): Operand {
  const text = (one: Scalar): Scalar => (typeof one === "number" ? String(one) : one);
  if (op !== "eq" && op !== "ne" && op !== "in" && op !== "nin") return value;
  return isList(value) ? value.map(text) : text(value);
}

function testValue({ op, value: operand }: Condition, value: unknown): boolean {
  switch (op) {
    case "eq":
      return equals(value, operand);
    case "ne":
      return !equals(value, operand);
    case "in":
      return isAmong(value, operand);
    case "nin":
      return !isAmong(value, operand);
    case "gt":
      return order(value, operand) > 0;
    case "gte":
      return order(value, operand) >= 0;
    case "lt":
      return order(value, operand) < 0;
    case "lte":
      return order(value, operand) <= 0;
    case "exists":
      return (value !== undefined && value !== null) === (operand !== false);
    case "is_null":
      return (value === null) === (operand !== false);
    case "contains_any":
      return Array.isArray(value) && hasAny(value, toList(operand));
    case "contains_all":
      return Array.isArray(value) && hasAll(value, toList(operand));
    case "like":
      return typeof value === "string" && typeof operand === "string" && likeMatcher(operand)(value);
    case "text_match":
      return typeof value === "string" && typeof operand === "string" && wordMatcher(operand)(value);
    default:
      return op satisfies never;
  }
}

/** Lists and objects equal nothing, and a missing value is not null. */
function equals(value: unknown, operand: Operand): boolean {
  return value === operand && !isList(operand);
}

/** A list is among the operands when one of its elements is. */
function isAmong(value: unknown, operand: Operand): boolean {
  return Array.isArray(value) ? hasAny(value, toList(operand)) : toList(operand).some((one) => equals(value, one));
}

/** Sets, so that two long lists take no more time than their lengths together. */
function hasAny(value: readonly unknown[], operands: readonly Scalar[]): boolean {
  const elements = new Set(value);
  return operands.some((one) => elements.has(one));
}

function hasAll(value: readonly unknown[], operands: readonly Scalar[]): boolean {
  const elements = new Set(value);
  return operands.length > 0 && operands.every((one) => elements.has(one));
}

/** Whether an operand is a list of values. */
export function isList(value: Operand): value is readonly Scalar[] {
  return Array.isArray(value);
}

/** The operands of a set operator; a scalar is a list of one. */
export function toList(value: Operand): readonly Scalar[] {
  return isList(value) ? value : [value];
}

/** Negative, zero or positive; NaN across types, so that no comparison holds. */
function order(value: unknown, operand: Operand): number {
  if (typeof value === "number" && typeof operand === "number") return value - operand;
  if (typeof value === "string" && typeof operand === "string") return compareText(value, operand);
  return Number.NaN;
}

/** Text order by code point, as UTF-8 bytes sort; JavaScript's own operators order UTF-16 units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    return x < 0xd800 || y < 0xd800 ? x - y : rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above the whole basic plane, so they come after U+E000 to U+FFFF. */
function rank(unit: number): number {
  return unit <= 0xdfff ? unit + 0x2000 : unit - 0x800;
}
