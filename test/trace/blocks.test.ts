/** Texts of a run in blocks: they read as if each was stored alone, and leave no byte behind. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import Database from "better-sqlite3";
import fc from "fast-check";
import { detailsOf, hasPayload, LinePacker, payloadOf, summaryOf, unpackLines } from "../../runtime/trace/block.js";
import { decodeBatch, encodeBatch, joinBatches } from "../../runtime/trace/ingest/batch.js";
import { whole } from "../../runtime/trace/ingest/event.js";
import type { Incoming } from "../../runtime/trace/model.js";
import { openForReading, openForWriting } from "../../runtime/trace/store/sqlite/schema.js";
import { suite } from "../lib/suite.js";
import { incoming, type Json, type LocalStore, openLocalStore, temporaryDirectory } from "./lib.js";

const test = suite("trace blocks");

const CALLS = 40;
const long = (text: string): string => `${text} ${"and so on ".repeat(12)}`;

/** A run whose sender names its root: an agent and its model calls, each with long texts. `secret` is in one call alone. */
function longRun(id: string, secret = "nothing"): Json[] {
  const at = (ms: number): string => new Date(Date.UTC(2026, 10, 20) + ms).toISOString();
  const calls = Array.from({ length: CALLS }, (_, index) => {
    const call = { run_id: `${id}-${index}`, parent_run_id: id, root_run_id: id, agent_name: "model", model: "gpt-4o-mini" };
    const said = index === 7 ? secret : `answer ${index}`;
    return [
      { ...call, event_id: `${id}-${index}-s`, event_type: "chat_model_start", timestamp: at(index * 10 + 1), summary: long(`asked ${index}`), payload: { messages: [{ role: "user", content: long(`question ${index}`) }] }, attributes: { index, place: "start" } },
      { ...call, event_id: `${id}-${index}-e`, event_type: "llm_end", timestamp: at(index * 10 + 5), summary: long(`said ${said}`), payload: { messages: [{ role: "assistant", content: long(said) }] }, attributes: { index } },
    ];
  });
  const root = { run_id: id, root_run_id: id, agent_name: "helper" };
  return [
    { ...root, event_id: `${id}-s`, event_type: "chain_start", timestamp: at(0), payload: { inputs: { question: "who are you?" } } },
    ...calls.flat(),
    { ...root, event_id: `${id}-e`, event_type: "chain_end", timestamp: at(CALLS * 10), payload: { outputs: "a helper" } },
  ];
}

/** Events on the way that they take from the intake to the recorder. */
const packed = (...runs: readonly (readonly Json[])[]): Incoming[] => decodeBatch(joinBatches(runs.map((events) => encodeBatch(events.map(incoming), new LinePacker()))));

async function withStore(work: (store: LocalStore) => void | Promise<void>, options: Parameters<typeof openLocalStore>[1] = {}): Promise<void> {
  const directory = await temporaryDirectory();
  const store = openLocalStore(directory, options);
  try {
    await work(store);
  } finally {
    store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const journey = (store: LocalStore, runId: string): Json[] => {
  const page = store.reader.steps({ runId, cursor: null, limit: 5000, extended: true, payloads: true, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER });
  return page === null ? [] : (JSON.parse(`[${page.text}]`) as Json[]);
};
const search = (store: LocalStore, q: string) => store.reader.search({ q, scope: "all", limit: 50, offset: 0 });
/** What readers see of a store, without what depends on how payloads are compressed. */
const seen = (store: LocalStore, runId: string): unknown => ({
  run: store.reader.run(runId, true), steps: journey(store, runId).map((step) => ({ ...step, payload_bytes: step["payload_bytes"] !== null })),
  compared: store.reader.compare(runId, runId)?.rows.length, nested: store.reader.run(`${runId}-3`, true),
  found: search(store, "question 7").hits.map((hit) => hit.snippet), total: search(store, "answer").total,
});

/** Rows of a query on one of the files. */
function rows(path: string, sql: string): readonly Json[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare<[], Json>(sql).all();
  } finally {
    db.close();
  }
}

const count = (path: string, table: string): number => Number(rows(path, `SELECT count(*) AS n FROM ${table}`)[0]?.["n"]);

/** All bytes of a directory's databases, those that blocks and payloads decompress to included. */
function textOf(directory: string): string {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => /\.db(-wal)?$/.test(name));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(directory, name))));
  return bytes.toString("latin1");
}

const text = fc.string({ unit: "binary", maxLength: 4000 });

test("texts come out of a packed batch as they went in, whatever they are", () => {
  const payload = fc.option(fc.jsonValue().map((value) => JSON.stringify({ value })), { nil: null });
  const event = fc.record({ summary: text.map(whole), payload, attributes: payload, root: fc.constantFrom("a", "b", null), type: fc.constantFrom(2, 3, 11, 12, 17) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (given) => {
      const events = given.map(({ root, payload: json, type, ...texts }, index): Incoming => ({ ...incoming({ run_id: `${index}`, event_type: "retry" }), ...texts, type, payload: type === 17 ? null : json, rootId: root }));
      const read = decodeBatch(encodeBatch(events, new LinePacker()));
      assert.deepEqual(
        read.map((one) => ({ ...one, packed: null, summary: summaryOf(one), payload: payloadOf(one), attributes: detailsOf(one).attributes, has: hasPayload(one) })),
        events.map((one) => ({ ...one, has: one.payload !== null })),
      );
    }),
    { numRuns: 200 },
  );
});

test("a block has texts of one run, and of senders that name it", () => {
  const unnamed = longRun("u").map(({ root_run_id: _, ...event }) => event);
  const events = decodeBatch(encodeBatch([...longRun("a"), ...longRun("b"), ...unnamed].map(incoming), new LinePacker()));
  const blocks = new Map<unknown, Set<string | null>>();
  for (const { packed: place, rootId } of events) if (place !== null) blocks.set(place.block, (blocks.get(place.block) ?? new Set()).add(rootId));
  assert.deepEqual([...blocks.values()].map((roots) => [...roots]), [["a"], ["b"]]);
  assert.ok(events.filter(({ rootId }) => rootId === null).every(({ packed: place }) => place === null));
});

test("a run reads the same from blocks as from single texts: steps, payloads, search, previews", () =>
  withStore((store) => {
    store.writer.write(packed(longRun("r")));
    store.settle();
    assert.deepEqual([count(store.layout.traces, "details"), count(store.layout.payloads, "blocks"), count(store.layout.payloads, "payloads")], [1, 1, 0]);
    return withStore((other) => {
      other.writer.write(longRun("r").map(incoming));
      other.settle();
      assert.deepEqual(seen(store, "r"), seen(other, "r"));
      assert.equal(journey(store, "r").filter((step) => "full_payload" in step).length, 2 * CALLS + 2);
      assert.ok(search(store, "answer").total > 30);
    });
  }));

test("watched runs get the summaries and attributes of packed steps", () =>
  withStore((store) => {
    store.writer.watch("r", true);
    const { frames } = store.writer.write(packed(longRun("r")));
    const { summary, attributes } = JSON.parse(frames[1]?.extended ?? "{}") as Json;
    assert.deepEqual([summary, attributes], [long("asked 0"), { index: 0, place: "start" }]);
  }));

test("what a run was asked and answered is read without unpacking a block, also where models end after their root", () =>
  withStore((store) => {
    const [start, ...calls] = longRun("late-ends").map((event) => (event["run_id"] === "late-ends" ? { ...event, payload: null } : event));
    const end = calls.pop();
    const batch = packed([start ?? {}, ...calls.slice(0, -4), end ?? {}, ...calls.slice(-4)]);
    for (const { packed: place } of batch) if (place !== null) place.block.payload = () => assert.fail("a block was unpacked");
    store.writer.write(batch);
    const run = store.reader.run("late-ends", true);
    assert.match(JSON.stringify(run), new RegExp(`answer ${CALLS - 3} and so on`));
    assert.match(JSON.stringify(run), /question 0 and so on/);
  }));

test("sizes of packed payloads add up to those of their blocks, about, and to the counter", () =>
  withStore((store) => {
    store.writer.write(packed(longRun("r")));
    const [block] = rows(store.layout.payloads, "SELECT length(data) AS bytes FROM blocks");
    const [steps] = rows(store.layout.traces, "SELECT sum(payload) AS bytes FROM events");
    const [counter] = rows(store.layout.traces, "SELECT value AS bytes FROM counters WHERE name = 'payload_bytes'");
    assert.deepEqual(steps, counter);
    assert.ok(Math.abs(Number(block?.["bytes"]) - Number(steps?.["bytes"])) < 2 * CALLS, `${String(block?.["bytes"])} ${String(steps?.["bytes"])}`);
  }));

test("no byte of a deleted run stays in a block, and other runs are untouched", async () => {
  const directory = await temporaryDirectory();
  const store = openLocalStore(directory);
  store.writer.write(packed(longRun("gone", "FROBNICATE"), longRun("kept")));
  store.settle();
  const before = seen(store, "kept");
  const blocks = [...rows(store.layout.payloads, "SELECT data FROM blocks ORDER BY block"), ...rows(store.layout.traces, "SELECT data FROM details ORDER BY block")].map((row) => row["data"] as Buffer);
  assert.equal(blocks.length, 4);
  assert.ok(store.writer.deleteRun("gone"));
  store.settle();
  assert.deepEqual([count(store.layout.traces, "details"), count(store.layout.payloads, "blocks"), count(store.layout.traces, "events")], [1, 1, 2 * CALLS + 2]);
  assert.deepEqual({ ...(seen(store, "kept") as Json), total: null, found: null }, { ...(before as Json), total: null, found: null });
  store.close();
  const bytes = textOf(directory);
  // The run that was written first has the first block of each file.
  const held = blocks.map((data) => bytes.includes(data.toString("latin1")));
  assert.deepEqual([held, bytes.includes("gone-7")], [[false, true, false, true], false]);
  await rm(directory, { recursive: true, force: true });
});

test("no byte of a deleted nested run stays in a block, and the rest of the block is readable", async () => {
  const directory = await temporaryDirectory();
  const store = openLocalStore(directory);
  store.writer.write(packed(longRun("r", "XYZZYPLUGH")));
  store.settle();
  assert.equal(search(store, "xyzzyplugh").total, 1);
  const [block] = rows(store.layout.payloads, "SELECT data FROM blocks");
  const old = block?.["data"] as Buffer;
  assert.ok(unpackLines(old).some((line) => line.includes("XYZZYPLUGH")));
  const kept = journey(store, "r").filter((step) => step["run_id"] !== "r-7").map((step) => ({ ...step, payload_bytes: null }));
  assert.ok(store.writer.deleteRun("r-7"));
  store.settle();
  assert.equal(search(store, "xyzzyplugh").total, 0);
  assert.deepEqual(journey(store, "r").map((step) => ({ ...step, payload_bytes: null })), kept);
  assert.deepEqual([count(store.layout.payloads, "blocks"), count(store.layout.traces, "details"), count(store.layout.traces, "spent")], [0, 0, 0]);
  assert.equal(search(store, "answer").total, CALLS - 1);
  store.close();
  const bytes = textOf(directory);
  assert.deepEqual([bytes.includes(old.subarray(0, 200).toString("latin1")), bytes.includes("XYZZYPLUGH"), bytes.includes("xyzzyplugh")], [false, false, false]);
  for (const data of rows(join(directory, "blobs", "payloads.db"), "SELECT data FROM payloads")) assert.ok(!gunzipSync(data["data"] as Buffer).includes("XYZZYPLUGH"));
  await rm(directory, { recursive: true, force: true });
});

test("a stop before the old block of a deleted nested run is overwritten is made up for at the next deletion round", async () => {
  const directory = await temporaryDirectory();
  const first = openLocalStore(directory);
  first.writer.write(packed(longRun("r", "XYZZYPLUGH")));
  first.settle();
  assert.ok(first.writer.deleteRun("r-7"));
  first.close();
  const second = openLocalStore(directory);
  assert.equal(count(second.layout.payloads, "blocks"), 1);
  second.settle();
  assert.deepEqual([count(second.layout.payloads, "blocks"), count(second.layout.traces, "doomed"), journey(second, "r").length], [0, 0, 2 * CALLS]);
  second.close();
  await rm(directory, { recursive: true, force: true });
});

test("steps that are repeated, sampled out or over the cap leave no text in a block", () =>
  withStore(
    (store) => {
      const [first, ...rest] = longRun("r", "XYZZYPLUGH");
      store.writer.write([first ?? {}, ...rest.slice(0, 4)].map(incoming));
      const outcome = store.writer.write(packed([first ?? {}, ...rest]));
      assert.deepEqual([outcome.duplicates, outcome.stored > 0, outcome.throttled > 0], [5, true, true]);
      assert.equal(count(store.layout.payloads, "blocks"), 0);
      const stored = journey(store, "r");
      assert.ok(stored.every((step) => step["full_payload"] !== undefined && step["summary"] !== ""));
      assert.equal(JSON.stringify(rows(store.layout.payloads, "SELECT data FROM payloads").map((row) => gunzipSync(row["data"] as Buffer).toString())).includes("XYZZYPLUGH"), false);
    },
    { eventCap: 12 },
  ));

test("blocks of a batch that was not stored are gone at the next start", async () => {
  const directory = await temporaryDirectory();
  const first = openLocalStore(directory);
  first.writer.write(packed(longRun("r")));
  const { layout } = first;
  first.close();
  // As a process leaves it that died between the two commits.
  const payloads = new Database(layout.payloads);
  payloads.exec("INSERT INTO blocks SELECT block + 1000, data FROM blocks");
  payloads.close();
  const second = openLocalStore(directory);
  assert.equal(count(layout.payloads, "blocks"), 1);
  second.close();
  await rm(directory, { recursive: true, force: true });
});

test("a damaged or missing block costs its texts alone: the run and its other columns are there", () =>
  withStore((store) => {
    store.writer.write(packed(longRun("damaged"), longRun("missing"), longRun("whole")));
    for (const [path, table] of [[store.layout.traces, "details"], [store.layout.payloads, "blocks"]] as const) {
      const db = new Database(path);
      db.exec(`UPDATE ${table} SET data = x'00ff' WHERE block = (SELECT min(block) FROM ${table}); DELETE FROM ${table} WHERE block = (SELECT block FROM ${table} ORDER BY block LIMIT 1 OFFSET 1)`);
      db.close();
    }
    for (const id of ["damaged", "missing"]) {
      const steps = journey(store, id);
      assert.deepEqual([steps.length, new Set(steps.map((step) => step["summary"])), steps.some((step) => "full_payload" in step)], [2 * CALLS + 2, new Set([""]), false], id);
      assert.deepEqual(store.reader.payload(id, `${id}-3-s`), { miss: "lost" });
    }
    assert.ok(journey(store, "whole").every((step) => step["summary"] !== "" && "full_payload" in step));
    assert.ok(store.writer.deleteRun("damaged"));
    store.settle();
    assert.equal(store.reader.run("damaged", false), null);
  }));

test("a directory of the format before keeps its steps as they are, and takes blocks", async () => {
  const directory = await temporaryDirectory();
  const old = openLocalStore(directory);
  old.writer.write(longRun("old").map(incoming));
  old.settle();
  const before = seen(old, "old");
  const { layout } = old;
  old.close();
  const traces = openForWriting(layout, "traces");
  traces.exec("ALTER TABLE events DROP COLUMN block; ALTER TABLE events DROP COLUMN line; ALTER TABLE events DROP COLUMN details; DROP TABLE details; DROP TABLE spent; PRAGMA user_version = 11");
  traces.close();
  const payloads = openForWriting(layout, "payloads");
  payloads.exec("DROP TABLE blocks");
  payloads.close();
  assert.throws(() => openForReading(layout, "traces"), /made by an earlier release: start the service on it once/);
  const store = openLocalStore(directory);
  assert.deepEqual(seen(store, "old"), before);
  store.writer.write(packed(longRun("new")));
  assert.deepEqual([count(layout.payloads, "payloads"), count(layout.payloads, "blocks"), journey(store, "new").length], [2 * CALLS + 2, 1, 2 * CALLS + 2]);
  store.close();
  await rm(directory, { recursive: true, force: true });
});

test("payloads and texts are gzip on disk, and files of the format before are opened", async () => {
  const directory = await temporaryDirectory();
  const first = openLocalStore(directory);
  first.writer.write(packed(longRun("r")));
  first.settle();
  const before = seen(first, "r");
  const { layout } = first;
  first.close();
  for (const [path, table] of [[layout.traces, "details"], [layout.payloads, "blocks"]] as const) {
    const db = new Database(path);
    const stored = db.prepare(`SELECT data FROM ${table}`).pluck().all() as Buffer[];
    assert.ok(stored.length > 0 && stored.every((data) => gunzipSync(data).length > 0), table);
    db.close();
  }
  const traces = new Database(layout.traces);
  traces.pragma("user_version = 12");
  traces.close();
  const second = openLocalStore(directory);
  assert.deepEqual(seen(second, "r"), before);
  second.close();
  await rm(directory, { recursive: true, force: true });
});

test.run();
