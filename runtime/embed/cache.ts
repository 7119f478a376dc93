/**
 * The last query vectors of one embedder, so that a repeated text costs a lookup. One cache per embedder, and one
 * embedder per (provider, model, config): two endpoints that serve one model name never share vectors.
 */
import type { Embedder } from "./embedder.js";

/** Vectors kept, bounded also by their bytes. */
const MAX_ENTRIES = 10_000;
const MAX_BYTES = 32 << 20;

/** The embedder with a cache of its last answers. Only batches that succeed as a whole are cached. */
export function withCache(embedder: Embedder): Embedder {
  const vectors = new Map<string, Float32Array>();
  let bytes = 0;
  const sizeOf = (text: string, vector: Float32Array): number => 2 * text.length + vector.byteLength;

  const remember = (text: string, vector: Float32Array): void => {
    if (vectors.has(text)) return;
    vectors.set(text, vector);
    bytes += sizeOf(text, vector);
    for (const [oldest, dropped] of vectors) {
      if (vectors.size <= MAX_ENTRIES && bytes <= MAX_BYTES) break;
      vectors.delete(oldest);
      bytes -= sizeOf(oldest, dropped);
    }
  };
  const recall = (text: string): Float32Array | undefined => {
    const vector = vectors.get(text);
    if (vector === undefined) return undefined;
    // The most recently used entries are the last ones.
    vectors.delete(text);
    vectors.set(text, vector);
    return vector;
  };

  return {
    provider: embedder.provider,
    model: embedder.model,
    get dims() {
      return embedder.dims;
    },
    async embed(texts, signal) {
      const known = texts.map(recall);
      const missing = [...new Set(texts.filter((_, index) => known[index] === undefined))];
      if (missing.length === 0) return known as Float32Array[];
      const made = await embedder.embed(missing, signal);
      const fresh = new Map(missing.map((text, index) => [text, made[index]] as const));
      for (const [text, vector] of fresh) if (vector !== undefined) remember(text, vector);
      return texts.map((text, index) => (known[index] ?? fresh.get(text)) as Float32Array);
    },
  };
}
