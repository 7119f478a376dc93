/** The queue before a store that comes and goes. */
import assert from "node:assert/strict";
import { suite } from "../lib/suite.js";
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

test("who waits for a commit is told that it waits, and is refused while the store is away", async () => {
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

test.run();
