/**
 * The space of an embedding: what tells whether a model still makes the vectors that a collection was filled with. Fixed
 * texts are embedded, half as queries and half as documents, and of each vector a digest of its direction is kept: on
 * which side of 128 fixed random planes it lies. The digests of two vectors differ in about one bit for each 1.4 degrees
 * between them, so that the noise of a service does not look like another model. Texts and numbers below are part of what is
 * written in catalogs: changing one needs a new version.
 */
import { BackendError } from "../abi/errors.js";
import type { Embedder } from "./embedder.js";

const VERSION = 1;

const QUERIES = ["how do I get my money back", "naïve café in 東京, open after 22:30?", "error 404: connection refused"] as const;
const DOCUMENTS = [
  "The warranty covers defects of material for 24 months after delivery; wear and damage by water are excluded.",
  "SELECT id, total FROM orders WHERE status = 'open' ORDER BY created_at DESC LIMIT 10",
  "Ein Fahrradhelm schützt den Kopf. Un casco protege la cabeza. Un casque protège la tête.",
] as const;

const PLANES = 128;
const BYTES = PLANES / 8;

/** Bits of one digest that may differ: 17 degrees. */
const MAX_BITS = 12;
/** Bits of all digests that may differ, as a mean of one digest: 6 degrees. */
const MAX_MEAN_BITS = 4;

/** A space as it is written: version, vector length, digests. */
export const SPACE_FORM = /^1\.([1-9]\d{0,4})\.([A-Za-z0-9_-]{128})$/;

/**
 * Embeds the texts. `open` opens the embedding for a use.
 * @throws BackendError of the embedder, and internal for a vector that has no direction.
 */
export async function measureSpace(open: (use: "query" | "document") => Promise<Embedder>, signal: AbortSignal): Promise<string> {
  const queries = await (await open("query")).embed(QUERIES, signal);
  const documents = await (await open("document")).embed(DOCUMENTS, signal);
  const vectors = [...queries, ...documents];
  return `${VERSION}.${vectors[0]?.length ?? 0}.${Buffer.concat(vectors.map(digestOf)).toString("base64url")}`;
}

/** Vector length of a space; null for a text that is none. */
export function dimsOfSpace(space: string): number | null {
  return readSpace(space)?.dims ?? null;
}

/** What moved from one space to another, in words; `null` when nothing did. */
export function movedSpace(locked: string, now: string): string | null {
  const [before, after] = [readSpace(locked), readSpace(now)];
  if (before === null || after === null) return "the space was written by another version";
  if (before.dims !== after.dims) return `vectors have ${after.dims} numbers instead of ${before.dims}`;
  return compare(before.digests, after.digests);
}

/**
 * Asks an embedder of queries for its texts and compares them with a locked space, or, without one, for one text.
 * @throws BackendError internal when the space has moved.
 */
export async function probeEmbedder(embedder: Embedder, locked: string | undefined, signal: AbortSignal): Promise<void> {
  const before = locked === undefined ? null : readSpace(locked);
  const vectors = await embedder.embed(before === null ? QUERIES.slice(0, 1) : QUERIES, signal);
  if (before === null) return;
  const moved = vectors[0]?.length === before.dims ? compare(before.digests.subarray(0, QUERIES.length * BYTES), Buffer.concat(vectors.map(digestOf))) : "vectors have another length";
  if (moved !== null) throw new BackendError("internal", embedder.provider, `the embedding ${embedder.provider}/${embedder.model} no longer makes the vectors of its space: ${moved}`);
}

interface Space {
  readonly dims: number;
  readonly digests: Buffer;
}

function readSpace(text: string): Space | null {
  const match = SPACE_FORM.exec(text);
  return match === null ? null : { dims: Number(match[1]), digests: Buffer.from(match[2] ?? "", "base64url") };
}

function compare(before: Buffer, after: Buffer): string | null {
  const bits = Array.from({ length: before.length / BYTES }, (_, index) => differing(before, after, index * BYTES));
  const mean = bits.reduce((sum, one) => sum + one, 0) / bits.length;
  const most = Math.max(...bits);
  if (most <= MAX_BITS && mean <= MAX_MEAN_BITS) return null;
  return `${bits.length} texts point ${degrees(mean)} degrees from where they did, one of them ${degrees(most)}`;
}

function differing(before: Buffer, after: Buffer, from: number): number {
  let count = 0;
  for (let i = from; i < from + BYTES; i++) for (let rest = (before[i] ?? 0) ^ (after[i] ?? 0); rest > 0; rest &= rest - 1) count++;
  return count;
}

function degrees(bits: number): number {
  return Math.round((180 * bits) / PLANES);
}

function digestOf(vector: Float32Array): Buffer {
  const sums = new Float64Array(PLANES);
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    for (let word = 0; word < PLANES / 32; word++) {
      const signs = mix(i * 4 + word + 1);
      for (let bit = 0; bit < 32; bit++) {
        const plane = word * 32 + bit;
        sums[plane] = (sums[plane] ?? 0) + ((signs >>> bit) & 1 ? value : -value);
      }
    }
  }
  const digest = Buffer.alloc(BYTES);
  for (const [plane, sum] of sums.entries()) if (sum > 0) digest[plane >> 3] = (digest[plane >> 3] ?? 0) | (1 << (plane & 7));
  return digest;
}

/** 32 bits that look random, the same for one number on every machine (the finaliser of murmur3, twice). */
function mix(value: number): number {
  let hash = Math.imul(value, 0x9e3779b1);
  for (let round = 0; round < 2; round++) {
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}
