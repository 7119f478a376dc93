/**
 * The built-in embedder: signed feature hashing of words and character n-grams. Deterministic on every machine,
 * needs no download, and is lexical: it finds texts that share words, parts of words or misspellings, not meaning.
 * The numbers below are part of stored data: changing any of them needs a new model name.
 */
import { foldText } from "../../abi/text.js";

/** Weight of a whole word against that of one character n-gram. */
const WORD_WEIGHT = 1.0;
const NGRAM_WEIGHT = 0.35;
const MIN_GRAM = 3;
const MAX_GRAM = 4;

/** The L2-normalised vector of a text; all zero for a text without words. */
export function hashText(text: string, dims: number): Float32Array {
  const vector = new Float32Array(dims);
  const words = foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const word of words) {
    addFeature(vector, fnv1a(word, 0, word.length, 0x811c9dc5), WORD_WEIGHT);
    const padded = `^${word}$`;
    for (let size = MIN_GRAM; size <= MAX_GRAM; size++) {
      for (let start = 0; start + size <= padded.length; start++) {
        addFeature(vector, fnv1a(padded, start, start + size, 0x9e3779b9), NGRAM_WEIGHT);
      }
    }
  }
  return normalize(vector);
}

/** The low bits choose the place, the top bit the sign. */
function addFeature(vector: Float32Array, hash: number, weight: number): void {
  const index = hash % vector.length;
  vector[index] = (vector[index] ?? 0) + (hash >>> 31 === 0 ? weight : -weight);
}

function fnv1a(text: string, start: number, end: number, seed: number): number {
  let hash = seed;
  for (let i = start; i < end; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  // FNV's low bits mix poorly for short texts; one round of murmur's finaliser spreads them.
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  return hash >>> 0;
}

function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0) return vector;
  const scale = 1 / Math.sqrt(sum);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * scale;
  return vector;
}
