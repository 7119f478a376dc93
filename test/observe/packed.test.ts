/** Calls on their way to the thread of the spans arrive as they were sent. */
import assert from "node:assert/strict";
import { CallPacker, unpackCalls } from "../../runtime/observe/spans/packed.js";
import type { CallTrace } from "../../runtime/observe/spans/call-trace.js";
import { suite } from "../lib/suite.js";

const test = suite("observe/packed");

const STEP = { kind: "store", operation: "search", target: "main/things", attributes: { backend: "sqlite", limit: 5 }, startMs: 1.5, endMs: 2.25, code: null, count: 3 } as const;
const FULL: CallTrace = {
  subject: 7, traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", parentId: "00f067aa0ba902b7", called: "gu\u0000ess é 😀 \ud800", requestId: "r-1", principal: "ada",
  startMs: 1_700_000_000_000.123, endMs: 1_700_000_000_002.5, code: "timeout", count: 3_000_000_000, truncated: true, steps: [STEP, { ...STEP, code: "unreachable", count: null }],
};
const BARE: CallTrace = { ...FULL, subject: 0, traceId: null, spanId: null, parentId: null, called: null, requestId: "", principal: null, code: null, count: 0, truncated: false, steps: [] };

test("every field of a call crosses unchanged, absent ones and empty texts apart", () => {
  const packer = new CallPacker(4);
  for (const call of [FULL, BARE, FULL]) packer.add(call);
  const batch = packer.take();
  assert.equal(batch.count, 3);
  assert.deepEqual(unpackCalls(batch), [FULL, BARE, FULL]);
});

test("a batch has nothing of the one before it", () => {
  const packer = new CallPacker(2);
  packer.add(FULL);
  packer.take();
  packer.add(BARE);
  const batch = packer.take();
  assert.deepEqual([unpackCalls(batch), packer.count], [[BARE], 0]);
  assert.equal(packer.take().count, 0);
});

test("texts beyond the usual length make the batch larger and are not cut", () => {
  const packer = new CallPacker(3);
  const long = { ...FULL, steps: Array.from({ length: 500 }, () => STEP) };
  for (const call of [FULL, long, long]) packer.add(call);
  assert.deepEqual(unpackCalls(packer.take()), [FULL, long, long]);
});

test("what crosses is no larger than what is in it", () => {
  const packer = new CallPacker(256);
  packer.add(BARE);
  const { numbers, texts } = packer.take();
  assert.deepEqual([numbers.buffer.byteLength, texts.buffer.byteLength], [13 * 8, 0]);
});

test.run();
