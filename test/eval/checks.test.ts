/** Each check of an eval, met and not met. */
import assert from "node:assert/strict";
import type { Envelope } from "../../runtime/abi/call.js";
import type { Row } from "../../runtime/abi/filter.js";
import { checkCall, checkChoice, checkResult } from "../../generator/eval/checks.js";
import type { Expectations, Scenario } from "../../generator/eval/scenarios.js";
import { suite } from "../lib/suite.js";

const test = suite("eval/checks");

const result = (rows: readonly Row[], count = rows.length): Envelope => ({ rows, count, truncated: false, may_be_incomplete: false, exact_search: true, search_mode: "none", warnings: [], latency_ms: 1, compiled_query: null, message: null });
const scenario = (over: Partial<Scenario>): Scenario => ({ name: "s", request: "r", call: { tool: "a", arguments: { n: 1 }, context: {} }, expected_tool: null, expected_arguments: null, forbidden_tools: [], expect: {}, ...over });

const ROWS: readonly Row[] = [{ _id: "1", state: "paid", _score: 0.9, tags: ["x"] }, { _id: "2", state: "sent", _score: 0.4 }];

const CHECKS: readonly (readonly [met: Expectations, failed: Expectations, says: RegExp])[] = [
  [{ exact_rows: 2 }, { exact_rows: 3 }, /^exact_rows: 3 expected, 2 found$/],
  [{ min_rows: 2 }, { min_rows: 3 }, /^min_rows: at least 3/],
  [{ max_rows: 2 }, { max_rows: 1 }, /^max_rows: at most 1/],
  [{ count: 2 }, { count: 0 }, /^count: 0 expected, 2 found$/],
  [{ ids: [2, "1"] }, { ids: ["1"] }, /^ids: \["1"\] expected/],
  [{ forbidden_field_values: { state: "open" } }, { forbidden_field_values: { state: ["open", "sent"] } }, /^forbidden_field_values: row 2 has state = "sent"$/],
  [{ min_score: 0.4 }, { min_score: 0.5 }, /^min_score: row 2 has _score = 0.4, below 0.5$/],
  [{ forbidden: ["open"] }, { forbidden: ["sent"] }, /^forbidden: "sent"/],
  [{ row_field_equals: {} }, { row_field_equals: { state: "paid" } }, /^row_field_equals: row 2 has state = "sent", not "paid"$/],
  [{}, { error: "timeout" }, /^error: timeout expected, the call succeeded$/],
];

for (const [met, failed, says] of CHECKS) {
  test(`${Object.keys(failed)[0]} is met, or says what it found`, () => {
    assert.deepEqual(checkResult(met, result(ROWS)), []);
    const failures = checkResult(failed, result(ROWS));
    assert.equal(failures.length, 1);
    assert.match(failures[0] ?? "", says);
  });
}

test("checks of rows pass where there are no rows; null is no check", () => {
  assert.deepEqual(checkResult({ row_field_equals: { a: 1 }, forbidden_field_values: { a: 1 }, min_score: 1 }, result([])), []);
  assert.deepEqual(checkResult({ exact_rows: null, min_rows: null, min_score: null, row_field_equals: null, ids: null, forbidden: null, error: null }, result(ROWS)), []);
});

test("a score that is missing or no number is below every min_score", () => {
  assert.equal(checkResult({ min_score: 0 }, result([{ _id: 1 }, { _id: 2, _score: "9" }])).length, 1);
});

test("values are compared whole: lists, and null for a field that is missing", () => {
  assert.deepEqual(checkResult({ row_field_equals: { tags: ["x"] } }, result(ROWS.slice(0, 1))), []);
  assert.deepEqual(checkResult({ row_field_equals: { tags: null } }, result(ROWS.slice(1))), []);
  assert.deepEqual(checkResult({ forbidden_field_values: { tags: null } }, result(ROWS.slice(1))), [], "a field that is not there has no forbidden value");
});

test("the call itself is judged: expected tool and arguments exactly, forbidden tools", () => {
  assert.deepEqual(checkCall(scenario({ expected_tool: "a", expected_arguments: { n: 1 }, forbidden_tools: ["b"] })), []);
  assert.match(checkCall(scenario({ expected_tool: "b" }))[0] ?? "", /b expected, the call is of a/);
  assert.match(checkCall(scenario({ expected_arguments: {} }))[0] ?? "", /^expected_arguments: \{\} expected/);
  assert.match(checkCall(scenario({ forbidden_tools: ["a"] }))[0] ?? "", /^forbidden_tools/);
});

test("a model's choice is judged: the tool, arguments that are stated, forbidden tools, no tool at all", () => {
  const asked = scenario({ call: null, expected_tool: "a", expected_arguments: { n: 1 }, forbidden_tools: ["b"] });
  assert.deepEqual(checkChoice(asked, { tool: "a", arguments: { n: 1, limit: 5 } }), []);
  assert.deepEqual(checkChoice(asked, { tool: "b", arguments: { n: 1 } }), ["expected_tool: a expected, the model chose b", "forbidden_tools: the model chose b"]);
  assert.deepEqual(checkChoice(asked, { tool: null, arguments: {} }), ["expected_tool: a expected, the model chose no tool"]);
  assert.deepEqual(checkChoice(asked, { tool: "a", arguments: { n: "1" } }), ['expected_arguments: n = 1 expected, the model gave "1"']);
});

test("a long value does not fill the report", () => {
  assert.ok((checkResult({ row_field_equals: { t: "a" } }, result([{ t: "x".repeat(100_000) }]))[0] ?? "").length < 400);
});

test.run();
