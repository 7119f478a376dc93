/** Filters over texts in the embedded store: their work is divided, and what they select is what `evaluate` selects. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { evaluate, type Filter, type Row } from "../../runtime/abi/filter.js";
import { scanRows } from "../../runtime/adapters/sqlite/scan.js";
import type { Turns } from "../../runtime/base/turns.js";
import { Session } from "../../runtime/adapters/sqlite/session.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { suite } from "../lib/suite.js";
import { DIMS, fill, MODEL, never, record, scratch, storeOf } from "./store.js";

const test = suite("sqlite scan");
const COUNT = 40;
const payload = (i: number): Row => ({ title: i % 3 === 0 ? `Übung ${i}` : `plain ${i}`, lang: i % 2 === 0 ? "en" : "de" });
const LIKE: Filter = { and: [{ path: "lang", op: "eq", value: "en" }, { and: [{ path: "title", op: "like", value: "übung%" }] }] };

/** A clock by which every look at it is a turn's time later. */
function slowClock(): Turns & { yields: number } {
  let now = 0;
  const turns = { yields: 0, nowMs: () => (now += 10), yield: async () => void turns.yields++ };
  return turns;
}

async function scanned(filter: Filter, turns: Turns, signal = never): Promise<readonly number[]> {
  const { folder, remove } = scratch();
  await fill(folder, Array.from({ length: COUNT }, (_, i) => record(String(i), payload(i))), "things");
  const session = await Session.open({ file: join(folder, "store.db"), name: "store.db", load: "" });
  try {
    const collection = await session.begin(signal, () => session.collections.get("things"));
    return (await scanRows(session, collection, filter, signal, turns)).rows;
  } finally {
    session.end();
    session.close();
    remove();
  }
}

test("a turn of the event loop ends after the record that used up its time", async () => {
  const turns = slowClock();
  const rows = await scanned(LIKE, turns);
  assert.equal(turns.yields, COUNT / 2, "the records in English, one a turn; the others are left out by SQLite");
  assert.equal(rows.length, 7);
});

test("a filter that is quick stays in one turn", async () => {
  const turns: Turns = { nowMs: () => 0, yield: () => assert.fail("nothing is slow") };
  assert.equal((await scanned({ path: "title", op: "like", value: "%übung%" }, turns)).length, 14);
});

test("a scan ends when its call does, and leaves the session usable", async () => {
  const abort = new AbortController();
  const turns = slowClock();
  const stopping: Turns = { nowMs: turns.nowMs, yield: async () => abort.abort(new Error("the client is gone")) };
  await assert.rejects(scanned(LIKE, stopping, abort.signal), /the client is gone/);
});

test("fetch, count and both searches select by texts what evaluate selects", async () => {
  const { folder, remove } = scratch();
  const records = Array.from({ length: COUNT }, (_, i) => record(String(i), payload(i)));
  const store = await storeOf(folder, records);
  const filters: readonly Filter[] = [
    LIKE, { path: "title", op: "like", value: "%übung%" }, { path: "title", op: "text_match", value: "ubung" }, { path: "title", op: "like", value: "nothing" },
    { or: [{ path: "title", op: "like", value: "plain 1_" }, { path: "lang", op: "eq", value: "en" }] }, { path: "absent", op: "like", value: "%" },
  ];
  for (const filter of filters) {
    const want = records.filter(({ id, record }) => evaluate(filter, { ...record, _id: id })).map(({ id }) => id).sort();
    const { rows } = await store.fetch({ collection: "things", filter, limit: COUNT, offset: 0, fields: null }, never);
    assert.deepEqual(rows.map((row) => row["_id"]), want);
    assert.equal(await store.count("things", filter, never), want.length);
    for (const mode of ["dense", "hybrid"] as const) {
      const found = await store.search({ collection: "things", vector: hashText("plain", DIMS), text: "plain", mode, alpha: 0.5, filter, limit: COUNT, fields: null, embeddedBy: MODEL }, never);
      assert.deepEqual(found.rows.map((row) => String(row["_id"])).sort(), want);
    }
  }
  await store.close();
  remove();
});

test.run();
