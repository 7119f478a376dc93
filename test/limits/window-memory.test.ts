/** Sliding windows in memory, with a clock of the test's own. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { MemoryWindows } from "../../runtime/limits/window-memory.js";
import type { Window } from "../../runtime/limits/window.js";
import { suite } from "../lib/suite.js";

const test = suite("limits/window-memory");

const window = (key: string, limit: number, windowMs = 60_000): Window => ({ key, overflow: "overflow", limit, windowMs, what: key });

function clocked(maxKeys?: number): { readonly store: MemoryWindows; at(ms: number, ...windows: readonly Window[]): number } {
  let now = 0;
  const store = new MemoryWindows(() => now, maxKeys);
  return {
    store,
    at(ms, ...windows) {
      now = ms;
      return store.take(windows)?.retryAfterMs ?? 0;
    },
  };
}

test("the call after the limit waits until the oldest one is a window ago, to the millisecond", () => {
  const { at } = clocked();
  const three = window("a", 3);
  assert.deepEqual([at(0, three), at(1000, three), at(2000, three)], [0, 0, 0]);
  assert.equal(at(2000, three), 58_000);
  assert.equal(at(59_999, three), 1);
  assert.equal(at(60_000, three), 0, "the first has passed");
  assert.equal(at(60_000, three), 1000, "the second has not");
});

test("a refused call takes nothing, from the full window or from any other", () => {
  const { at } = clocked();
  const [full, roomy] = [window("full", 1), window("roomy", 2)];
  at(0, full, roomy);
  for (let n = 0; n < 10; n += 1) assert.ok(at(1000, full, roomy) > 0);
  assert.equal(at(2000, roomy), 0, "one unit of the other window is still there");
  assert.ok(at(2000, roomy) > 0);
  assert.equal(at(60_000, full), 0, "refusals do not prolong the wait");
});

test("of several full windows the longest wait counts", () => {
  const { at } = clocked();
  const [minute, hour] = [window("minute", 1), window("hour", 1, 3_600_000)];
  at(0, minute, hour);
  assert.equal(at(1000, minute, hour), 3_599_000);
});

test("no window ever has more calls than its limit, and a caller who waits for retry_after gets through", () => {
  const calls = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 400 });
  fc.assert(fc.property(fc.integer({ min: 1, max: 600 }), calls, (limit, gaps) => {
    const { at } = clocked();
    const own = window("a", limit, 1000);
    const taken: number[] = [];
    let now = 0;
    for (const gap of gaps) {
      now += gap;
      const wait = at(now, own);
      if (wait > 0) {
        assert.ok(wait <= 1000, "nobody waits longer than a window");
        now += wait;
        assert.equal(at(now, own), 0, "the wait was enough");
      }
      taken.push(now);
      assert.ok(taken.filter((time) => time > now - 1000).length <= limit);
    }
  }));
});

test("up to 256 calls a window the wait is not a millisecond too long", () => {
  const { at } = clocked();
  const own = window("a", 256, 1000);
  for (let n = 0; n < 256; n += 1) assert.equal(at(n, own), 0);
  assert.equal(at(256, own), 744);
  assert.equal(at(1000, own), 0);
  assert.equal(at(1000, own), 1);
});

test("a limit of a million is counted in a few hundred slots", () => {
  const { store, at } = clocked();
  const own = window("a", 1_000_000);
  for (let n = 0; n < 1_000_000; n += 1) assert.equal(at(n / 20, own), 0);
  assert.ok(at(50_000, own) > 0);
  const [counter] = [...(store as unknown as { counters: Map<string, { times: Float64Array }> }).counters.values()];
  assert.ok((counter?.times.length ?? 0) <= 512);
});

test("a limit that is lowered counts the calls that were", () => {
  const { at } = clocked();
  for (let n = 0; n < 5; n += 1) assert.equal(at(n * 1000, window("a", 5)), 0);
  assert.equal(at(5000, window("a", 2)), 58_000, "the fourth call has to pass");
  assert.equal(at(63_000, window("a", 2)), 0);
});

test("keys that count nothing any more are dropped while others come", () => {
  const { store, at } = clocked();
  for (let n = 0; n < 10_000; n += 1) at(n * 1000, window(`k${n}`, 1));
  assert.ok(store.size < 200, `${store.size}`);
});

test("many keys reset no limit: a full window stays full, and what finds no room shares one", () => {
  const { store, at } = clocked(100);
  assert.equal(at(0, window("victim", 1)), 0);
  const passed = Array.from({ length: 10_000 }, (_, n) => at(1, window(`k${n}`, 1))).filter((wait) => wait === 0).length;
  assert.ok(store.size <= 101, `${store.size} keys`);
  assert.ok(at(2, window("victim", 1)) > 0, "still full");
  assert.equal(passed, 100, "99 keys with a window each, one shared by all others");
  assert.equal(at(61_000, window("later", 1)), 0, "there is room again when windows have passed");
});

test("a counter of the same call is not swept away by the next window's key", () => {
  const { at } = clocked(2);
  for (let n = 0; n < 50; n += 1) {
    const [one, two] = [window(`a${n}`, 1), window(`b${n}`, 1)];
    const start = n * 120_000;
    assert.equal(at(start, one, two), 0);
    assert.ok(at(start + 1, one) > 0, `call ${n} was counted`);
  }
});

test.run();
