/**
 * Vectors as codes of one byte a component, in blocks of rows: a search compares codes first, and the few rows that may
 * be among the best by their full vectors after that. Each row has a bound of what its code lost, so that no row is
 * missed. Shared by the reader (this adapter) and the writer (`toolsrv load`). Pure.
 *
 * A block is, for its `rows` rows: a scale (float32), a bound of the error (float32), and `stride` codes (int8) each. Row
 * r of a collection is row (r - 1) mod 1,024 of block (r - 1) div 1,024.
 */
import { STEP } from "./kernel.js";

/** Rows of a block. */
export const BLOCK_ROWS = 1024;

/**
 * Collections with more vector components than this are searched in threads, by codes; comparing fewer takes some 5 ms,
 * which other requests can wait for.
 */
export const SMALL_COMPONENTS = 4_096 * 512;

/** Vectors longer or shorter than these could overflow or vanish in the 32-bit arithmetic of the full comparison. */
const MAX_LENGTH = 1e15;
const MIN_LENGTH = 1e-15;
const MAX_CODE = 127;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_INT16 = 2 ** 15 - 1;
/** Larger than what the rounding of a 32-bit number can lose, as a share of it. */
const ROUNDING = 1e-6;

/** Added and subtracted again it rounds a small number to an integer, several times as fast as Math.round. */
const TO_INTEGER = 1.5 * 2 ** 52;

/** Error bounds of rows that codes cannot describe: compared in full always (infinite), or never (no such row). */
const UNKNOWN = Number.POSITIVE_INFINITY;
const ABSENT = -1;

/** Bytes of a row's codes: a multiple of what the kernel takes at a time. */
export function strideOf(dims: number): number {
  return Math.ceil(dims / STEP) * STEP;
}

/** Where the parts of a block are, in bytes from its start. */
export function blockShape(rows: number, stride: number): { readonly errors: number; readonly codes: number; readonly bytes: number } {
  // Codes start at a multiple of 16, where loads of the kernel are quickest.
  const codes = Math.ceil((rows * 8) / 16) * 16;
  return { errors: rows * 4, codes, bytes: codes + rows * stride };
}

/** The block of these vectors, in the order of their rows; `null` for a row that does not exist. */
export function encodeBlock(vectors: readonly (Float32Array | null)[], dims: number): Uint8Array {
  const stride = strideOf(dims);
  const shape = blockShape(vectors.length, stride);
  const bytes = new Uint8Array(shape.bytes);
  const scales = new Float32Array(bytes.buffer, 0, vectors.length);
  const errors = new Float32Array(bytes.buffer, shape.errors, vectors.length);
  for (const [row, vector] of vectors.entries()) {
    const codes = new Int8Array(bytes.buffer, shape.codes + row * stride, dims);
    const coded = vector === null ? { scale: 0, error: ABSENT } : vector.length === dims ? encode(vector, codes, MAX_CODE) : null;
    scales[row] = coded?.scale ?? 0;
    errors[row] = coded?.error ?? UNKNOWN;
  }
  return bytes;
}

/** A query as the kernel takes it. */
export interface CodedQuery {
  readonly codes: Int16Array;
  readonly scale: number;
  readonly error: number;
  /** What the rounding of the full comparison may add, whatever the order of its sums. */
  readonly slack: number;
}

/** `null` for a query that codes cannot describe: no direction, or not all of it numbers. */
export function encodeQuery(vector: Float32Array): CodedQuery | null {
  const stride = strideOf(vector.length);
  const codes = new Int16Array(stride);
  // As fine as sums of products with codes of rows leave it.
  const largest = Math.min(MAX_INT16, Math.floor(MAX_INT32 / (MAX_CODE * stride)));
  const coded = encode(vector, codes.subarray(0, vector.length), largest);
  return coded === null || coded.scale === 0 ? null : { codes, ...coded, slack: (2 * vector.length + 16) * 2 ** -24 };
}

/**
 * Writes the codes of a vector's direction. `scale × codes` differs from the direction by at most `error` (as the length
 * of the difference). `null` for a vector that has none or that 32-bit arithmetic cannot compare; a zero vector has the
 * score 0 with everything, as codes of zero have.
 */
function encode(vector: Float32Array, codes: Int8Array | Int16Array, largest: number): { readonly scale: number; readonly error: number } | null {
  let squares = 0;
  let greatest = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] as number;
    squares += value * value;
    if (value > greatest) greatest = value;
    else if (-value > greatest) greatest = -value;
  }
  const length = Math.sqrt(squares);
  if (length === 0) return { scale: 0, error: 0 };
  if (!(length >= MIN_LENGTH && length <= MAX_LENGTH)) return null;
  // Rounded up, so that no code is larger than the largest.
  const scale = Math.fround((greatest / length / largest) * (1 + ROUNDING));
  const step = 1 / (length * scale);
  let lost = 0;
  for (let i = 0; i < vector.length; i++) {
    const exact = (vector[i] as number) * step;
    const code = exact + TO_INTEGER - TO_INTEGER;
    codes[i] = code;
    lost += (exact - code) * (exact - code);
  }
  return { scale, error: Math.fround(Math.sqrt(lost) * scale * (1 + 1e-5) + 1e-9) };
}

/**
 * The bounds of a row's score, from the integer product of its codes with the query's.
 * |v·q − v'·q'| ≤ |v − v'| |q| + |v'| |q − q'|, with |q| = 1 and |v'| ≤ 1 + |v − v'|.
 */
export function marginOf(rowError: number, query: CodedQuery): number {
  return rowError + (1 + rowError) * query.error + query.slack;
}
