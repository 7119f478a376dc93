/** Scenarios files: what is read, and where each mistake is reported. */
import assert from "node:assert/strict";
import { locateAll } from "../../generator/diagnostics.js";
import { readScenarios } from "../../generator/eval/scenarios.js";
import { suite } from "../lib/suite.js";

const test = suite("eval/scenarios");

const read = (text: string) => readScenarios({ path: "s.yaml", text }, ["search_things", "count_things"], "tools.yaml");
const problems = (text: string): readonly string[] => {
  const { scenarios, diagnostics, source } = read(text);
  assert.equal(scenarios, null, "nothing runs");
  return locateAll(diagnostics, source).filter(({ severity }) => severity === "error").map(({ code, line, column }) => `${code} ${line}:${column}`);
};

test("a scenario has what is written and defaults for the rest; its name is its number", () => {
  const { scenarios } = read("scenarios:\n  - call: { tool: count_things }\n  - { name: b, request: How many?, expected_tool: count_things, forbidden_tools: [search_things] }\n");
  assert.deepEqual(scenarios, [
    { name: "scenario-1", request: null, call: { tool: "count_things", arguments: {}, context: {} }, expected_tool: null, expected_arguments: null, forbidden_tools: [], expect: {} },
    { name: "b", request: "How many?", call: null, expected_tool: "count_things", expected_arguments: null, forbidden_tools: ["search_things"], expect: {} },
  ]);
});

test("JSON is read as well", () => {
  assert.equal(read('{"scenarios": [{"name": "a", "call": {"tool": "count_things", "arguments": {}}}]}').scenarios?.length, 1);
});

const one = (lines: string): string => `scenarios:\n  - name: a\n    call: { tool: search_things, arguments: {} }\n${lines}`;
const WRONG: readonly (readonly [what: string, text: string, problem: string])[] = [
  ["an unknown key of the file", "scenario: []\nscenarios:\n  - call: { tool: count_things }\n", "TS0112 1:1"],
  ["an unknown key of a scenario", one("    expects: {}\n"), "TS0112 4:5"],
  ["an unknown check", one("    expect: { exact_row: 1 }\n"), "TS0112 4:15"],
  ["an unknown key of a call", "scenarios:\n  - call: { tool: count_things, args: {} }\n", "TS0112 2:33"],
  ["an unknown key of a context", "scenarios:\n  - call: { tool: count_things, context: { claim: {} } }\n", "TS0112 2:44"],
  ["a number that is text", one("    expect: { exact_rows: many }\n"), "TS0102 4:27"],
  ["a negative number of rows", one("    expect: { min_rows: -1 }\n"), "TS0106 4:25"],
  ["rows that are no mapping", one("    expect: { row_field_equals: [a] }\n"), "TS0102 4:33"],
  ["a tool that does not exist", "scenarios:\n  - call: { tool: serch_things }\n", "TS0701 2:19"],
  ["an expected tool that does not exist", one("    expected_tool: other\n"), "TS0701 4:20"],
  ["a forbidden tool that does not exist", one("    forbidden_tools: [count_things, other]\n"), "TS0701 4:37"],
  ["a call without a tool", "scenarios:\n  - call: { arguments: {} }\n", "TS0101 2:5"],
  ["neither call nor request", "scenarios:\n  - name: a\n", "TS0702 2:5"],
  ["a request without an expectation", "scenarios:\n  - request: hm\n", "TS0702 2:14"],
  ["an expectation without a call", "scenarios:\n  - { request: hm, expected_tool: count_things, expect: { min_rows: 1 } }\n", "TS0702 2:49"],
  ["a name twice", `${one("")}  - { name: a, call: { tool: count_things } }\n`, "TS0703 4:13"],
  ["no scenarios", "scenarios: []\n", "TS0107 1:12"],
  ["a list", "- a\n", "TS0102 1:1"],
  ["no YAML", "scenarios: [\n", "TS0001 2:1"],
  ["nothing", "", "TS0101 null:null"],
];

for (const [what, text, problem] of WRONG) {
  test(`reported with its place: ${what}`, () => assert.deepEqual(problems(text), [problem]));
}

test("a near miss is named", () => {
  assert.match(read("scenarios:\n  - call: { tool: serch_things }\n").diagnostics[0]?.help ?? "", /did you mean 'search_things'/);
});

test.run();
