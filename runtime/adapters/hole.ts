/**
 * Holes: the places of a compiled query that a call fills. A store's compiler gets a filter whose operands are holes and
 * decides by the kind of a hole, never by its value; `later` is for what has to be made of the value, such as a pattern.
 * Pure. What compiles with holes compiles with values too: there is one compiler for both.
 */
import type { Scalar } from "../abi/filter.js";

/** What is known of a value before a call gives it; `digits`: a text that is a whole number in its only spelling; `other`: no operand. */
export type HoleKind = "text" | "uuid" | "digits" | "integer" | "fraction" | "other";

/** The place of one value of a call. */
export class Hole {
  constructor(
    readonly index: number,
    readonly kind: HoleKind,
    /** Of a fraction: below zero. */
    readonly isNegative: boolean = false,
    /** Of the operand of text_match: how many different words it has. */
    readonly words: number = 0,
  ) {}

  /** A hole that is used as if it were a value is a bug, which must not become a part of a query. */
  [Symbol.toPrimitive](): never {
    throw new Error("a value of a call was used before the call gave it");
  }

  toJSON(): never {
    return this[Symbol.toPrimitive]();
  }
}

/** What is made of values of a call. */
class Late {
  constructor(
    private readonly from: readonly unknown[],
    private readonly make: (values: readonly unknown[]) => unknown,
  ) {}

  valueWith(given: readonly unknown[]): unknown {
    const values = this.from.map((one) => resolve(one, given));
    return values.find((one) => one instanceof Shown) ?? this.make(values);
  }

  toJSON(): never {
    throw new Error("a value of a call was used before the call gave it");
  }
}

/** A text that is shown where a value is too long to be read; nothing is made of it. */
export class Shown {
  constructor(readonly text: string) {}
}

/** A value, or the place of one. */
export type Given<T> = T | Hole;

/** An operand of a condition, or the place of one. */
export type Slot = Given<Scalar>;

/**
 * What `make` returns for a value: at once, or where the value is a hole, in each call. Then the result stands in the
 * query as the place of an `R`, and nothing but a template may read it.
 */
export function later<T, R>(value: Given<T>, make: (value: T) => R): R {
  return isLate(value) ? (new Late([value], ([one]) => make(one as T)) as R) : make(value as T);
}

/** `later` of several values. */
export function laterAll<T, R>(values: readonly Given<T>[], make: (values: readonly T[]) => R): R {
  return values.some(isLate) ? (new Late(values, make as (values: readonly unknown[]) => unknown) as R) : make(values as readonly T[]);
}

/** A value as it is, in the place where the query has it. */
export function place<T>(value: T | Hole): T {
  return value as T;
}

/** Whether a value is only there when a call is. */
export function isLate(value: unknown): boolean {
  return value instanceof Hole || value instanceof Late;
}

export function isText(value: Slot): value is string | Hole {
  return value instanceof Hole ? value.kind === "text" || value.kind === "uuid" || value.kind === "digits" : typeof value === "string";
}

export function isNumber(value: Slot): value is number | Hole {
  return value instanceof Hole ? value.kind === "integer" || value.kind === "fraction" : typeof value === "number";
}

/** Holes are never booleans: a query with `true` is another one than a query with `false`. */
export function typeOf(value: Slot): "string" | "number" | "boolean" | "null" {
  if (isText(value)) return "string";
  if (isNumber(value)) return "number";
  return typeof value === "boolean" ? "boolean" : "null";
}

/** Whole numbers that JavaScript has exactly. */
export function isSafeInteger(value: Slot): boolean {
  return value instanceof Hole ? value.kind === "integer" : Number.isSafeInteger(value);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isUuid(value: Slot): value is string | Hole {
  return value instanceof Hole ? value.kind === "uuid" : typeof value === "string" && UUID.test(value);
}

/** A native query with holes. */
export interface Template {
  /** The query of one call, whose own members a client may set; parts within it that have no holes are shared by all calls, and frozen. */
  fill(given: readonly unknown[]): unknown;
}

/** A compiled query, whose holes are filled by copying it around them. */
export function templateOf(query: unknown): Template {
  const filler = fillerOf(query);
  return { fill: (given) => (filler === null ? ownOf(query) : filler(given)) };
}

/** Milvus' client writes its own form of the filter into the request that it is given. */
function ownOf(query: unknown): unknown {
  return typeof query === "object" && query !== null && !Array.isArray(query) ? { ...query } : query;
}

type Filler = (given: readonly unknown[]) => unknown;

/** How a part of a query is filled; null where it has no holes. */
function fillerOf(part: unknown): Filler | null {
  if (isLate(part)) return (given) => shownAs(resolve(part, given));
  if (typeof part !== "object" || part === null || ArrayBuffer.isView(part)) return null;
  if (Array.isArray(part)) {
    const fillers = part.map(fillerOf);
    return fillers.every((one) => one === null) ? frozen(part) : (given) => fillers.map((one, index): unknown => (one === null ? part[index] : one(given)));
  }
  const entries = Object.entries(part).map(([key, value]) => [key, value, fillerOf(value)] as const);
  // Not by assignment: a field may be named __proto__.
  return entries.every(([, , one]) => one === null) ? frozen(part) : (given) => Object.fromEntries(entries.map(([key, value, one]) => [key, one === null ? value : one(given)]));
}

/** A client that writes into what all calls share would change the next call's query: it fails instead. */
function frozen(part: object): null {
  Object.freeze(part);
  return null;
}

function shownAs(value: unknown): unknown {
  return value instanceof Shown ? value.text : value;
}

function resolve(part: unknown, given: readonly unknown[]): unknown {
  if (part instanceof Late) return part.valueWith(given);
  if (!(part instanceof Hole)) return part;
  if (part.index >= given.length) throw new Error("a query has more holes than the call has values");
  return given[part.index];
}
