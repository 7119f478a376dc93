/** `toolsrv build --twin DIR`: a server over made-up rows that runs with nothing but Node and the package. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("build --twin");

const here = fileURLToPath(import.meta.url);
const toolsrvFile = join(here, `../../e2e/toolsrv${extname(here)}`);

/** A store that is not there, values that nobody gives, a model that is hosted, a limit in a store of counters. */
const CATALOG = `tds_version: '2'
connections:
  main:
    backend: weaviate
    url: "\${URL}"
    api_key: "\${KEY}"
    builtin_tools: { semantic_search: true }
    builtin_defaults: { collections: [Notes], static_filters: { must: [{ path: team, value: "\${TEAM}" }] } }
defaults: { embedding: { provider: hosted, model: text-embedding-3-small, config: { api_key: "\${EMBED_KEY}" } } }
security:
  rate_limit: { enabled: true, store: redis, redis_url: "\${REDIS}", global: { requests_per_minute: 1000 } }
observability: { audit: { enabled: true, sink: file, path: "\${AUDIT_FILE}" } }
tools:
  - name: search_notes
    kind: search
    description: Search the notes of the team by their texts. Use for anything.
    target: { connection: main, collection: Notes }
    query: { param: query, required: true }
    static_filters: [{ path: team, value: core }]
    output: { fields: [title, team] }
`;
const OTHER = `tds_version: '2'
connections: { main: { backend: sqlite, path: nowhere.db } }
tools:
  - { name: list_bills, kind: scroll, description: "List the bills by their ids. Use for bills.", target: { connection: main, collection: bills }, output: { fields: [state] } }
`;
const EXPORT = { connection: "main", backend: "weaviate", collections: [{ name: "Notes", fields: [{ path: "title", dtype: "keyword", enum: ["alpha", "beta"] }, { path: "team", dtype: "keyword" }] }] };
const SCENARIOS = "scenarios:\n  - { name: a, call: { tool: search_notes, arguments: { query: coffee } }, expect: { exact_rows: 2, row_field_equals: { title: gamma } } }\n";

async function inProject(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-build-twin-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    symlinkSync(repo(), join(folder, "node_modules", "toolsrv"), "dir");
    symlinkSync(repo("node_modules", "zod"), join(folder, "node_modules", "zod"), "dir");
    writeFileSync(join(folder, "tools.yaml"), CATALOG);
    writeFileSync(join(folder, "other.yaml"), OTHER);
    writeFileSync(join(folder, "notes.json"), JSON.stringify(EXPORT));
    writeFileSync(join(folder, "scenarios.yaml"), SCENARIOS);
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function build(folder: string, ...words: readonly string[]): Promise<Said> {
  const io = memoryIo({ cwd: folder, env: { KEY: "secret-of-the-process", TEAM: "team-of-the-process" } });
  return { code: await run(["build", ...words], io), out: io.out(), err: io.err() };
}

interface Session {
  readonly names: readonly string[];
  readonly rows: readonly unknown[];
  readonly errors: readonly string[];
}

/** A session without any variable of the environment: the tools, the rows of a call, and the codes of ten failed calls. */
async function session(args: readonly string[], cwd: string, tool = "search_notes", more: object = { query: "coffee" }): Promise<Session> {
  const client = new Client({ name: "app", version: "1.0.0" });
  try {
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], cwd, stderr: "ignore", env: { PATH: "" } }));
    const { tools } = await client.listTools();
    const errors: string[] = [];
    let rows: readonly unknown[] = [];
    for (let n = 0; n < 10; n += 1) {
      const { structuredContent, isError, content } = await client.callTool({ name: tool, arguments: { ...more, limit: 5 } });
      if (isError === true) errors.push(String(JSON.parse((content as readonly { readonly text: string }[])[0]?.text ?? "{}").error?.code));
      else rows = (structuredContent as { readonly rows: readonly unknown[] }).rows;
    }
    return { names: tools.map(({ name }) => name).slice(2), rows, errors };
  } finally {
    await client.close();
  }
}

const served = (folder: string, ...words: readonly string[]) => session([...process.execArgv.map((flag) => (flag === "tsx" ? import.meta.resolve(flag) : flag)), toolsrvFile, "serve", "tools.yaml", "--twin", ...words], folder);
const WORDS = ["--schema", "notes.json", "--scenarios", "scenarios.yaml", "--seed", "5"];

test("a built twin answers without a store, a value or a variable, with the rows that serve --twin has for the same seed", () =>
  inProject(async (folder) => {
    const { code, out, err } = await build(folder, "--twin", "twin", ...WORDS);
    assert.equal(code, EXIT.OK, err);
    assert.match(out, /written +twin\/rows\.json\n/);
    const built = await session([join(folder, "twin/server.js")], "/");
    assert.equal(built.names[0], "search_notes");
    assert.deepEqual(built.errors, []);
    const rows = built.rows as readonly { readonly title: string; readonly team: string }[];
    assert.deepEqual([rows.length, rows.filter(({ title }) => title === "gamma").length], [5, 2], "those of the scenario come first");
    assert.ok(rows.every(({ team }) => team === "core"), "the guard holds");
    const guarded = await session([join(folder, "twin/server.js")], "/", built.names[1], { collection: "Notes", query: "coffee" });
    assert.ok(guarded.rows.length === 5 && JSON.stringify(guarded.rows).split('"twin-value-of-TEAM"').length === 6, "a guard with a reference holds by a value that was made up");
    assert.deepEqual((await served(folder, ...WORDS)).rows, built.rows);
    assert.equal(existsSync(join(folder, "audit.jsonl")), false);
  }), { timeoutMs: 90_000 });

test("a built twin fails the calls that --fault names at its start, the same ones as serve --twin", () =>
  inProject(async (folder) => {
    assert.equal((await build(folder, "--twin", "twin", ...WORDS)).code, EXIT.OK);
    const fault = ["--fault", "backend_unreachable:search_notes:0.5"];
    const { errors } = await session([join(folder, "twin/server.js"), ...fault], folder);
    assert.ok(errors.length > 0 && errors.length < 10 && errors.every((one) => one === "backend_unreachable"), errors.join());
    assert.deepEqual((await served(folder, ...WORDS, ...fault)).errors, errors);
    const server = (...words: readonly string[]) => spawnSync(process.execPath, [join(folder, "twin/server.js"), ...words], { encoding: "utf8", env: {}, input: "" });
    const wrong = server("--fault", "timeout:search_note:1");
    assert.deepEqual([wrong.status, /did you mean 'search_notes'/.test(wrong.stderr)], [EXIT.USAGE, true], wrong.stderr);
    assert.match(server("--help").stdout, /--fault CODE:TOOL:RATE/);
    const real = spawnSync(process.execPath, [join(folder, "out/server.js"), ...fault], { encoding: "utf8", env: {}, input: "" });
    assert.deepEqual([real.status, /unknown option --fault/.test(real.stderr)], [EXIT.USAGE, true], "a real server has no faults");
  }), { timeoutMs: 90_000 });

test("no value of the environment or of an env file is in a built twin", () =>
  inProject(async (folder) => {
    writeFileSync(join(folder, ".env"), "KEY=secret-of-the-file\nTEAM=team-of-the-file\n");
    assert.equal((await build(folder, "--twin", "twin", ...WORDS)).code, EXIT.OK);
    for (const name of readdirSync(join(folder, "twin"))) assert.ok(!/of-the-(file|process)/.test(readFileSync(join(folder, "twin", name), "utf8")), name);
  }), { timeoutMs: 60_000 });

test("the plans of a twin are those of the server, proven in the manifest; --check fails for an edit of any file", () =>
  inProject(async (folder) => {
    assert.equal((await build(folder, "--twin", "twin", ...WORDS)).code, EXIT.OK);
    const text = (path: string): string => readFileSync(join(folder, path), "utf8");
    for (const file of ["plans.ts", "schemas.ts", "handlers.ts", "tools.ts", "tools.lock.json", "client.ts"]) assert.equal(text(`twin/${file}`), text(`out/${file}`), file);
    const [twin, out] = [JSON.parse(text("twin/manifest.json")), JSON.parse(text("out/manifest.json"))];
    assert.deepEqual([twin.guards, twin.certified], [out.guards, out.certified]);
    assert.match(twin.files["rows.json"], /^sha256:/);
    assert.equal((await build(folder, "--twin", "twin", ...WORDS, "--check")).code, EXIT.OK);
    for (const [file, from, to] of [["rows.json", "twin-value-of-TEAM", "other"], ["plans.ts", '"core"', '"gone"'], ["server.ts", "serveTwin(", "serveTwin( "]] as const) {
      const before = text(`twin/${file}`);
      assert.ok(before.includes(from), file);
      writeFileSync(join(folder, "twin", file), before.replace(from, to));
      const checked = await build(folder, "--twin", "twin", ...WORDS, "--check");
      assert.deepEqual([checked.code, checked.out.includes(file), /twin is out of date: 1 file differs; run the build with --twin twin/.test(checked.err)], [EXIT.FINDINGS, true, true], file);
      writeFileSync(join(folder, "twin", file), before);
    }
    const other = await build(folder, "--twin", "twin", "--schema", "notes.json", "--seed", "6", "--check", "--json");
    assert.deepEqual([other.code, JSON.parse(other.out).twin.drift], [EXIT.FINDINGS, ["manifest.json", "rows.json"].sort((a, b) => (a < b ? 1 : -1))]);
  }), { timeoutMs: 120_000 });

test("rows that were damaged keep a twin from starting, with the file's name", () =>
  inProject(async (folder) => {
    assert.equal((await build(folder, "--twin", "twin", ...WORDS)).code, EXIT.OK);
    const path = join(folder, "twin/rows.json");
    const before = readFileSync(path, "utf8");
    for (const text of ["", "{", "[]", before.slice(0, -40), before.replace('"toolsrv_twin": 1', '"toolsrv_twin": 2'), before.replace('"_id":', '"id":')]) {
      writeFileSync(path, text);
      const { status, stderr } = spawnSync(process.execPath, [join(folder, "twin/server.js")], { encoding: "utf8", env: {}, input: "" });
      assert.deepEqual([status, /rows\.json does not hold the rows of a twin .*: write it again with toolsrv build --twin/.test(stderr)], [EXIT.USAGE, true], stderr);
    }
    rmSync(path);
    const gone = spawnSync(process.execPath, [join(folder, "twin/server.js")], { encoding: "utf8", env: {}, input: "" });
    assert.deepEqual([gone.status, /rows\.json/.test(gone.stderr)], [EXIT.USAGE, true], gone.stderr);
  }), { timeoutMs: 60_000 });

test("several catalogs are one twin, each with its own rows", () =>
  inProject(async (folder) => {
    assert.equal((await build(folder, "tools.yaml", "other.yaml", "--twin", "twin", "--schema", "notes.json")).code, EXIT.OK);
    const server = join(folder, "twin/server.js");
    const other = await session([server, "--default-project", "other", "--fault", "timeout:search_notes:1"], folder, "list_bills", {});
    assert.deepEqual([other.names, other.rows.length, other.errors], [["list_bills"], 5, []]);
    assert.equal((await session([server], folder)).names[0], "search_notes");
    assert.equal((await build(folder, "tools.yaml", "other.yaml", "--twin", "twin", "--schema", "notes.json", "--check")).code, EXIT.OK);
  }), { timeoutMs: 90_000 });

const REFUSED: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [["--schema", "notes.json"], /--schema goes with --twin DIR/],
  [["--seed", "1"], /--seed goes with --twin DIR/],
  [["--scenarios", "scenarios.yaml"], /--scenarios gives examples to --skill DIR, or rows to --twin DIR/],
  [["--twin", "out"], /--twin needs a folder outside of --out/],
  [["--twin", "out/twin"], /--twin needs a folder outside of --out/],
  [["--twin", "."], /--twin needs a folder of its own/],
  [["--twin", "notes.json"], /--twin needs a folder, and 'notes\.json' is a file/],
  [["--twin", "twin", "--emit", "ir"], /does not go with --twin/],
  [["--twin", "twin", "--seed", "x"], /--seed is a whole number/],
  [["--twin", "twin", "--schema", "none.json"], /no such file/],
  [["--twin", "twin", "--schema", "scenarios.yaml"], /no schema export/],
  [["--twin", "twin", "--scenarios", "none.yaml"], /TS0002/],
  [["--twin", "mine"], /mine\/rows\.json was not written by a build/],
];

test("what cannot be a twin is refused with exit 2, and nothing is written", () =>
  inProject(async (folder) => {
    mkdirSync(join(folder, "mine"));
    writeFileSync(join(folder, "mine/rows.json"), "{}");
    for (const [words, says] of REFUSED) {
      const { code, err } = await build(folder, ...words);
      assert.equal(code, EXIT.USAGE, words.join(" "));
      assert.match(err, says);
      assert.deepEqual([existsSync(join(folder, "out")), existsSync(join(folder, "twin")), readdirSync(join(folder, "mine"))], [false, false, ["rows.json"]], words.join(" "));
    }
  }), { timeoutMs: 60_000 });

test.run();
