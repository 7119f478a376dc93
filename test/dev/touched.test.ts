/** Which scenarios an edit touches. */
import assert from "node:assert/strict";
import { compile } from "../../generator/compile.js";
import { digestsOf, touchedScenarios } from "../../generator/dev/touched.js";
import { readScenarios, type Scenario } from "../../generator/eval/scenarios.js";
import { suite } from "../lib/suite.js";

const test = suite("dev/touched");

const CATALOG = `tds_version: "2"
connections:
  main: { backend: sqlite, path: notes.db }
defaults: { embedding: { model: hashing-256 } }
tools:
  - { name: first, kind: count, description: "Count the notes that are open. Use for open notes.", target: { connection: main, collection: notes }, static_filters: [{ path: state, value: open }] }
  - { name: second, kind: count, description: "Count all notes of the team. Use for all notes.", target: { connection: main, collection: notes } }
`;
const scenariosOf = (text: string): readonly Scenario[] => {
  const { scenarios } = readScenarios({ path: "s.yaml", text }, ["first", "second"], "tools.yaml");
  assert.ok(scenarios);
  return scenarios;
};
const SCENARIOS = "scenarios:\n  - { name: a, call: { tool: first } }\n  - { name: b, call: { tool: second } }\n  - { name: c, request: How many?, expected_tool: first }\n";
const plansOf = (text: string) => {
  const { value, diagnostics } = compile({ path: "tools.yaml", text }, { target: "describe" });
  assert.ok(value, JSON.stringify(diagnostics));
  return value.plans;
};

const EDITS: readonly (readonly [what: string, catalog: string, scenarios: string, env: ReadonlyMap<string, string>, touched: readonly string[]])[] = [
  ["nothing", CATALOG, SCENARIOS, new Map(), []],
  ["a comment", `# hello\n${CATALOG}`, SCENARIOS, new Map(), []],
  ["a guard", CATALOG.replace("value: open", "value: done"), SCENARIOS, new Map(), ["a"]],
  ["a description", CATALOG.replace("all notes of the team", "every note of the team"), SCENARIOS, new Map(), ["b"]],
  ["a connection", CATALOG.replace("notes.db", "other.db"), SCENARIOS, new Map(), ["a", "b"]],
  ["roles", CATALOG.replace("tools:", 'security: { rbac: { enabled: true, default_role: all, roles: { all: { allow: ["*"] } } } }\ntools:'), SCENARIOS, new Map(), ["a", "b"]],
  ["a value of the environment", CATALOG, SCENARIOS, new Map([["X", "1"]]), ["a", "b"]],
  ["a scenario", CATALOG, SCENARIOS.replace("{ tool: second }", "{ tool: second, context: { tenant: x } }"), new Map(), ["b"]],
  ["a new name", CATALOG, SCENARIOS.replace("name: b", "name: bb"), new Map(), ["bb"]],
];

for (const [what, catalog, text, env, touched] of EDITS) {
  test(`an edit of ${what} touches ${touched.length === 0 ? "no scenario" : touched.join(" and ")}`, () => {
    const before = digestsOf(plansOf(CATALOG), new Map(), scenariosOf(SCENARIOS));
    const scenarios = scenariosOf(text);
    assert.deepEqual(touchedScenarios(scenarios, before, digestsOf(plansOf(catalog), env, scenarios)).map(({ name }) => name), touched);
  });
}

test("at the start every scenario with a call is run", () => {
  const scenarios = scenariosOf(SCENARIOS);
  assert.deepEqual(touchedScenarios(scenarios, null, digestsOf(plansOf(CATALOG), new Map(), scenarios)).map(({ name }) => name), ["a", "b"]);
});

test.run();
