import * as assert from "node:assert/strict";
import { compareText } from "../../runtime/abi/filter.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { suite } from "../lib/suite.js";
import { DIMS, MODEL, never, record, scratch, storeOf } from "./store.js";

const test = suite("adapters/sqlite slices");

test("a collection of more than one slice is searched like one that fits", async () => {
  const { folder, remove } = scratch();
  const words = ["red", "fox", "lazy", "dog", "quick", "brown", "moon"];
  const records = Array.from({ length: 33_500 }, (_, n) => record(`r${n}`, { n, odd: n % 2 }, `${words[n % 7]} ${words[(n * 3) % 5]} ${n % 11}`));
  const store = await storeOf(folder, records);
  const vector = hashText("red fox 3", DIMS);
  const dot = (text: string): number => hashText(text, DIMS).reduce((sum, value, index) => sum + value * (vector[index] ?? 0), 0);
  const scores = new Map([...new Set(records.map(({ text }) => text))].map((text) => [text, dot(text)]));
  const expected = records
    .filter(({ record: { odd } }) => odd === 1)
    .map(({ id, text }) => ({ id, score: scores.get(text) ?? 0 }))
    .sort((a, b) => b.score - a.score || compareText(a.id, b.id))
    .slice(0, 500);
  let ticks = 0;
  const timer = setInterval(() => void ticks++, 0);
  const { rows } = await store.search({ collection: "things", vector, text: "red fox 3", mode: "dense", alpha: 0.5, filter: { path: "odd", op: "eq", value: 1 }, limit: 500, fields: null, embeddedBy: MODEL }, never);
  clearInterval(timer);
  assert.deepEqual(rows.map((row) => row["_id"]), expected.map(({ id }) => id));
  assert.ok(ticks > 0, "other work got its turn");

  const client = new AbortController();
  const cancelled = store.search({ collection: "things", vector, text: "x", mode: "dense", alpha: 0.5, filter: null, limit: 5, fields: null }, client.signal);
  setImmediate(() => client.abort(new Error("gone")));
  await assert.rejects(cancelled, /gone/);
  await store.close();
  remove();
}, { timeoutMs: 60_000 });

test.run();
