/**
 * The built-in embedder: signed feature hashing of words, word pairs and character n-grams. Deterministic on every
 * machine, needs no download, and is lexical: it finds texts that share words, parts of words or misspellings, not
 * meaning. The numbers below are part of stored data: changing any of them needs a new model name.
 */
import { wordsOf } from "../../base/text.js";

const WORD_WEIGHT = 1;
const PAIR_WEIGHT = 0.4;
const NGRAM_WEIGHT = 0.5;

/** Letters of a word that counts in full; "of" and "the" count less. */
const FULL_WORD = 6;
const LEAST_WORD = 0.3;

/** Titles come first: each word counts a little less than the one before it, down to a floor. */
const DECAY = 0.1;
const LEAST_PLACE = 0.3;

const WORD_SEED = 0x811c9dc5;
const PAIR_SEED = 0x27d4eb2f;
const NGRAM_SEED = 0x9e3779b9;

/** Codes of the characters that mark where a word starts and ends. */
const [START, END] = [0x5e, 0x24];
const FNV_PRIME = 0x01000193;

/** The L2-normalised vector of a text; all zero for a text without words. */
export function hashText(text: string, dims: number): Float32Array {
  return hashInto(new Float32Array(dims), text);
}

/** The vectors of many texts, in one piece of memory: to allocate each by itself takes a third as long as to fill it. */
export function hashTexts(texts: readonly string[], dims: number): readonly Float32Array[] {
  const { buffer } = new Float32Array(texts.length * dims);
  return texts.map((text, index) => hashInto(new Float32Array(buffer, index * dims * Float32Array.BYTES_PER_ELEMENT, dims), text));
}

/** @param vector all zero */
function hashInto(vector: Float32Array, text: string): Float32Array {
  const words = wordsOf(text);
  let before = 0;
  for (let place = 0; place < words.length; place++) {
    const word = words[place] ?? "";
    const weight = Math.max(LEAST_PLACE, 1 / (1 + DECAY * place)) * Math.min(1, Math.max(LEAST_WORD, word.length / FULL_WORD));
    const hash = hashWord(word);
    addFeature(vector, hash, weight * WORD_WEIGHT);
    if (place > 0) addFeature(vector, mix(Math.imul(before, 31) ^ hash ^ PAIR_SEED), weight * PAIR_WEIGHT);
    addGrams(vector, word, weight * NGRAM_WEIGHT);
    before = hash;
  }
  return normalize(vector);
}

/** Every run of three characters of the word between its marks, and then every run of four. */
function addGrams(vector: Float32Array, word: string, weight: number): void {
  // A run's hash starts with those of its first characters: one pass over the word, each character read once.
  let [a, b, c] = [START, word.charCodeAt(0), 0];
  for (let at = 1; at <= word.length; at++) {
    c = at < word.length ? word.charCodeAt(at) : END;
    addFeature(vector, mix(step(step(step(NGRAM_SEED, a), b), c)), weight);
    a = b;
    b = c;
  }
  [a, b, c] = [START, word.charCodeAt(0), word.length > 1 ? word.charCodeAt(1) : END];
  for (let at = 2; at <= word.length; at++) {
    const d = at < word.length ? word.charCodeAt(at) : END;
    addFeature(vector, mix(step(step(step(step(NGRAM_SEED, a), b), c), d)), weight);
    a = b;
    b = c;
    c = d;
  }
}

/** The remainder chooses the index, the top bit the sign. */
function addFeature(vector: Float32Array, hash: number, weight: number): void {
  const index = hash % vector.length;
  vector[index] = (vector[index] as number) + (hash >>> 31 === 0 ? weight : -weight);
}

/** FNV-1a. */
function hashWord(word: string): number {
  let hash = WORD_SEED;
  for (let i = 0; i < word.length; i++) hash = step(hash, word.charCodeAt(i));
  return mix(hash);
}

function step(hash: number, code: number): number {
  return Math.imul(hash ^ code, FNV_PRIME);
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
    const value = vector[i] as number;
    const size = Math.abs(value);
    sum += size;
    vector[i] = value < 0 ? -Math.sqrt(size) : Math.sqrt(size);
  }
  if (sum === 0) return vector;
  const scale = 1 / Math.sqrt(sum);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) * scale;
  return vector;
}
