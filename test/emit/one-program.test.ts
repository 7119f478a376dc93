/** One program on every way: in memory (serve, test, connect) and printed (out/), whatever the environment holds. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { emit } from "../../generator/5-emit/files.js";
import { createRender } from "../../generator/5-emit/templates.js";
import { transpile } from "../../generator/5-emit/transpile.js";
import { load } from "../../generator/serve/catalogs.js";
import { openProgram } from "../../generator/cli/commands/test.js";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { compile, type CompileOptions } from "../../generator/compile.js";
import { compile as libraryCompile, connect } from "../../generator/connect.js";
import { programOf } from "../../generator/program.js";
import type { Engine, Program } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { inScratch, queriesOf } from "./printed.js";

const test = suite("one program");

const CATALOG = `tds_version: "2"
connections:
  main:
    backend: sqlite
    path: \${DB_FOLDER:-.}/\${DB_NAME}
    builtin_tools: { semantic_search: true, count: true, list_collections: true }
    builtin_defaults:
      collections: [notes]
      static_filters: { must: [{ path: org, value: "\${ORG}" }], must_not: [{ path: state, op: in, value: ["\${HIDDEN:-secret}", gone] }] }
defaults: { embedding: { model: hashing-256, config: { note: "\${NOTE:-none}" } } }
tools:
  - name: list_notes
    kind: scroll
    description: List the notes of every organisation, in the order of their ids.
    target: { connection: main, collection: notes }
`;
const ENV = { DB_NAME: "notes.db", ORG: "acme", NOTE: "x" };
const ROWS = [{ id: "1", org: "acme" }, { id: "2", org: "acme", state: "secret" }, { id: "3", org: "acme", state: "open" }, { id: "4", org: "zeta" }, { id: "5", org: "${ORG}" }];

/** Everything of a program that is data. */
function dataOf({ abi, catalog, settings, connections, embeddings, plans, tools, base }: Program): unknown {
  return { abi, catalog, settings, connections, embeddings, plans, tools, base: base.href };
}

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-one-"));
  try {
    writeFileSync(join(folder, "tools.yaml"), CATALOG);
    writeFileSync(join(folder, ".env"), Object.entries(ENV).map(([name, value]) => `${name}=${value}\n`).join(""));
    writeFileSync(join(folder, "rows.jsonl"), ROWS.map((row) => JSON.stringify(row)).join("\n"));
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "notes", "--id", "id", "--text", "org", "--env-file", ".env"], io), EXIT.OK, io.err());
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The program that the printed server.ts hands to `serve`. */
async function printedProgram(folder: string, use: (program: Program) => Promise<void>): Promise<void> {
  const { value } = compile({ path: "tools.yaml", text: CATALOG }, { target: "build" });
  assert.ok(value);
  const files = emit({ plans: value.plans, certificates: value.certificates, base: `${pathToFileURL(folder).href}/`, queries: await queriesOf(value.plans) }, createRender());
  await inScratch(async (scratch) => {
    const door = new URL("../../runtime/abi/index.js", import.meta.url).href;
    mkdirSync(join(scratch, "out"), { recursive: true });
    writeFileSync(join(scratch, "package.json"), '{"type":"module"}');
    // `serve` is replaced by one that keeps the program; everything else is the real door.
    writeFileSync(join(scratch, "out", "door.mjs"), `export * from ${JSON.stringify(door)};\nexport let served = null;\nexport const serve = (program) => { served = program; };\n`);
    for (const [path, script] of await transpile(files)) {
      const adapters = new URL("../../runtime/adapters/", import.meta.url).href;
      writeFileSync(join(scratch, "out", path), script.replaceAll('"toolsrv/runtime/v1"', '"./door.mjs"').replaceAll(/"toolsrv\/runtime\/v1\/adapters\/(\w+)"/g, `"${adapters}$1/index.js"`));
    }
    await import(pathToFileURL(join(scratch, "out", "server.js")).href);
    const { served } = (await import(pathToFileURL(join(scratch, "out", "door.mjs")).href)) as { readonly served: Program };
    await use(served);
  });
}

test("serve, test, connect and out/ have equal plans, settings, connections and definitions, and one hash", async () => {
  await inFolder(async (folder) => {
    const base = pathToFileURL(`${folder}/`);
    const filled = new Map(Object.entries(ENV));
    const words = { args: ["tools.yaml"], options: { "env-file": ".env" } };
    const io = memoryIo({ cwd: folder });
    const served = await load(words, io);
    const tested = await openProgram({ ...words, args: ["tools.yaml", "list_notes"] }, io);
    const [project] = served.projects ?? assert.fail(io.err());
    const ways: readonly (readonly [string, CompileOptions])[] = [
      ["compiled with values", { env: filled }], ["with another environment", { env: new Map([["DB_NAME", "other.db"], ["ORG", "zeta"]]) }],
      ["build", { target: "build" }], ["explain and diff", { target: "describe" }],
    ];
    const [first = assert.fail(), ...others] = ways.map(([way, options]) => {
      const { value, diagnostics } = compile({ path: "tools.yaml", text: CATALOG }, options);
      assert.ok(value, `${way}: ${JSON.stringify(diagnostics)}`);
      return dataOf(programOf(value.plans, { base }));
    });
    for (const [index, other] of others.entries()) assert.deepEqual(other, first, ways[index + 1]?.[0]);
    assert.deepEqual([dataOf(project?.program ?? assert.fail("no program")), served.env], [first, filled], "toolsrv serve, with its env file");
    assert.deepEqual([dataOf(tested?.program ?? assert.fail(io.err())), tested?.env], [first, filled], "toolsrv test, with its env file");
    const library = await libraryCompile(join(folder, "tools.yaml"), { env: ENV });
    assert.deepEqual(dataOf(programOf(library.plans, { base })), first, "connect");
    await printedProgram(folder, async (program) => assert.deepEqual(dataOf(program), first, "out/"));
    assert.ok(!JSON.stringify(first).includes("acme"), "no value is part of a program");
  });
});

test("references in the guards of built-ins are filled at start, on every way", async () => {
  await inFolder(async (folder) => {
    const want = { count: 2 };
    const path = join(folder, "tools.yaml");
    const counted = async (engine: Pick<Engine, "call">): Promise<unknown> => {
      const { rows } = await engine.call("count_main", {}, { requestId: "t", principal: { id: null, claims: {}, headers: {} } });
      return rows[0];
    };
    const connection = await connect(path, { env: ENV });
    assert.deepEqual((await connection.call("count_main")).rows, [want], "connect");
    assert.deepEqual((await connection.call("search_main", { query: "acme" })).rows.map(({ _id }) => _id).sort(), ["1", "3"]);
    assert.deepEqual((await connection.call("list_main_collections")).rows, [{ collection: "notes", approx_count: 2 }], "counts of the meta tool");
    await connection.close();
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["test", "tools.yaml", "count_main", "--env-file", ".env"], io), EXIT.OK, io.err());
    assert.deepEqual((JSON.parse(io.out()) as { rows: unknown[] }).rows, [want], "test");
    await printedProgram(folder, async (program) => {
      const engine = createEngine(program, { env: new Map(Object.entries(ENV)) });
      assert.deepEqual(await counted(engine), want, "out/");
      await engine.close();
      assert.throws(() => createEngine(program, { env: new Map([["DB_NAME", "notes.db"]]) }), /no value for ORG/, "a guard without its value stops the start");
    });
  });
});

test("a missing value is reported by validate with its line, and refused by test and connect as before", async () => {
  await inFolder(async (folder) => {
    writeFileSync(join(folder, ".env"), "DB_NAME=notes.db\n");
    const validate = memoryIo({ cwd: folder });
    assert.equal(await run(["validate", "tools.yaml", "--env-file", ".env", "--json"], validate), EXIT.USAGE);
    const found = (JSON.parse(validate.out()) as readonly { code: string; message: string; line: number }[]).find(({ code }) => code === "missing_env");
    assert.deepEqual([found?.message, found?.line], ["no value for ORG", readFileSync(join(folder, "tools.yaml"), "utf8").split("\n").findIndex((line) => line.includes("${ORG}")) + 1]);
    const tested = memoryIo({ cwd: folder });
    assert.equal(await run(["test", "tools.yaml", "count_main", "--env-file", ".env"], tested), EXIT.USAGE);
    assert.match(tested.err(), /missing_env/);
    await assert.rejects(connect(join(folder, "tools.yaml"), { env: { DB_NAME: "notes.db" } }), /missing_env: no value for ORG/);
  });
});

test.run();
