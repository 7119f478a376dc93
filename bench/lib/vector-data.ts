/** Vectors and records for comparisons of stores: the same ones for every store, in a file of 32-bit floats. */
import { closeSync, openSync, writeSync } from "node:fs";

export const DIMS = 512;
/** Searches of one measurement. */
export const QUERIES = 16;

/** Which rows a search may return, and how each store says so. */
export const CASES = {
  none: { what: "unfiltered", filter: null, sql: "" },
  one: { what: "filter of 1 %", filter: { path: "tenant", op: "eq", value: "t7" }, sql: "tenant = 't7'" },
  ten: { what: "filter of 10 %", filter: { path: "decile", op: "eq", value: 3 }, sql: "decile = 3" },
  all: { what: "filter of 100 %", filter: { path: "same", op: "eq", value: 1 }, sql: "same = 1" },
} as const;
export type CaseName = keyof typeof CASES;

export interface Fields {
  readonly n: number;
  readonly tenant: string;
  readonly decile: number;
  readonly same: number;
}

export function fieldsOf(n: number): Fields {
  return { n, tenant: `t${n % 100}`, decile: n % 10, same: 1 };
}

/** Unit vectors whose directions are even: normal components, drawn from a pool, because a million rows need half a billion. */
export function createVectors(seed: number): () => Float32Array {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  const pool = Float32Array.from({ length: 2 ** 20 }, () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next()));
  return () => {
    const a = Math.floor(next() * (pool.length - DIMS));
    const b = Math.floor(next() * (pool.length - DIMS));
    const vector = Float32Array.from({ length: DIMS }, (_, index) => (pool[a + index] as number) + 0.7 * (pool[b + index] as number));
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  };
}

/** Writes `rows` vectors and then those of the queries. */
export function writeVectors(file: string, rows: number): void {
  const vector = createVectors(42);
  const out = openSync(file, "w");
  const block = new Float32Array(1024 * DIMS);
  for (let from = 0; from < rows + QUERIES; from += 1024) {
    const count = Math.min(1024, rows + QUERIES - from);
    for (let row = 0; row < count; row++) block.set(vector(), row * DIMS);
    writeSync(out, Buffer.from(block.buffer, 0, count * DIMS * 4));
  }
  closeSync(out);
}
