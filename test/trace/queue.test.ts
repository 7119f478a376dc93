/** The queue before a store that comes and goes. */
import assert from "node:assert/strict";
import { suite } from "../lib/suite.js";
import { decodeBatch, encodeBatch } from "../../runtime/trace/ingest/batch.js";
import { Counters } from "../../runtime/trace/ingest/counters.js";
import { IngestQueue } from "../../runtime/trace/ingest/queue.js";
import { type BatchOutcome, StoreUnavailableError } from "../../runtime/trace/store/store.js";
import { incoming, until } from "./lib.js";

const test = suite("trace queue");

const OUTCOME: BatchOutcome = { stored: 1, duplicates: 0, sampledOut: 0, throttled: 0, throttledRuns: 0, elapsedMs: 1, lastSeq: 1 };

/** A queue of at most three events over a store that can be switched off. */
function setup() {
  const state = { away: false, tries: 0, written: 0, told: [] as (string | null)[], lost: 0 };
  const counters = new Counters();
  const queue = new IngestQueue({
    counters, maxEvents: 3, maxBytes: 1e9, batchSize: 1, lingerMs: 0, monotonic: () => performance.now(),
    store: {
      write: () => {
        state.tries += 1;
        if (state.away) return Promise.reject(new StoreUnavailableError("gone"));
        state.written += 1;
        return Promise.resolve(OUTCOME);
      },
    },
    onFailed: (_, events) => void (state.lost += events),
    onReach: (error) => void state.told.push(error?.message ?? null),
  });
  return { state, counters, queue };
}

const one = [incoming({ run_id: "r", event_type: "retry" })];

test("events wait for a store that can't be reached, up to the bound, and are stored when it is back", async () => {
  const { state, counters, queue } = setup();
  state.away = true;
  assert.equal(queue.offer(one, 10), null);
  await until(() => state.told.length === 1);
  assert.deepEqual([queue.offer(one, 10), queue.offer(one, 10), queue.offer(one, 10)], [null, null, "full"]);
  assert.deepEqual([queue.depth, counters.dropped], [3, 1]);
  state.away = false;
  await queue.flushed(0);
  assert.deepEqual([state.written, counters.processed, counters.dropped, state.told], [3, 3, 1, ["gone", null]]);
});

test("who waits for a commit gets an answer that it waits, and is refused while the store is away", async () => {
  const { state, counters, queue } = setup();
  state.away = true;
  assert.equal(queue.offer(one, 10, true), null);
  assert.ok((await queue.flushed(1)) instanceof StoreUnavailableError);
  assert.deepEqual([queue.offer(one, 10, true), counters.dropped, queue.depth], ["away", 1, 1]);
  state.away = false;
  await queue.flushed(0);
  assert.equal(queue.offer(one, 10, true), null);
  assert.equal(await queue.flushed(1), null);
});

test("a stop without a store ends, and counts what is lost", async () => {
  const { state, counters, queue } = setup();
  state.away = true;
  queue.offer(one, 10);
  queue.offer(one, 10);
  await until(() => state.told.length === 1);
  await queue.drain();
  assert.deepEqual([queue.depth, counters.dropped, state.lost, queue.offer(one, 10)], [0, 2, 2, "stopping"]);
});

/** A queue with batches of ten events over a store that takes one whenever it is told to. */
function gated() {
  const batches: string[][] = [];
  let take: () => void = () => undefined;
  let clock = 0;
  const queue = new IngestQueue({
    counters: new Counters(), maxEvents: 1000, maxBytes: 1e9, batchSize: 10, lingerMs: 0,
    // A slow store: one batch may wait, no more.
    monotonic: () => (clock += 1000),
    store: {
      write: (batch) => {
        batches.push(decodeBatch(batch).map((event) => event.summary));
        return new Promise((resolve) => (take = () => resolve({ ...OUTCOME, stored: batches.at(-1)?.length ?? 0 })));
      },
    },
    onFailed: () => undefined,
    onReach: () => undefined,
  });
  const events = (count: number, from: string) => Array.from({ length: count }, (_, index) => incoming({ run_id: "r", event_type: "retry", summary: `${from}${index}` }));
  const encoded = (count: number, from: string) => [{ data: encodeBatch(events(count, from)), count }];
  return { queue, batches, events, encoded, take: () => take() };
}

test("encoded events and others leave in the order in which they came, in batches of at most the size", async () => {
  const { queue, batches, events, encoded, take } = gated();
  queue.take(encoded(3, "a"));
  queue.take(encoded(4, "b"));
  queue.offer(events(2, "c"), 10);
  queue.take(encoded(6, "d"));
  queue.offer(events(7, "e"), 10);
  const flushed = queue.flushed(0);
  for (let taken = 0; taken < 22; taken = batches.flat().length) {
    take();
    await until(() => batches.flat().length > taken);
  }
  take();
  await flushed;
  const names = (from: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${from}${index}`);
  assert.deepEqual(batches.flat(), [...names("a", 3), ...names("b", 4), ...names("c", 2), ...names("d", 6), ...names("e", 7)]);
  assert.ok(batches.every((batch) => batch.length <= 10), String(batches.map((batch) => batch.length)));
});

test("answers are held back while the store is behind, and go one after the other as it catches up", async () => {
  const { queue, batches, encoded, take } = gated();
  const order: string[] = [];
  const pace = async (name: string, count: number): Promise<void> => {
    await queue.pace(count);
    order.push(name);
  };
  queue.take(encoded(10, "a"));
  await pace("nothing waits", 10);
  for (const from of ["b", "c", "d"]) queue.take(encoded(10, from));
  const held = [pace("first", 10), pace("second", 10)];
  await pace("small", 0);
  assert.deepEqual(order, ["nothing waits", "small"]);
  for (const count of [2, 3, 4]) {
    take();
    await until(() => batches.length === count);
  }
  await held[0];
  assert.deepEqual(order, ["nothing waits", "small", "first"]);
  take();
  await Promise.all(held);
  assert.deepEqual(order.at(-1), "second");
});

test("a batch that is lost counts as dropped and never as processed", async () => {
  const counters = new Counters();
  const lost: number[] = [];
  const queue = new IngestQueue({
    counters, maxEvents: 9, maxBytes: 1e9, batchSize: 2, lingerMs: 0, monotonic: () => 0, store: { write: () => Promise.reject(new Error("no")) }, onFailed: (_, events) => void lost.push(events), onReach: () => undefined,
  });
  queue.offer([...one, ...one], 10);
  assert.equal((await queue.flushed(2))?.message, "no");
  assert.deepEqual([counters.processed, counters.dropped, counters.lastLatencyMs, lost], [0, 2, null, [2]]);
});

test("p99 of the batches is the nearest rank over the last thousand", () => {
  const counters = new Counters();
  assert.equal(counters.p99(), null);
  counters.batch(1);
  counters.batch(9);
  assert.deepEqual([counters.p99(), counters.lastLatencyMs], [9, 9]);
  for (let elapsed = 1; elapsed <= 1000; elapsed++) counters.batch(elapsed);
  assert.equal(counters.p99(), 990);
});

test("a stop lets every answer go", async () => {
  const { queue, encoded, take } = gated();
  for (const from of ["a", "b", "c"]) queue.take(encoded(10, from));
  const held = queue.pace(10);
  const drained = queue.drain();
  await held;
  for (let left = 3; left > 0; left--) {
    const before = queue.depth;
    take();
    await until(() => queue.depth < before);
  }
  await drained;
});

test.run();
