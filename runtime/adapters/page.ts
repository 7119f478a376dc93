/** What the pages of a copy have in common: where the next one starts, and what a vector is. Pure. */
import type { Json } from "../abi/plan.js";
import type { Page, StoredRow } from "./adapter.js";

/** Where a page starts in a store that counts rows. */
export function offsetOf(after: Json): number {
  return typeof after === "number" ? after : 0;
}

/** A page of a store that counts rows; `found` are those that it read, before any was dropped. */
export function countedPage(rows: readonly StoredRow[], found: number, offset: number, limit: number): Page {
  return { rows, next: found < limit ? null : offset + found };
}

/** Numbers of a vector; `null` for anything else, such as several vectors of one row. */
export function toVector(value: unknown): Float32Array | null {
  if (value instanceof Float32Array) return value;
  if (!Array.isArray(value) || value.length === 0) return null;
  return value.every((number) => typeof number === "number" && Number.isFinite(number)) ? Float32Array.from(value as number[]) : null;
}
