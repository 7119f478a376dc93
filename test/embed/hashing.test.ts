import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { withCache } from "../../runtime/embed/cache.js";
import type { Embedder } from "../../runtime/embed/embedder.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { openEmbedder } from "../../runtime/embed/table.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("embed/local");
const signal = new AbortController().signal;

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

test("vectors have length one, and a text without words has none", () => {
  for (const dims of [256, 512, 1024]) {
    const vector = hashText("The Land Girls", dims);
    assert.equal(vector.length, dims);
    assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-6);
  }
  assert.ok(hashText("?! 🦊", 256).every((value) => value === 0));
});

test("vectors are the same on every machine: stored ones stay comparable", () => {
  const vector = hashText("Amélie 2001", 256);
  const first = [...vector.entries()].filter(([, value]) => value !== 0).slice(0, 4).map(([index, value]) => [index, Number(value.toFixed(6))]);
  assert.deepEqual(first, GOLDEN);
});

test("case, accents and compatibility forms make no difference", () => {
  assert.deepEqual(hashText("AMÉLIE", 256), hashText("amelie", 256));
  assert.deepEqual(hashText("ﬁlm №５", 256), hashText("film no5", 256));
  assert.deepEqual(hashText("STRASSE", 256), hashText("straße", 256));
});

test("the model name decides the dimensions; others are refused with the names there are", async () => {
  assert.equal((await openEmbedder({ provider: "local", model: "hashing-1024", config: {} })).dims, 1024);
  await assert.rejects(openEmbedder({ provider: "local", model: "toString", config: {} }), /'toString' needs config.model_dir.*; the built-in models are hashing-256/);
  await assert.rejects(openEmbedder({ provider: "other", model: "m", config: {} }), /provider 'other' is not available/);
  await assert.rejects(openEmbedder({ provider: "constructor", model: "m", config: {} }), /provider 'constructor' is not available/);
});

test("known films are found by misspelt, partial and exact titles", () => {
  const movies = JSON.parse(readFileSync(repo("node_modules/vega-datasets/data/movies.json"), "utf8")) as readonly { readonly [key: string]: unknown }[];
  const fields = ["Title", "Major Genre", "Creative Type", "Source", "Director", "Distributor"];
  const stored = movies.map((movie) => hashText(fields.map((field) => movie[field]).filter((value) => value !== null).map(String).join("\n"), 512));
  const titles = movies.map((movie) => String(movie["Title"]));
  const sample = titles.filter((title, index) => index % 17 === 0 && title.length >= 6);
  const recall = (change: (title: string, index: number) => string): number => sample.filter((title, index) => nearest(change(title, index)).includes(title)).length / sample.length;
  const nearest = (query: string): readonly string[] => {
    const vector = hashText(query, 512);
    const best: { readonly score: number; readonly title: string }[] = [];
    for (const [index, one] of stored.entries()) {
      const score = dot(vector, one);
      if (best.length === 5 && score <= (best[4]?.score ?? 0)) continue;
      best.push({ score, title: titles[index] ?? "" });
      best.sort((a, b) => b.score - a.score);
      best.length = Math.min(best.length, 5);
    }
    return best.map(({ title }) => title);
  };
  const found = { exact: recall((title) => title), swapped: recall(swapLetters), dropped: recall(dropLetter), start: recall((title) => title.slice(0, Math.ceil(title.length * 0.7))) };
  assert.ok(found.exact >= 0.98 && found.swapped >= 0.8 && found.dropped >= 0.8 && found.start >= 0.85, JSON.stringify(found));
}, { timeoutMs: 60_000 });

/** Two neighbours within the title change places. */
function swapLetters(title: string, index: number): string {
  const at = 1 + (index * 7) % (title.length - 3);
  return title.slice(0, at) + title.charAt(at + 1) + title.charAt(at) + title.slice(at + 2);
}

function dropLetter(title: string, index: number): string {
  const at = 1 + (index * 5) % (title.length - 2);
  return title.slice(0, at) + title.slice(at + 1);
}

test("a text asked again is not embedded again", async () => {
  const asked: string[][] = [];
  const embedder: Embedder = { provider: "p", model: "m", dims: 1, embed: async (texts) => (asked.push([...texts]), texts.map((text) => new Float32Array([text.length]))) };
  const cached = withCache(embedder);
  assert.deepEqual(await cached.embed(["a", "bb", "a"], signal), [new Float32Array([1]), new Float32Array([2]), new Float32Array([1])]);
  assert.deepEqual(await cached.embed(["bb", "ccc"], signal), [new Float32Array([2]), new Float32Array([3])]);
  assert.deepEqual(asked, [["a", "bb"], ["ccc"]]);
});

test("a batch that failed is asked again", async () => {
  let fail = true;
  const embedder: Embedder = { provider: "p", model: "m", dims: 1, embed: async (texts) => (fail ? Promise.reject(new Error("down")) : texts.map(() => new Float32Array(1))) };
  const cached = withCache(embedder);
  await assert.rejects(cached.embed(["a"], signal), /down/);
  fail = false;
  assert.equal((await cached.embed(["a"], signal)).length, 1);
});

/** First places of "Amélie 2001" in hashing-256; a change here breaks every store that was loaded before. */
const GOLDEN: readonly (readonly number[])[] = [[32, 0.235901], [39, 0.235901], [56, -0.235901], [106, -0.235901]];

test.run();
