/** Payloads that become JSON when they are read: they read as if they had been written at once. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { beginning, deferredPayload, settledPayload, structured } from "../../runtime/trace/deferred.js";
import { suite } from "../lib/suite.js";

const test = suite("trace deferred payloads");

const SHOWN = 200;
const REST = ',"finish_reasons":["stop"]';
const eager = (text: string): string => `{"messages":${JSON.stringify(structured(text))}${REST}}`;
const long = "word ".repeat(80);

test("a deferred payload reads as the one that is written at once, and begins like it", () => {
  const part = fc.record({ type: fc.constant("text"), content: fc.oneof(fc.string({ unit: "binary" }), fc.constant(long), fc.jsonValue().map((value) => JSON.stringify(value))) });
  let deferred = 0;
  fc.assert(
    fc.property(fc.array(fc.record({ role: fc.constantFrom("user", "assistant"), parts: fc.array(part, { maxLength: 4 }) }), { maxLength: 6 }), fc.integer({ min: 0, max: 1 }), (messages, spaces) => {
      const text = JSON.stringify(messages, null, spaces).replaceAll("\n", " ");
      const payload = deferredPayload("messages", text, REST, SHOWN);
      if (payload === null) return;
      deferred += 1;
      assert.equal(settledPayload(payload), eager(text));
      assert.deepEqual(beginning(payload, SHOWN), { text: eager(text).slice(0, SHOWN), isAll: false });
    }),
    { numRuns: 500 },
  );
  assert.ok(deferred > 20, `${deferred} of 500`);
});

test("what would be written in another way is not deferred: spaces, escapes, fractions, names that are numbers, prose", () => {
  const tail = `"${long}"]`;
  for (const head of [`[ {"a":1},`, `[{"a": 1},`, `["\\u0041",`, `["a\\/b",`, `[1.50,`, `[1e3,`, `[-0,`, `[12345678901234567890,`, `[{"2":0,"1":0},`, ` [1,`]) assert.equal(deferredPayload("messages", head + tail, "", SHOWN), null, head);
  assert.equal(deferredPayload("messages", `[he said] ${long}`, "", SHOWN), null);
  assert.equal(deferredPayload("messages", `"a text",${long}`, "", SHOWN), null);
  assert.equal(deferredPayload("messages", `["short"]`, "", SHOWN), null);
  assert.equal(deferredPayload("messages", `["${long}",\n1]`, "", SHOWN), null, "a block has one line a step");
  assert.notEqual(deferredPayload("messages", `[{"a":1,"b":[true,null,"\\n\\""]},${tail}`, "", SHOWN), null);
});

test("a text that was cut, or is nested deeper than can be written, stays a text", () => {
  const cut = `[{"role":"user","content":"${long}`;
  assert.deepEqual(JSON.parse(settledPayload(deferredPayload("messages", cut, "", SHOWN) ?? "")), { messages: cut });
  const deep = `[{"role":"user","content":"${long}"},${"[".repeat(100_000)}${"]".repeat(100_000)}]`;
  const settled = JSON.parse(settledPayload(deferredPayload("messages", deep, "", SHOWN) ?? "")) as { messages: unknown };
  assert.equal(settled.messages, deep);
});

test("JSON that is no deferred payload is what it is", () => {
  for (const payload of ["{}", '{"messages":"\\u0001a"}', '{"\\u0002":1}']) assert.deepEqual([settledPayload(payload), beginning(payload, 5)], [payload, { text: payload.slice(0, 5), isAll: payload.length <= 5 }]);
});

test.run();
