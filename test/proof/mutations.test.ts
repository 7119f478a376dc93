/** The mutation run: no guard can be removed, weakened or changed in a printed plans.ts without the proof turning red. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { certifyPrinted } from "../../generator/proof/printed.js";
import { readStockYaml } from "../../generator/proof/stock-yaml.js";
import { printed } from "../emit/printed.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { compiled } from "../phases/source.js";
import { ACCESS_GUARDED, DATED, GUARDED } from "./guarded.js";
import { mutationsOf } from "./mutations.js";

const test = suite("mutations");

/** Every example, every golden case that is built, and a catalog with every kind of guard. */
function catalogs(): readonly (readonly [name: string, text: string])[] {
  const folders = ["specs/examples", "test/golden/emit"].flatMap((home) => readdirSync(repo(home)).map((folder) => `${home}/${folder}/tools.yaml`));
  const projects = readdirSync(repo("test/golden/projects")).filter((name) => name.endsWith(".yaml")).map((name) => `test/golden/projects/${name}`);
  const texts = [...folders, ...projects].filter((path) => existsSync(repo(path))).map((path) => [path, readFileSync(repo(path), "utf8")] as const);
  return [["guarded", GUARDED], ["guarded by document access", ACCESS_GUARDED], ["dated", DATED], ...texts];
}

test("no guard can be removed, weakened or changed in a printed plans.ts", async () => {
  let tried = 0;
  const survivors: string[] = [];
  for (const [name, text] of catalogs()) {
    const { value } = compiled(text, { unfilled: true });
    if (value === null) continue;
    const catalog = readStockYaml(text);
    const plans = (await printed(value.plans, value.certificates)).get("plans.ts") ?? "";
    assert.deepEqual(certifyPrinted(plans, catalog).problems, [], `${name} as printed`);
    for (const { what, text: mutated } of mutationsOf(plans)) {
      tried += 1;
      if (certifyPrinted(mutated, catalog).certificates !== null) survivors.push(`${name}: ${what}`);
    }
  }
  assert.deepEqual(survivors, []);
  assert.ok(tried > 800, `${tried} mutations`);
}, { timeoutMs: 120_000 });

test("the catalogs made for this run compile, so that their guards are tried", () => {
  for (const text of [GUARDED, ACCESS_GUARDED, DATED]) assert.notEqual(compiled(text, { unfilled: true }).value, null);
  assert.notEqual(ACCESS_GUARDED, GUARDED);
});

test("a text that Node and the proof could read differently is not certified", async () => {
  const { value } = compiled(GUARDED, { unfilled: true });
  assert.ok(value);
  const plans = (await printed(value.plans, value.certificates)).get("plans.ts") ?? "";
  const table = 'guard: { and: [{ path: "lang", op: "eq", value: "en" }] },';
  assert.ok(plans.includes(table));
  const texts: readonly string[] = [
    `${plans}(plans.count_it as any).guard = undefined;\n`,
    `${plans}export const more = 1;\n`,
    `${plans}${plans.slice(plans.indexOf("export const plans"))}`,
    plans.replace("export const plans = {", "export const plans = { ...{},"),
    plans.replace(table, `${table} ["gu" + "ard"]: undefined,`),
    plans.replace(table, `${table} guard: { and: [] },`),
    plans.replace(table, `__proto__: { ${table} },`),
    plans.replace(table, `// ${table}\u2028`),
    plans.replace(table, `get ${table.slice(0, -1)},`),
    plans.replace('value: "en"', 'value: "\\x65n"'),
    plans.replace('value: "en"', "value: `en`"),
    plans.replace("import type * as rt", 'import "./evil.js";\nimport type * as rt'),
    plans.replace("export const plans", "/*\nexport const plans = {};\n*/\nexport let plans"),
    "", "null",
  ];
  for (const [index, text] of texts.entries()) {
    assert.notEqual(text, plans, String(index));
    assert.equal(certifyPrinted(text, readStockYaml(GUARDED)).certificates, null, String(index));
  }
});

test.run();
