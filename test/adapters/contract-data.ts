/** Records and vectors of the contract: the same numbers in every run. */
import type { StoredRecord } from "./live-store.js";

export const DIMS = 8;

/** A number between -1 and 1 that looks random and is the same in every run. */
function noise(n: number): number {
  const x = Math.sin(n * 12.9898 + 4.1414) * 43758.5453;
  return (x - Math.floor(x)) * 2 - 1;
}

export function vectorOf(n: number): readonly number[] {
  const raw = Array.from({ length: DIMS }, (_, index) => noise(n * DIMS + index));
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}

export function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

/** Records of two tenants, interleaved, with one field of each type. */
export const RECORDS: readonly StoredRecord[] = Array.from({ length: 60 }, (_, n) => ({
  n,
  vector: vectorOf(n),
  payload: {
    tenant: n % 2 === 0 ? "acme" : "globex", size: n, price: n / 4, open: n % 3 === 0, day: `2024-01-${String((n % 28) + 1).padStart(2, "0")}`,
    ...(n % 5 === 0 ? {} : { note: `note ${n % 4}` }), tags: [`t${n % 3}`, "all"], nested: { kind: n % 2 === 0 ? "even" : "odd", deep: { level: n % 7 } },
  },
}));
