/** Events as bytes between threads. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeBatch, encodeBatch, joinBatches } from "../../runtime/trace/ingest/batch.js";
import type { Incoming } from "../../runtime/trace/model.js";
import { suite } from "../lib/suite.js";

const test = suite("trace batch");

const text = fc.string({ unit: "binary" });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
const event: fc.Arbitrary<Incoming> = fc.record({
  eventId: text, fresh: fc.boolean(), runId: text, parentId: maybe(text), rootId: maybe(text), type: fc.nat(17), at: fc.maxSafeInteger(), agent: maybe(text),
  tool: maybe(text), server: maybe(text), summary: text, payload: maybe(text), tokensIn: maybe(fc.nat()), tokensOut: maybe(fc.nat()), error: maybe(text),
  tags: maybe(fc.array(text)), session: maybe(text), user: maybe(text), model: maybe(text), graph: maybe(text), attributes: maybe(text), isAgent: fc.boolean(),
  durationMs: maybe(fc.nat()), packed: fc.constant(null),
}, { noNullPrototype: true });

test("events come out of bytes as they went in, also of batches put end to end", () => {
  fc.assert(
    fc.property(fc.array(fc.array(event, { maxLength: 5 }), { maxLength: 4 }), (batches) => {
      assert.deepEqual(decodeBatch(joinBatches(batches.map((batch) => encodeBatch(batch)))), batches.flat());
    }),
  );
});

test("bytes of a batch are their own memory, which can be handed to a thread", () => {
  const bytes = encodeBatch([]);
  assert.equal(bytes.byteLength, bytes.buffer.byteLength);
});

test.run();
