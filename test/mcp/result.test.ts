import * as assert from "node:assert/strict";
import fc from "fast-check";
import type { Envelope } from "../../runtime/abi/call.js";
import type { Json } from "../../runtime/abi/plan.js";
import { envelopeResult, failureResult, payloadResult } from "../../runtime/mcp/result.js";
import { VERSIONS } from "../../runtime/mcp/versions.js";
import { suite } from "../lib/suite.js";

const test = suite("results");

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const envelope: fc.Arbitrary<Envelope> = fc.record({
  rows: fc.array(fc.dictionary(fc.string(), json, { maxKeys: 4 }), { maxLength: 4 }) as fc.Arbitrary<Envelope["rows"]>,
  count: fc.nat(),
  truncated: fc.boolean(),
  may_be_incomplete: fc.boolean(),
  exact_search: fc.boolean(),
  search_mode: fc.constantFrom("dense" as const, "hybrid" as const, "none" as const),
  warnings: fc.array(fc.oneof(fc.constantFrom("VB4030", "VB4031"), fc.string()), { maxLength: 3 }),
  latency_ms: fc.nat(),
  compiled_query: json,
  message: fc.option(fc.string({ unit: "binary" })),
});

test("an envelope is written with the very bytes that JSON.stringify would give", () => {
  fc.assert(
    fc.property(envelope, fc.constantFrom(...VERSIONS), (payload, version) => {
      assert.equal(envelopeResult(payload, version), payloadResult(payload, version));
    }),
    { numRuns: 500 },
  );
});

test("quotes, line breaks, lone surrogates and separators survive both levels of text", () => {
  const rows = [{ text: 'a"b\\c\n\u2028\ud800 😀 \u0000', '"key"': 1 }];
  const base: Envelope = { rows, count: 1, truncated: false, may_be_incomplete: false, exact_search: true, search_mode: "none", warnings: ['"'], latency_ms: 0, compiled_query: { sql: 'select "x"' }, message: "\n" };
  for (const version of VERSIONS) {
    const result = JSON.parse(envelopeResult(base, version));
    assert.deepEqual(JSON.parse(result.content[0].text), base);
    assert.deepEqual(result.structuredContent, version.structured ? base : undefined);
    assert.doesNotMatch(envelopeResult(base, version), /\n/);
  }
});

test("a failure has no structured content and one text item", () => {
  const failure = { code: "timeout", message: 'tool "x"\nlate', retryable: true, tool: "x" };
  const result = JSON.parse(failureResult(failure));
  assert.deepEqual(Object.keys(result), ["content", "isError"]);
  assert.deepEqual(JSON.parse(result.content[0].text), { error: failure });
});

test.run();
