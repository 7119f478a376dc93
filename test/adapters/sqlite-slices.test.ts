import * as assert from "node:assert/strict";
import type { SearchRequest } from "../../runtime/adapters/adapter.js";
import { compareText } from "../../runtime/abi/filter.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { isBackendError } from "../../runtime/abi/errors.js";
import { SearchPool } from "../../runtime/adapters/sqlite/search-pool.js";
import { threadEntry } from "../../runtime/base/thread.js";
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
  const late = AbortSignal.abort(new Error("too late"));
  await assert.rejects(store.search({ collection: "things", vector, text: "x", mode: "dense", alpha: 0.5, filter: null, limit: 5, fields: null }, late), /too late/);
  const after = await store.search({ collection: "things", vector, text: "x", mode: "dense", alpha: 0.5, filter: { path: "n", op: "eq", value: 7 }, limit: 5, fields: null }, never);
  assert.deepEqual(after.rows.map((row) => row["_id"]), ["r7"], "a cancelled search leaves its thread usable");
  await store.close();
  remove();
}, { timeoutMs: 60_000 });

const request: SearchRequest = { collection: "things", vector: hashText("red", DIMS), text: null, mode: "dense", alpha: 0.5, filter: null, limit: 5, fields: null };

test("a search whose thread ends rejects as one that may be tried again, and the next one has another thread", async () => {
  const pool = new SearchPool({ file: "none.db", name: "none.db", load: "" }, { entry: threadEntry("./dying-thread", import.meta.url) });
  const searches = Array.from({ length: 9 }, () => pool.search(request, never).catch((error: unknown) => error));
  for (const error of await Promise.all(searches)) {
    assert.ok(isBackendError(error) && error.kind === "unreachable" && error.retryable, String(error));
    assert.match(error.message, /^the thread of a search ended before its answer; try again$/);
  }
  pool.close();
}, { timeoutMs: 60_000 });

test("an error in a thread keeps its kind, and the file is named in its cause only", async () => {
  const pool = new SearchPool({ file: "/nowhere/none.db", name: "none.db", load: "toolsrv load" });
  const error: unknown = await pool.search(request, never).catch((reason: unknown) => reason);
  assert.ok(isBackendError(error) && error.kind === "not_found");
  assert.equal(error.message, "the database does not exist; create it with: toolsrv load");
  assert.equal((error.cause as Error).message, "database 'none.db'");
  pool.close();
}, { timeoutMs: 60_000 });

test.run();
