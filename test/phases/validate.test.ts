/** `toolsrv validate` and `toolsrv schema` as commands: formats, exit codes, files that can't be read. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { generateTypes } from "../../generator/1-parse/gen-types.js";
import { nodeHost, type Host } from "../../generator/host.js";
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

test("a good catalog is 0 with what its list costs and one summary line, and nothing on stdout", async () => {
  const { code, out, err } = await validate({ "tools.yaml": GOOD }, ["tools.yaml"]);
  assert.deepEqual([code, out], [EXIT.OK, ""]);
  assert.match(err, /^tools\/list costs about \d+ tokens\n1 tool\(s\) compiled\n$/);
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

test("with roles, the cost of each role's list is shown", async () => {
  const roles = "security: { rbac: { enabled: true, roles: { reader: { allow: [find_it] }, other: { allow: [ping] } }, deny_tools: [] } }\n";
  const { code, err } = await validate({ "tools.yaml": `${GOOD}${roles}` }, ["tools.yaml"]);
  assert.equal(code, EXIT.OK);
  assert.match(err, /^tools\/list costs about \d+ tokens for role 'reader' \(1 tool\)\ntools\/list costs about 1 tokens for role 'other' \(0 tools\)\n1 tool\(s\) compiled\n$/);
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

test("what concerns a whole file is reported without an empty place, in words", async () => {
  const table: readonly (readonly [readonly string[], { readonly [name: string]: string }, RegExp])[] = [
    [["none.yaml"], {}, /^ERROR TS0002: cannot read 'none\.yaml': there is no such file\n {2}--> none\.yaml\n/],
    [["."], {}, /^ERROR TS0002: cannot read '\.': it is a folder\n/],
    [["tools.yaml", "--env-file", "."], { "tools.yaml": GOOD }, /^ERROR TS0002: cannot read '\.': it is a folder\n/],
    [["tools.yaml"], { "tools.yaml": "" }, /^ERROR TS0003: /],
  ];
  for (const [args, files, want] of table) assert.match((await validate(files, args)).err, want);
});

test("values come from --env-file and never from the process environment", async () => {
  const text = GOOD.replace("./main.db", '"${MAIN_DB}"');
  const bare = await validate({ "tools.yaml": text }, ["tools.yaml"], { env: { MAIN_DB: "./x.db" } });
  assert.equal(bare.code, EXIT.USAGE);
  assert.match(bare.err, /missing_env .*: no value for MAIN_DB/);
  assert.equal((await validate({ "tools.yaml": text, ".env": "MAIN_DB=./x.db\n" }, ["tools.yaml", "--env-file", ".env"])).code, EXIT.OK);
});

const DENIES = `package tools

deny contains denial if {
  some i, tool in input.tds.tools
  tool.output.limit_max > 20
  denial := {"msg": sprintf("%s returns too much", [tool.name]), "tool": tool.name, "path": sprintf("tools[%d]", [i])}
}
`;

interface Answer {
  readonly code: number | null;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** The real host, but `opa` answers as told; what it was asked is kept. */
function hostWithOpa(answer: Answer, asked: { args?: readonly string[]; stdin?: string } = {}): Host {
  return {
    ...nodeHost(),
    run: (program, args, options) => {
      assert.equal(program, "opa");
      Object.assign(asked, { args, stdin: options?.stdin });
      return Promise.resolve({ stdout: "", stderr: "", ...answer });
    },
  };
}

test("each deny of a policy is POL001, wherever it stands in the answer", async () => {
  const asked: { args?: readonly string[]; stdin?: string } = {};
  const data = { tools: { deny: [{ msg: "find_it returns too much", tool: "find_it", path: "tools[0].output" }, "plain"], inner: { deny: { "a member of a set": true } } }, other: { deny: "text" } };
  const host = hostWithOpa({ code: 0, stdout: JSON.stringify({ result: [{ expressions: [{ value: data }] }] }) }, asked);
  const files = { "tools.yaml": GOOD.replace("./main.db", '"${DB:-secret.db}"'), "p.rego": DENIES };
  const { code, out } = await validate(files, ["tools.yaml", "--policy", "p.rego", "--json"], { host });
  assert.equal(code, EXIT.USAGE);
  assert.deepEqual((JSON.parse(out) as readonly { [key: string]: unknown }[]).map(({ code: found, message, tool, line }) => [found, message, tool, line]), [
    ["POL001", "plain", null, null], ["POL001", "a member of a set", null, null], ["POL001", "text", null, null],
    ["POL001", "find_it returns too much", "find_it", 6],
  ]);
  assert.deepEqual(asked.args?.slice(0, 5), ["eval", "-f", "json", "--stdin-input", "-d"]);
  const { tds } = JSON.parse(asked.stdin ?? "") as { tds: { tools: readonly { output: { limit_max: number } }[]; connections: { main: { path: string } } } };
  assert.equal(tds.tools[0]?.output.limit_max, 50, "defaults are filled in");
  assert.equal(tds.connections.main.path, "${DB:-secret.db}", "references are not");
});

test("a policy that gives no answer is POL000", async () => {
  const table: readonly (readonly [Answer, RegExp])[] = [
    [{ code: null }, /opa is not installed/], [{ code: 2, stderr: "\n1 error occurred: p.rego:1: rego_parse_error\n" }, /code 2: 1 error occurred: p.rego:1/], [{ code: 0, stdout: "oops" }, /no JSON/],
    [{ code: 2, stdout: '{"errors":[{"message":"package expected","location":{"file":"/some/where/p.rego","row":1}},{}]}' }, /code 2: p\.rego:1: package expected \(and 1 more\)/], [{ code: 2, stdout: "{" }, /code 2: \{/],
  ];
  for (const [answer, want] of table) {
    const { code, out } = await validate({ "tools.yaml": GOOD, "p.rego": DENIES }, ["tools.yaml", "--policy", "p.rego", "--json"], { host: hostWithOpa(answer) });
    const [first] = JSON.parse(out) as readonly { code: string; message: string }[];
    assert.deepEqual([code, first?.code], [EXIT.USAGE, "POL000"]);
    assert.match(first?.message ?? "", want);
  }
  assert.match((await validate({ "tools.yaml": GOOD }, ["tools.yaml", "--policy", "none.rego"])).err, /POL000: there is no policy file/);
});

test("the enterprise profile is asked for in two ways; another profile is a usage error", async () => {
  for (const flags of [["--enterprise"], ["--profile", "enterprise"]]) {
    const { code, out } = await validate({ "tools.yaml": GOOD }, ["tools.yaml", "--json", ...flags]);
    assert.deepEqual([code, (JSON.parse(out) as readonly { code: string }[]).map((row) => row.code)], [EXIT.USAGE, ["VE005", "VE007", "VE002"]]);
  }
  assert.equal((await validate({ "tools.yaml": GOOD }, ["tools.yaml", "--profile", "enterprize"])).code, EXIT.USAGE);
});

test("policy packs are a list; an unknown one is denied", async () => {
  const { code, out } = await validate({ "tools.yaml": GOOD }, ["tools.yaml", "--json", "--policy-builtin", "pci, soc3"]);
  const rows = JSON.parse(out) as readonly { code: string; message: string }[];
  assert.equal(code, EXIT.USAGE);
  assert.deepEqual(rows.map(({ message }) => message), [
    "unknown policy pack 'soc3'",
    ...["pan", "cvv", "ssn"].map((field) => `pci: the tool returns every field, ${field} among them if records have it`),
  ]);
});

test("SARIF names file, line, column, rule and level", async () => {
  const { out } = await validate({ "tools.yaml": BAD }, ["tools.yaml", "--format", "sarif"]);
  const log = JSON.parse(out) as { version: string; runs: readonly { tool: { driver: { rules: readonly { id: string }[] } }; results: readonly { [key: string]: unknown }[] }[] };
  assert.equal(log.version, "2.1.0");
  const [run0] = log.runs;
  assert.deepEqual(run0?.tool.driver.rules.map(({ id }) => id), ["TS0201"]);
  const [result] = run0?.results ?? [];
  assert.deepEqual([result?.["ruleId"], result?.["ruleIndex"], result?.["level"]], ["TS0201", 0, "error"]);
  assert.deepEqual(result?.["locations"], [{
    physicalLocation: { artifactLocation: { uri: "tools.yaml" }, region: { startLine: 8, startColumn: 27 } },
    logicalLocations: [{ name: "find_it", kind: "function" }, { fullyQualifiedName: "tools[0].target.connection", kind: "member" }],
  }]);
  assert.deepEqual((JSON.parse((await validate({ "tools.yaml": GOOD }, ["tools.yaml", "--format", "sarif"])).out) as typeof log).runs[0]?.results, []);
});

test("SARIF is valid against its published schema", async () => {
  const schema = JSON.parse(readFileSync(repo("node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"), "utf8")) as { $schema?: string; id?: string };
  // Draft 4 of JSON Schema; what the schema uses means the same to a reader of draft 7 once these two are gone.
  delete schema.$schema;
  delete schema.id;
  const isValid = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);
  const files = { "bad one.yaml": BAD, "good.yaml": GOOD, "broken.yaml": "a: [" };
  for (const name of [...Object.keys(files), "none.yaml"]) {
    const log = JSON.parse((await validate(files, [name, "--format", "sarif"])).out) as { runs: { results: { level: string }[] }[] };
    assert.ok(isValid(log), `${name}: ${JSON.stringify(isValid.errors)}`);
    const [first] = log.runs[0]?.results ?? [];
    if (first !== undefined) assert.ok(!isValid({ ...log, runs: [{ ...log.runs[0], results: [{ ...first, level: "fatal" }] }] }));
  }
});

test("GitHub annotations name file, line and column, and escape what the command line cannot hold", async () => {
  const { out } = await validate({ "to,ols.yaml": BAD }, ["to,ols.yaml", "--format", "github"]);
  assert.equal(out, "::error file=to%2Cols.yaml,line=8,col=27,title=TS0201::there is no connection 'mian'%0Adid you mean 'main'?\n");
});

test("an unknown format is a usage error", async () => {
  const { code, err } = await validate({ "tools.yaml": GOOD }, ["tools.yaml", "--format", "xml"]);
  assert.equal(code, EXIT.USAGE);
  assert.match(err, /--format is one of text, json, sarif, github/);
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
