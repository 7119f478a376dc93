/** The order in which ids are merged into their index. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { eventHash, placesInOrder, runHash } from "../../runtime/trace/store/sqlite/id-index.js";
import { suite } from "../lib/suite.js";

const test = suite("trace/id-index");

test("ids are put in the order of their upper bits, each once, and those that share them in the order of arrival", () => {
  const ids = fc.oneof(fc.uuid(), fc.uuid({ version: 7 }), fc.string({ maxLength: 60 }));
  fc.assert(fc.property(fc.array(fc.tuple(ids, ids), { maxLength: 300 }), fc.boolean(), (pairs, largest) => {
    const hashes = [...pairs.flatMap(([run, event]) => [eventHash(run, event), runHash(run)]), ...(largest ? [2 ** 52 - 1, 0, 2 ** 52 - 1] : [])];
    const places = [...placesInOrder(hashes)];
    const upper = (place: number): number => Math.floor((hashes[place] ?? 0) / 0x1_0000);
    assert.deepEqual(places, [...hashes.keys()].sort((a, b) => upper(a) - upper(b) || a - b));
  }), { numRuns: 200 });
});

test("more numbers than have a place are refused, and as many as have one are not", () => {
  const most = new Array<number>(0x2_0000).fill(2 ** 52 - 1);
  assert.equal(placesInOrder(most).at(-1), most.length - 1);
  assert.throws(() => placesInOrder([...most, 1]), /131073 numbers/);
});

test.run();
