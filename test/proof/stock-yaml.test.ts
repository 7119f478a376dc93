/** Two readers of catalogs: the compiler's, and the stock library that the proof believes. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { readYaml } from "../../generator/1-parse/yaml.js";
import { createReporter } from "../../generator/diagnostics.js";
import { readStockYaml } from "../../generator/proof/stock-yaml.js";
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
  const text = "a: &a {x: 1, y: {z: 2}}\nb: {<<: *a, x: 3}\nc:\n  x: 4\n  <<: [*a, {x: 9, w: 1}]\non: k\n1: one\nd: {x: 1, x: 2}\n__proto__: {q: 1}\n";
  assert.deepEqual(JSON.stringify(readStockYaml(text)), JSON.stringify(ours(text)));
});

test.run();
