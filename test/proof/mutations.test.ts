/** The mutation run: no guard can be removed, weakened or changed in a printed plans.ts without the proof turning red. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judgeOutput } from "../../generator/build/judge-output.js";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import type { Host } from "../../generator/host.js";
import { certifyPrinted } from "../../generator/proof/printed.js";
import { readStockYaml } from "../../generator/proof/stock-yaml.js";
import { memoizeLast } from "../../runtime/base/memoize.js";
import { printed } from "../emit/printed.js";
import { memoryIo } from "../lib/io.js";
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

/** A folder in memory. */
function folderOf(files: ReadonlyMap<string, string>): Pick<Host, "read" | "exists" | "entries"> {
  const entries = [...files.keys()].sort().map((path) => ({ path, kind: "file" as const }));
  return { entries: async () => entries, exists: async () => true, read: async (path) => (files.has(path.slice(5)) ? Buffer.from(files.get(path.slice(5)) ?? "") : null) };
}

test("no guard can be removed, weakened or changed in a printed plans.ts", async () => {
  let tried = 0;
  const survivors: string[] = [];
  // As the command does: once for a run.
  const readOnce = memoizeLast(readStockYaml);
  for (const [name, text] of catalogs()) {
    const { value } = compiled(text, { unfilled: true });
    if (value === null) continue;
    const files = await printed(value.plans, value.certificates);
    const plans = files.get("plans.ts") ?? "";
    const judged = (printedPlans: string) => judgeOutput(folderOf(new Map([...files, ["plans.ts", printedPlans]])), "/out", files, [{ path: "plans.ts", catalogText: text }], readOnce);
    assert.deepEqual([(await judged(plans)).isSame, certifyPrinted(plans, readStockYaml(text)).problems], [true, []], `${name} as printed`);
    for (const { what, text: mutated } of mutationsOf(plans)) {
      tried += 1;
      const { isSame, drift, unproven } = await judged(mutated);
      if (isSame || !drift.has("plans.ts") || unproven.length === 0) survivors.push(`${name}: ${what}`);
    }
  }
  assert.deepEqual(survivors, []);
  assert.ok(tried > 800, `${tried} mutations`);
}, { timeoutMs: 120_000 });

test("the catalogs made for this run compile, so that their guards are tried", () => {
  for (const text of [GUARDED, ACCESS_GUARDED, DATED]) assert.notEqual(compiled(text, { unfilled: true }).value, null);
  assert.notEqual(ACCESS_GUARDED, GUARDED);
});

test("the command itself exits 1 and names what a changed plans.ts does not show", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-mutations-"));
  writeFileSync(join(folder, "tools.yaml"), GUARDED);
  const toolsrv = async (...words: readonly string[]) => {
    const io = memoryIo({ cwd: folder });
    return { code: await run(words, io), out: io.out(), err: io.err() };
  };
  const built = await toolsrv("build", "tools.yaml");
  assert.equal(built.code, EXIT.OK, built.err);
  const path = join(folder, "out", "plans.ts");
  const plans = readFileSync(path, "utf8");
  const mutations = mutationsOf(plans);
  for (const at of [0, 0.3, 0.6, 0.99]) {
    const { what, text } = mutations[Math.floor(at * mutations.length)] ?? assert.fail("no mutation");
    writeFileSync(path, text);
    const { code, out } = await toolsrv("build", "tools.yaml", "--check", "--json");
    const report = JSON.parse(out) as { readonly ok: boolean; readonly drift: readonly string[]; readonly unproven: readonly unknown[] };
    assert.deepEqual([code, report.ok, report.drift, report.unproven.length > 0], [EXIT.FINDINGS, false, ["plans.ts"], true], what);
  }
  rmSync(folder, { recursive: true });
}, { timeoutMs: 120_000 });

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
