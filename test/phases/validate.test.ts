/** `toolsrv validate` and `toolsrv schema` as commands: formats, exit codes, files that can't be read. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { generateTypes } from "../../generator/1-parse/gen-types.js";
import { memoryIo, type MemoryIoOptions } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { HEAD, searchTool } from "./source.js";

const test = suite("validate");

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function validate(files: { readonly [name: string]: string | Uint8Array }, args: readonly string[], options: MemoryIoOptions = {}): Promise<Ran> {
  const cwd = mkdtempSync(join(tmpdir(), "toolsrv-validate-"));
  for (const [name, data] of Object.entries(files)) writeFileSync(join(cwd, name), data);
  const io = memoryIo({ cwd, ...options });
  const code = await run(["validate", ...args], io);
  return { code, out: io.out(), err: io.err() };
}

const GOOD = `${HEAD}tools:\n${searchTool("find_it")}`;
const WARNED = `${GOOD}    output: { limit: 3 }\n`;
const BAD = GOOD.replace("connection: main,", "connection: mian,");

test("a good catalog is 0 with one summary line, and nothing on stdout", async () => {
  assert.deepEqual(await validate({ "tools.yaml": GOOD }, ["tools.yaml"]), { code: EXIT.OK, out: "", err: "1 tool(s) compiled\n" });
});

test("errors are 2, with place, code frame and help", async () => {
  const { code, out, err } = await validate({ "tools.yaml": BAD }, ["tools.yaml"]);
  assert.equal(code, EXIT.USAGE);
  assert.equal(out, "");
  assert.equal(err, [
    "ERROR TS0201 find_it: there is no connection 'mian'",
    "  --> tools.yaml:8:27",
    "   |",
    " 8 |     target: { connection: mian, collection: articles }",
    "   |                           ^^^^",
    "  = help: did you mean 'main'?",
    "1 error",
    "0 tool(s) compiled",
    "",
  ].join("\n"));
});

test("warnings are 0, and 1 with --strict", async () => {
  assert.equal((await validate({ "tools.yaml": WARNED }, ["tools.yaml"])).code, EXIT.OK);
  assert.equal((await validate({ "tools.yaml": WARNED }, ["--strict", "tools.yaml"])).code, EXIT.FINDINGS);
  assert.equal((await validate({ "tools.yaml": BAD }, ["--strict", "tools.yaml"])).code, EXIT.USAGE);
});

test("--json prints an array of objects with every key, nulls kept, and no summary", async () => {
  const { code, out, err } = await validate({ "tools.yaml": WARNED }, ["tools.yaml", "--json"]);
  assert.deepEqual([code, err], [EXIT.OK, ""]);
  assert.deepEqual(JSON.parse(out), [{
    severity: "warning", code: "VB0001", message: "unknown key 'limit'", tool: "find_it", path: "tools[0].output.limit", line: 10, column: 15, file: "tools.yaml",
    help: "it is ignored; known here: fields, limit_default, limit_max, include_score, include_id, max_field_length, truncate_suffix, redact",
  }]);
  assert.deepEqual(Object.keys((JSON.parse(out) as object[])[0] ?? {}), ["severity", "code", "message", "tool", "path", "line", "column", "file", "help"]);
  assert.equal((await validate({ "tools.yaml": GOOD }, ["tools.yaml", "--format", "json"])).out, "[]\n");
});

test("--json yields JSON whatever goes wrong with the files", async () => {
  const table: readonly (readonly [readonly string[], { readonly [name: string]: string | Uint8Array }, string, string])[] = [
    [["none.yaml"], {}, "TS0002", "none.yaml"],
    [["tools.yaml", "--env-file", "none.env"], { "tools.yaml": GOOD }, "TS0002", "none.env"],
    [["tools.yaml"], { "tools.yaml": new Uint8Array([0x61, 0xff, 0xfe]) }, "TS0011", "tools.yaml"],
    [["tools.yaml"], { "tools.yaml": "" }, "TS0003", "tools.yaml"],
    [["tools.yaml"], { "tools.yaml": "a: [" }, "TS0001", "tools.yaml"],
    [["."], {}, "TS0002", "."],
  ];
  for (const [args, files, want, file] of table) {
    const { code, out, err } = await validate(files, [...args, "--json"]);
    const [first] = JSON.parse(out) as readonly { code: string; file: string; severity: string }[];
    assert.deepEqual([code, err, first?.code, first?.file, first?.severity], [EXIT.USAGE, "", want, file, "error"]);
  }
});

test("values come from --env-file and never from the process environment", async () => {
  const text = GOOD.replace("./main.db", '"${MAIN_DB}"');
  const bare = await validate({ "tools.yaml": text }, ["tools.yaml"], { env: { MAIN_DB: "./x.db" } });
  assert.equal(bare.code, EXIT.USAGE);
  assert.match(bare.err, /missing_env .*: no value for MAIN_DB/);
  assert.equal((await validate({ "tools.yaml": text, ".env": "MAIN_DB=./x.db\n" }, ["tools.yaml", "--env-file", ".env"])).code, EXIT.OK);
});

test("an unknown format is a usage error", async () => {
  const { code, err } = await validate({ "tools.yaml": GOOD }, ["tools.yaml", "--format", "xml"]);
  assert.equal(code, EXIT.USAGE);
  assert.match(err, /--format is one of text, json/);
});

test("colour only on a terminal, and not with NO_COLOR", async () => {
  const colored = (err: string): boolean => err.includes("\u001b[");
  assert.ok(!colored((await validate({ "tools.yaml": BAD }, ["tools.yaml"])).err));
  assert.ok(colored((await validate({ "tools.yaml": BAD }, ["tools.yaml"], { tty: true })).err));
  assert.ok(!colored((await validate({ "tools.yaml": BAD }, ["tools.yaml"], { tty: true, env: { NO_COLOR: "1" } })).err));
});

test("control characters of a catalog never reach the terminal", async () => {
  const { err } = await validate({ "tools.yaml": `${GOOD}    "bad\\e[31mkey": 1\n` }, ["tools.yaml"]);
  assert.ok(!err.includes("\u001b"));
});

test("every bad input has code, place and help, and exit code 2", async () => {
  const table: readonly (readonly [string, string, string])[] = [
    ["broken YAML", GOOD.replace("target: {", "target: {{"), "TS0001"],
    ["wrong type", `${GOOD}    output: { limit_max: many }\n`, "TS0102"],
    ["unknown connection", BAD, "TS0201"],
    ["operator and dtype", `${GOOD}    parameters: [{ name: year, path: year, dtype: integer, op: like }]\n`, "VB2001"],
    ["reference in a forbidden place", GOOD.replace("collection: articles", 'collection: "${C:-c}"'), "VB1003"],
    ["inline secret", HEAD.replace("{ backend: sqlite, path: ./main.db }", "{ backend: qdrant, url: u, api_key: sk-0123456789abcdef }"), "VB1003"],
    ["missing env", GOOD.replace("./main.db", '"${MAIN_DB}"'), "missing_env"],
    ["depth 30", `${HEAD}meta: { deprecated: [${"{a: ".repeat(30)}1${"}".repeat(30)}] }\n`, "TS0005"],
    ["duplicate tool", `${GOOD}${searchTool("find_it")}`, "TS0202"],
  ];
  for (const [what, text, want] of table) {
    const { code, out } = await validate({ "tools.yaml": text }, ["tools.yaml", "--json"]);
    const found = (JSON.parse(out) as readonly { code: string; line: number | null; column: number | null; help: string | null }[]).find((row) => row.code === want);
    assert.ok(found !== undefined && found.line !== null && found.column !== null && found.help !== null, `${what}: ${out}`);
    assert.equal(code, EXIT.USAGE, what);
  }
  for (const [text, want] of [["", "TS0003"], [`# ${"x".repeat(2_000_000)}`, "TS0004"]] as const) {
    const { code, out } = await validate({ "tools.yaml": text }, ["tools.yaml", "--json"]);
    assert.deepEqual([code, (JSON.parse(out) as readonly { code: string }[])[0]?.code], [EXIT.USAGE, want]);
  }
});

test("the schema is printed, for one version too", async () => {
  const printed = async (...args: readonly string[]): Promise<unknown> => {
    const io = memoryIo();
    assert.equal(await run(["schema", ...args], io), EXIT.OK);
    return JSON.parse(io.out());
  };
  assert.deepEqual(await printed(), JSON.parse(readFileSync(repo("specs/tds.schema.json"), "utf8")));
  const two = (await printed("--version", "2")) as { properties: { tds_version: { enum: unknown } } };
  assert.deepEqual(two.properties.tds_version.enum, ["2"]);
  assert.equal(await run(["schema", "--version", "3"], memoryIo()), EXIT.USAGE);
});

test("generated types and schema are those of specs/tds.schema.json", async () => {
  for (const [name, text] of await generateTypes(readFileSync(repo("specs/tds.schema.json"), "utf8"))) {
    assert.equal(readFileSync(repo("generator/1-parse", name), "utf8"), text, `run make gen: ${name}`);
  }
});

test.run();
