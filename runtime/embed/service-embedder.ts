/** An embedder behind a service: texts in batches, and every answer checked before a store sees a vector of it. */
import { BackendError } from "../abi/errors.js";
import type { Json } from "../abi/plan.js";
import { isRecord } from "../base/paths.js";
import { knownDims } from "./descriptors.js";
import type { Embedder, FilledEmbedding, OpenEmbedding } from "./embedder.js";
import { postJson, type JsonService } from "./json-service.js";
import { numberOf } from "./settings.js";

export interface ServiceEmbedding {
  readonly service: JsonService;
  readonly batchSize: number;
  readonly body: (texts: readonly string[]) => Json;
  /** The vectors of an answer as it has them, or an error with what is wrong; in the order of the texts. */
  readonly vectors: (answer: unknown) => readonly unknown[];
}

/** One embedder for a service. Batches are sent one after the other: services limit how many requests run at once. */
export function serviceEmbedder({ provider, model, dims: stated }: FilledEmbedding, { anyLength = false }: OpenEmbedding, { service, batchSize, body, vectors }: ServiceEmbedding): Embedder {
  let dims = stated ?? null;
  const refuse = (problem: string): never => { throw new BackendError("internal", provider, `${service.who} ${problem}`); };
  const embedBatch = async (texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> => {
    // Services refuse an empty text, and half of a surrogate pair.
    const answer = await postJson(service, body(texts.map((text) => (text === "" ? " " : Buffer.from(text).toString()))), signal);
    const found = vectors(answer);
    if (found.length !== texts.length) refuse(`answers ${found.length} vectors for ${texts.length} texts`);
    return found.map((value) => {
      const vector = toVector(value);
      if (vector === null) return refuse("answers a vector that is not a list of finite numbers");
      dims ??= vector.length;
      if (vector.length !== dims && !anyLength) refuse(`answers a vector of ${vector.length} numbers; ${dims} are expected (embedding.dims, or the length that the model is known to have)`);
      return vector;
    });
  };
  return {
    provider,
    model,
    get dims() {
      return dims;
    },
    async embed(texts, signal) {
      const made: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += batchSize) made.push(...(await embedBatch(texts.slice(from, from + batchSize), signal)));
      return made;
    },
  };
}

/** Texts in one request. */
export function batchSizeOf({ config, provider }: FilledEmbedding, fallback: number, max = 2048): number {
  return Math.trunc(numberOf(config, "batch_size", provider, { default: fallback, min: 1, max }));
}

/** The length to ask for, where the catalog states another one than the model has by itself; models that cannot shorten their vectors refuse it. */
export function shortened({ model, dims }: FilledEmbedding): { readonly dimensions?: number } {
  const own = knownDims(model);
  return dims === undefined || own === null || dims === own ? {} : { dimensions: dims };
}

/** Numbers as JSON, or as base64 of 32-bit floats. */
function toVector(value: unknown): Float32Array | null {
  if (typeof value === "string") return fromBase64(value);
  if (!Array.isArray(value) || value.length === 0) return null;
  const vector = new Float32Array(value.length);
  for (let i = 0; i < value.length; i++) {
    const number: unknown = value[i];
    if (typeof number !== "number") return null;
    vector[i] = number;
  }
  return isFinite32(vector) ? vector : null;
}

function fromBase64(text: string): Float32Array | null {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === 0 || bytes.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const vector = new Float32Array(bytes.length / 4);
  for (let i = 0; i < vector.length; i++) vector[i] = bytes.readFloatLE(4 * i);
  return isFinite32(vector) ? vector : null;
}

function isFinite32(vector: Float32Array): boolean {
  return vector.every((number) => Number.isFinite(number));
}

/**
 * Entries of an answer in the order of what was sent. Services may answer in any order and say which is which by
 * `index`; then every index is there once. Entries without one are in order. `null` for indexes that make no sense.
 */
export function inOrder(entries: readonly unknown[]): readonly unknown[] | null {
  const isIndexed = entries.some((entry) => isRecord(entry) && entry["index"] !== undefined);
  if (!isIndexed) return entries;
  const ordered = new Map<unknown, unknown>(entries.map((entry) => [isRecord(entry) ? entry["index"] : undefined, entry]));
  const found = entries.map((_, index) => ordered.get(index));
  return found.includes(undefined) ? null : found;
}
