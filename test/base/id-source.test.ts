/** Ids are UUIDs of version 7: their time can be read from them, and they sort in the order of their making. */
import assert from "node:assert/strict";
import { createIdSource } from "../../runtime/base/id-source.js";
import { suite } from "../lib/suite.js";

const test = suite("base/id-source");

test("an id has the form of UUID version 7 and begins with its time, on both sides of every carry", () => {
  const start = 0x0199abcde000;
  for (const ms of [0, 1, 4095, 4096, start - 1, start, start + 0xfff, start + 0x1000, 2 ** 48 - 1]) {
    const id = createIdSource(() => ms + 0.7)();
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16), ms, id);
  }
});

test("ids ascend: within a millisecond, beyond 4,096 of them, and when the clock steps back", () => {
  const times = [...Array<number>(5000).fill(1_700_000_000_000), 1_700_000_000_005, 1_600_000_000_000, 1_700_000_004_096, 1_700_000_008_192];
  let at = 0;
  const next = createIdSource(() => times[at++] ?? 0);
  const ids = times.map(() => next());
  assert.deepEqual(ids, [...ids].sort());
  assert.equal(new Set(ids).size, ids.length);
});

test.run();
