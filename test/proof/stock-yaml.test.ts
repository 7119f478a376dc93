/** Two readers of catalogs: the compiler's, and the stock library that the proof believes. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import fc from "fast-check";
import { readYaml } from "../../generator/1-parse/yaml.js";
import { createReporter } from "../../generator/diagnostics.js";
import { Alias, parse } from "yaml";
import { readStockYaml, STOCK_OPTIONS, valueOfDocument } from "../../generator/proof/stock-yaml.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("stock yaml");

/** What the compiler reads; undefined for a text that it refuses. */
function ours(text: string): unknown {
  const reporter = createReporter("x");
  const file = readYaml({ path: "x", text }, reporter);
  return reporter.diagnostics.some(({ severity }) => severity === "error") ? undefined : file?.value;
}

test("both readers agree on every plain scalar of YAML 1.1", () => {
  const table = "y n Yes yEs on OFF true NULL ~ 1e3 1.5e+3 1_000 0x1F 0x_ 0b11 0b_ 0144 089 1:30 0:30 1:30.5 .5 5. -0 -0.0 09:00 0o14 +12 2024-01-02 2024-1-2T3:04:05Z 'y' << = 1.".split(" ");
  const dates = ["2024-1-2 3:04:05 +1", "2024-01-02t03:04:05.25 -5:30", "2024-01-02 3:04:05."];
  for (const text of [...table, ...dates].map((scalar) => `k: ${scalar}\n`)) assert.deepEqual(readStockYaml(text), ours(text), text);
  const scalar = fc.string({ unit: fc.constantFrom(..."0179-+._:eExbynofTZa~ t3"), minLength: 1, maxLength: 7 });
  fc.assert(fc.property(scalar, (text) => {
    const wanted = ours(`k: ${text.trim()}\n`);
    if (wanted !== undefined) assert.deepEqual(readStockYaml(`k: ${text.trim()}\n`), wanted);
  }), { numRuns: 5_000 });
});

test("both readers agree on merge keys, aliases, keys that look like numbers and keys given twice", () => {
  const text = "a: &a {x: 1, y: {z: 2}}\nb: {<<: *a, x: 3}\nc:\n  x: 4\n  <<: [*a, {x: 9, w: 1}]\non: k\n1: one\nd: {x: 1, x: 2}\ne: &e key\n*e : 1\n__proto__: {q: 1}\n";
  assert.deepEqual(JSON.stringify(readStockYaml(text)), JSON.stringify(ours(text)));
});

/** YAML of every kind that a catalog may hold: tags, block texts, anchors given twice, aliases as keys, merges in flow. */
const KINDS = [
  "a: !!str 1\nb: !!int '2'\nc: !!float 3\nd: ! yes\ne: !!null ''\nf: !!bool 'on'\ng: !!timestamp 2024-01-02\n",
  "a: |\n  1\n  2\nb: >-\n  yes\nc: \"0x10\"\nd: 'null'\ne:\nf: ~\n",
  "a: &a 0x10\nb: *a\nc: &a yes\nd: *a\n? &k on\n: f\n",
  "a: &a {x: &b [1, 0o7, on]}\nb: {<<: [*a, {y: 1}], z: *b}\n'<<': 1\n!!str <<: {q: 1}\n",
  "%YAML 1.2\n---\na: yes\nb: 1_000\n", "- 1\n- [a, {b: ~}]\n", "2024-1-2 3:04:05 +1\n", "\uFEFFa: 1\n",
];

test("a document that is composed once has the value that the library alone gives its text, and stays as it was", () => {
  const examples = readdirSync(repo("specs/examples"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".yaml"));
  assert.ok(examples.length > 1);
  for (const text of [...KINDS, ...examples.map((path) => readFileSync(repo(`specs/examples/${path}`), "utf8"))]) {
    const doc = readYaml({ path: "x", text }, createReporter("x"))?.doc;
    assert.ok(doc !== undefined);
    const before = String(doc);
    const stock: unknown = parse(text, { ...STOCK_OPTIONS, maxAliasCount: -1 });
    assert.deepEqual(valueOfDocument(doc), stock, text);
    assert.deepEqual(readStockYaml(text), stock, text);
    assert.equal(String(doc), before);
  }
});

test("an alias is resolved without a search: none of 2,000 has more to look through than its own anchor", () => {
  const text = `a: &a {x: 1}\nb: [${"*a, ".repeat(2_000)}]\n`;
  const doc = readYaml({ path: "x", text }, createReporter("x"))?.doc;
  assert.ok(doc !== undefined);
  const looked: number[] = [];
  const { resolve } = Alias.prototype;
  Alias.prototype.resolve = function (doc, context) {
    looked.push(context?.aliasResolveCache?.length ?? Infinity);
    return resolve.call(this, doc, context);
  };
  try {
    assert.deepEqual(valueOfDocument(doc), { a: { x: 1 }, b: Array.from({ length: 2_000 }, () => ({ x: 1 })) });
  } finally {
    Alias.prototype.resolve = resolve;
  }
  assert.deepEqual(looked, Array.from({ length: 2_000 }, () => 1));
});

test.run();
