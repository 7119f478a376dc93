/**
 * Golden builds: test/golden/emit/<case>/tools.yaml → out/. Lists of files are compared before their contents.
 * UPDATE=1 writes what the compiler makes; the diff is then the review.
 */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z, type ZodType } from "zod";
import { plan } from "../../generator/4-plan/index.js";
import { emit } from "../../generator/5-emit/files.js";
import { createRender } from "../../generator/5-emit/templates.js";
import { typecheck } from "../../generator/5-emit/typecheck.js";
import { compile, type Compiled } from "../../generator/compile.js";
import { locateAll } from "../../generator/diagnostics.js";
import { validatorOf } from "../../runtime/abi/validators.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { CATALOGS } from "./catalogs.js";
import { importPrinted, printed, queriesOf } from "./printed.js";

const test = suite("golden builds");
const CASES = repo("test", "golden", "emit");
const EXAMPLES = repo("specs", "examples");

function compileFile(path: string): Compiled {
  const { value, diagnostics, source } = compile({ path: "tools.yaml", text: readFileSync(path, "utf8") });
  assert.ok(value, JSON.stringify(locateAll(diagnostics, source), null, 2));
  return value;
}

async function build(path: string): Promise<ReadonlyMap<string, string>> {
  const { plans, certificates } = compileFile(path);
  return emit({ plans, certificates, base: "../", queries: await queriesOf(plans) }, createRender());
}

function filesBelow(folder: string, at = ""): readonly string[] {
  return readdirSync(join(folder, at), { withFileTypes: true }).flatMap((entry) => {
    const path = at === "" ? entry.name : `${at}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
}

const cases = readdirSync(CASES);
const catalogs = [
  ...cases.map((name) => ({ name, path: join(CASES, name, "tools.yaml") })),
  ...readdirSync(EXAMPLES).map((name) => ({ name: `example ${name}`, path: join(EXAMPLES, name, "tools.yaml") })),
];

test("there are cases", () => assert.ok(cases.length >= 4));

for (const name of cases) {
  test(`build of ${name}`, async () => {
    const out = join(CASES, name, "out");
    const files = await build(join(CASES, name, "tools.yaml"));
    if (process.env["UPDATE"] === "1") {
      rmSync(out, { recursive: true, force: true });
      for (const [path, text] of files) {
        mkdirSync(dirname(join(out, path)), { recursive: true });
        writeFileSync(join(out, path), text);
      }
    }
    assert.deepEqual([...filesBelow(out)].sort(), [...files.keys()].sort());
    for (const [path, text] of files) assert.equal(text, readFileSync(join(out, path), "utf8"), path);
  });
}

for (const { name, path } of catalogs) {
  test(`both carriers hold the same: ${name}`, async () => {
    const { plans } = compileFile(path);
    const modules = await importPrinted(await build(path));
    const { plans: tools, catalog, settings, connections, embeddings } = modules["plans.js"] ?? {};
    assert.deepEqual({ tools, catalog, settings, connections, embeddings }, {
      tools: plans.tools, catalog: plans.catalog, settings: plans.settings, connections: plans.connections, embeddings: plans.embeddings,
    });
    assert.deepEqual(modules["tools.js"]?.["tools"], plans.definitions);
    const validators = modules["schemas.js"]?.["validators"] as { readonly [tool: string]: ZodType };
    assert.deepEqual(Object.keys(validators), Object.keys(plans.inputs));
    for (const [tool, { params }] of Object.entries(plans.inputs)) {
      assert.deepEqual(z.toJSONSchema(validators[tool] as ZodType, { io: "input" }), z.toJSONSchema(validatorOf(params), { io: "input" }), tool);
    }
  });

  test(`the generated files type-check: ${name}`, async () => typecheck(await build(path)), { timeoutMs: 60_000 });
}

for (const [name, make] of Object.entries(CATALOGS)) {
  test(`the generated files type-check: ${name} catalog`, async () => typecheck(await printed(plan(make()))), { timeoutMs: 60_000 });
}

test("a type error in generated text is a bug, named with its line", async () => {
  const files = new Map(await build(join(CASES, "kinds", "tools.yaml")));
  const broken = (path: string, from: string, to: string): ReadonlyMap<string, string> => {
    const text = files.get(path) ?? "";
    assert.ok(text.includes(from), `${path} has ${from}`);
    return new Map([...files, [path, text.replace(from, to)]]);
  };
  await assert.rejects(typecheck(broken("plans.ts", `kind: "lookup"`, `kind: "look"`)), /plans\.ts:\d+: .*"look"/);
  await assert.rejects(typecheck(broken("handlers.ts", "rt.search(bound, call)", "rt.search(bound)")), /handlers\.ts:\d+: Expected 2 arguments/);
  await assert.rejects(typecheck(broken("server.ts", "abi: 1", `abi: "1"`)), /server\.ts:\d+: /);
}, { timeoutMs: 60_000 });

test.run();
