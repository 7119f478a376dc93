/** Spellings that existing catalogs have: the compiler and the proof read them alike, so none is a false TS0401. */
import assert from "node:assert/strict";
import { parse } from "../../generator/1-parse/index.js";
import { withExactValues } from "../../generator/proof/lenient.js";
import { readStockYaml } from "../../generator/proof/stock-yaml.js";
import { suite } from "../lib/suite.js";
import { compiled, diagnosed } from "../phases/source.js";

const test = suite("lenient spellings");

/** A boolean or a number at every kind of place: keys, lists, alternatives, maps, connections. */
const catalog = (yes: string, no: string, number: (n: number) => string): string => `tds_version: "2"
deadline_s: ${number(2.5)}
connections:
  main:
    backend: sqlite
    path: ./main.db
    builtin_tools: { semantic_search: ${yes}, count: ${yes}, get_by_id: ${no} }
    builtin_defaults: { output: { include_id: ${no}, limit_max: ${number(7)}, limit_default: ${number(3)} } }
defaults: { embedding: { model: hashing-256, dims: ${number(256)} } }
security:
  rbac: { enabled: ${yes}, roles: { a: { allow: ["*"] } } }
authoring: { define_tool: ${no} }
tools:
  - name: find_things
    kind: scroll
    description: Find things of the store by their texts, for anything.
    target: { connection: main, collection: things }
    static_filters: [{ path: flag, value: true }, { path: text, value: "yes" }, { path: size, op: in, value: [1, "400"] }]
    output: { include_id: ${yes}, include_score: ${no}, max_field_length: ${number(400)}, limit_default: ${number(5)}, limit_max: ${number(10)} }
    parameters: [{ name: owner, path: owner, required: ${no}, default: "on", resolve: { kind: directory, field: name, cache_ttl_s: ${number(5)}, min_confidence: ${number(0.5)} } }]
  - name: group_things
    kind: pipeline
    description: Group things of the store by their owner, for anything.
    query: { param: query, required: ${yes}, alpha: ${number(0.25)} }
    steps:
      - retrieve: { target: { connection: main, collection: things }, fetch: { overfetch_factor: ${number(4)} } }
      - sort: { by: size, desc: ${no} }
`;
const EXACT = catalog("true", "false", String);
const SPELLINGS: readonly (readonly [yes: string, no: string, number: (n: number) => string])[] = [
  ['"yes"', '"no"', (n) => `"${n}"`], ['"on"', '"OFF"', (n) => `" ${n} "`], ["1", "0", (n) => `"+${n}"`], ['"1"', '"0"', (n) => `"${n}e0"`],
  ['"T"', '"f"', String], ['"Y"', '"n"', String], ['"True"', '"FALSE"', String], ["yes", "off", String],
];

test("a catalog in lenient spellings has the plans and the certificates of the exact one", () => {
  const exact = compiled(EXACT).value;
  assert.ok(exact);
  for (const [yes, no, number] of SPELLINGS) {
    const { value, diagnostics } = compiled(catalog(yes, no, number));
    assert.deepEqual(diagnostics.filter(({ severity }) => severity === "error"), [], yes);
    assert.deepEqual([value?.plans.tools, value?.plans.settings, value?.certificates], [exact.plans.tools, exact.plans.settings, exact.certificates], yes);
  }
});

test("compiler and proof read each spelling at each place alike", () => {
  for (const [yes, no, number] of SPELLINGS) {
    const text = catalog(yes, no, number);
    assert.deepEqual(withExactValues(readStockYaml(text)), parse({ path: "tools.yaml", text }).value?.value, yes);
  }
  assert.deepEqual(withExactValues(readStockYaml(EXACT)), readStockYaml(EXACT));
});

test("values without a type are never read as another one", () => {
  const tools = (withExactValues(readStockYaml(catalog('"yes"', '"no"', (n) => `"${n}"`))) as { readonly tools: readonly { readonly [key: string]: unknown }[] }).tools;
  assert.deepEqual(tools[0]?.["static_filters"], [{ path: "flag", value: true }, { path: "text", value: "yes" }, { path: "size", op: "in", value: [1, "400"] }]);
  assert.equal((tools[0]?.["parameters"] as readonly { readonly default?: unknown }[])[0]?.default, "on");
});

test("a spelling that is none is refused by the compiler, with its place", () => {
  const codes = (yes: string, number: (n: number) => string = String): readonly string[] => [...new Set(diagnosed(catalog(yes, "false", number)).map(({ code }) => code))];
  for (const word of ['"ja"', "2", '""', '"yes "', "[true]"]) assert.ok(codes(word).includes("TS0102"), word);
  assert.ok(codes("true", (n) => `"${n}x"`).includes("TS0102"));
});

test.run();
