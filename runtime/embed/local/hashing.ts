/**
 * The built-in embedder: signed feature hashing of words, word pairs and character n-grams. Deterministic on every
 * machine, needs no download, and is lexical: it finds texts that share words, parts of words or misspellings, not
 * meaning. The numbers below are part of stored data: changing any of them needs a new model name.
 */
import { wordsOf } from "../../base/text.js";

const WORD_WEIGHT = 1;
const PAIR_WEIGHT = 0.4;
const NGRAM_WEIGHT = 0.5;
const MIN_GRAM = 3;
const MAX_GRAM = 4;

/** Letters of a word that counts in full; "of" and "the" count less. */
const FULL_WORD = 6;
const LEAST_WORD = 0.3;

/** Titles come first: each word counts a little less than the one before it, down to a floor. */
const DECAY = 0.1;
const LEAST_PLACE = 0.3;

const WORD_SEED = 0x811c9dc5;
const PAIR_SEED = 0x27d4eb2f;
const NGRAM_SEED = 0x9e3779b9;

/** The L2-normalised vector of a text; all zero for a text without words. */
export function hashText(text: string, dims: number): Float32Array {
  const vector = new Float32Array(dims);
  const words = wordsOf(text);
  let before = 0;
  for (let place = 0; place < words.length; place++) {
    const word = words[place] ?? "";
    const weight = Math.max(LEAST_PLACE, 1 / (1 + DECAY * place)) * Math.min(1, Math.max(LEAST_WORD, word.length / FULL_WORD));
    const hash = fnv1a(word, 0, word.length, WORD_SEED);
    addFeature(vector, hash, weight * WORD_WEIGHT);
    if (place > 0) addFeature(vector, mix(Math.imul(before, 31) ^ hash ^ PAIR_SEED), weight * PAIR_WEIGHT);
    addGrams(vector, `^${word}$`, weight * NGRAM_WEIGHT);
    before = hash;
  }
  return normalize(vector);
}

function addGrams(vector: Float32Array, padded: string, weight: number): void {
  for (let size = MIN_GRAM; size <= MAX_GRAM; size++) {
    for (let start = 0; start + size <= padded.length; start++) {
      addFeature(vector, fnv1a(padded, start, start + size, NGRAM_SEED), weight);
    }
  }
}

/** The remainder chooses the index, the top bit the sign. */
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
  return mix(hash);
}

/** FNV's low bits mix poorly for short texts; murmur's finaliser spreads them. */
function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 0;
}

/** Square roots first: a feature that occurs often, or places that many share, must not dominate the rest. */
function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    sum += Math.abs(value);
    vector[i] = Math.sign(value) * Math.sqrt(Math.abs(value));
  }
  if (sum === 0) return vector;
  const scale = 1 / Math.sqrt(sum);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * scale;
  return vector;
}
