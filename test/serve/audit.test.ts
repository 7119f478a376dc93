/** Audit of whole servers and of the library: flags, sinks, several catalogs, a built server, and who writes none. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { run as toolsrv } from "../../generator/cli/main.js";
import { compile } from "../../generator/compile.js";
import { connect } from "../../generator/index.js";
import { certifyPrinted } from "../../generator/proof/printed.js";
import { readStockYaml } from "../../generator/proof/stock-yaml.js";
import { programOf } from "../../generator/program.js";
import { canonicalJson, fingerprint } from "../../runtime/abi/fingerprint.js";
import { run } from "../../runtime/serve/main.js";
import { memoryIo } from "../lib/io.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { repo } from "../lib/repo.js";
import { start, type Served } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { linesOf, temporary } from "../observe/audit/world.js";

const test = suite("serve/audit");
const folder = temporary(test);
const file = (name: string): string => join(folder, name);
const here = fileURLToPath(import.meta.url);
const entry = join(here, `../../e2e/toolsrv${extname(here)}`);

const catalog = (audit: string, tool = "list_notes"): string => `tds_version: "2"
connections: { main: { backend: sqlite, path: ./notes.db } }
defaults: { embedding: local/hashing-256 }
${audit === "" ? "" : `observability: { audit: ${audit} }\n`}tools:
  - name: ${tool}
    kind: scroll
    description: List the notes in the order of their record ids. Use it to browse.
    target: { connection: main, collection: notes }
    parameters: [{ name: colour, path: colour }, { name: api_token, path: token }]
    static_filters: [{ path: public, value: true }]
`;
const FILE = "{ enabled: true, sink: file, path: ./audit.jsonl }";

test.before(async () => {
  writeFileSync(file("rows.jsonl"), [{ id: "note-1", text: "red row-canary", colour: "red", token: "token-canary", public: true }, { id: "note-2", text: "green", public: false }].map((row) => JSON.stringify(row)).join("\n"));
  writeFileSync(file("load.yaml"), catalog(""));
  const io = memoryIo({ cwd: folder });
  assert.equal(await toolsrv(["load", "load.yaml", "rows.jsonl", "--connection", "main", "--collection", "notes", "--id", "id"], io), 0, io.err());
});

const recordsIn = (name: string) => linesOf(readFileSync(file(name), "utf8"));

/** A catalog in a file of its own, as `serve` loads it. */
function write(name: string, text: string): string {
  writeFileSync(file(name), text);
  return file(name);
}

const HTTP = ["--http", "127.0.0.1:0", "--auth", "none", "--log-format", "json"];

const started: Served[] = [];
test.after(async () => void (await Promise.all(started.map((served) => served.kill()))));

interface Answering extends Served {
  readonly port: number;
  readonly stdout: () => string;
  /** Ends as a deployment does, which writes what is queued. */
  stop(): Promise<void>;
}

async function serve(script: string, words: readonly string[]): Promise<Answering> {
  const served = start(script, [...words, ...HTTP], { cwd: folder });
  started.push(served);
  let stdout = "";
  served.child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  const port = Number((await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]);
  return {
    ...served, port, stdout: () => stdout,
    async stop() {
      served.child.kill("SIGTERM");
      assert.equal(await served.ended, 0, served.stderr());
    },
  };
}

async function call(port: number, tool: string, args: object = {}): Promise<string> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } });
  return (await rawHttp(port, rawPost("/mcp", body, { "mcp-protocol-version": "2025-11-25", accept: "application/json" }))).raw;
}

test("a server writes one record for each call, with the request id of its log", async () => {
  const path = write("one.yaml", catalog("{ enabled: true, path: ./one.jsonl }"));
  const served = await serve(entry, ["serve", path]);
  assert.match(await call(served.port, "list_notes", { colour: "red", api_token: "token-canary" }), /row-canary/);
  assert.match(await call(served.port, "list_notes", { colour: 7 }), /isError/);
  await rawHttp(served.port, rawPost("/mcp", "{}", { host: "evil.example.com" }));
  await served.stop();
  const records = recordsIn("one.jsonl");
  assert.deepEqual(records.map(({ tool, status, error_code: code }) => [tool, status, code]), [["list_notes", "ok", null], ["list_notes", "error", "invalid_arguments"]], "a request that is refused before a tool is named leaves none");
  const logged = linesOf(served.stderr()).filter(({ msg }) => msg === "call").map((line) => line["request_id"]);
  assert.deepEqual(records.map((record) => record["request_id"]), logged);
  const text = readFileSync(file("one.jsonl"), "utf8");
  for (const canary of ["row-canary", "token-canary", "note-1"]) assert.ok(!text.includes(canary), canary);
}, { timeoutMs: 60_000 });

test("sink stdout has the records of a server over HTTP and nothing else", async () => {
  const served = await serve(entry, ["serve", write("stdout.yaml", catalog("{ enabled: true }"))]);
  await call(served.port, "list_notes");
  await served.stop();
  assert.deepEqual(linesOf(served.stdout()).map(({ tool, status }) => [tool, status]), [["list_notes", "ok"]]);
}, { timeoutMs: 60_000 });

test("several catalogs have a sink each; a flag gives them one", async () => {
  const [first, second] = [write("first.yaml", catalog("{ enabled: true, path: ./first.jsonl }", "list_first")), write("second.yaml", catalog("{ enabled: true, path: ./second.jsonl }", "list_second"))];
  const served = await serve(entry, ["serve", first, second]);
  await call(served.port, "list_first");
  await served.stop();
  assert.deepEqual(recordsIn("first.jsonl").map(({ tool }) => tool), ["list_first"]);
  assert.equal(readFileSync(file("second.jsonl"), "utf8"), "");
  rmSync(file("first.jsonl"));
  const shared = await serve(entry, ["serve", first, second, "--audit-log", "shared.jsonl", "--default-project", "second"]);
  await call(shared.port, "list_second");
  await shared.stop();
  assert.deepEqual(recordsIn("shared.jsonl").map(({ tool }) => tool), ["list_second"], "a path of a flag starts in the working directory");
  assert.ok(!existsSync(file("first.jsonl")), "the flag overrides the catalog");
}, { timeoutMs: 90_000 });

/** Exit code and standard error of a server that has to end by itself. */
async function startOf(text: string, words: readonly string[], env: { readonly [name: string]: string } = {}): Promise<readonly [number, string]> {
  const { value, diagnostics } = compile({ path: "tools.yaml", text });
  assert.ok(value !== null, JSON.stringify(diagnostics));
  const program = programOf(value.plans, { base: pathToFileURL(`${folder}/`), certificates: value.certificates });
  const notes: string[] = [];
  const stdin = new PassThrough();
  stdin.end();
  const values = Object.entries(env).map(([name, of]) => `${name}=${of}\n`).join("");
  writeFileSync(file("values.env"), values);
  const io = { stdin, takeStdout: () => new PassThrough(), print: () => undefined, note: (note: string) => void notes.push(note), stop: AbortSignal.abort(), environment: {}, now: () => performance.now() };
  return [await run([{ name: "tools", program }], [...words, "--env", file("values.env")], io), notes.join("")];
}

test("on stdio, sink stdout does not start: standard output has the protocol's messages", async () => {
  const [code, said] = await startOf(catalog("{ enabled: true }"), []);
  assert.equal(code, 2);
  assert.match(said, /sink stdout cannot be used on stdio.*use sink file, http or otlp, or start with --audit-log FILE/);
  assert.equal((await startOf(catalog("{ enabled: true }"), ["--audit-log", file("stdio.jsonl")]))[0], 0);
});

test("flags that do not go together, or name no address, do not start", async () => {
  const given: readonly (readonly [words: readonly string[], said: RegExp, audit?: string])[] = [
    [["--audit-sink", "syslog"], /--audit-sink takes file, http or otlp, not 'syslog'/],
    [["--audit-sink", "http", "--audit-log", "x"], /--audit-log names a file, and --audit-sink is http/],
    [["--audit-log", "x", "--audit-url", "http://c"], /--audit-url is the address of sinks http and otlp/],
    [["--audit-sink", "file"], /sink file needs a path: write observability\.audit\.path, or start with --audit-log FILE/],
    [["--audit-sink", "http"], /sink http needs a url: .*--audit-url URL/],
    [["--audit-sink", "otlp", "--audit-url", "ftp://c/user:canary"], /begins with ftp:; it must be http: or https:/],
    [["--audit-sink", "http", "--audit-url", "canary no url"], /the url of sink http is not a URL/],
    [["--audit-url", "http://c"], /--audit-url needs a sink/],
    [["--audit-sink", "http", "--audit-url", "http://c"], /chain needs sink file, and the sink is http/, "{ enabled: true, path: a.jsonl, chain: true }"],
    [[], /the url of sink http is not a URL/, '{ enabled: true, sink: http, url: "${AUDIT_URL}" }'],
  ];
  for (const [words, wanted, audit = ""] of given) {
    const [code, said] = await startOf(catalog(audit), words, { AUDIT_URL: "canary" });
    assert.match(said, wanted, words.join(" "));
    assert.equal(code, 2, words.join(" "));
    assert.ok(!said.includes("canary"), said);
  }
});

test("a file that cannot be written does not start, and neither does a link that somebody put in its place", async () => {
  symlinkSync(file("elsewhere.jsonl"), file("planted.jsonl"));
  for (const [path, wanted] of [["./no/such/audit.jsonl", /audit: cannot open .*no such file or folder/], ["./planted.jsonl", /audit: cannot open .*too many symbolic links/]] as const) {
    const [code, said] = await startOf(catalog(`{ enabled: true, path: ${path} }`), ["--http", "127.0.0.1:0", "--auth", "none"]);
    assert.match(said, wanted);
    assert.equal(code, 2);
  }
  assert.ok(!existsSync(file("elsewhere.jsonl")));
});

test("path and url may be references to the environment", async () => {
  assert.deepEqual(await startOf(catalog('{ enabled: true, sink: file, path: "${WHERE}/env.jsonl" }'), [], { WHERE: folder }).then(([code]) => code), 0);
  assert.ok(existsSync(file("env.jsonl")));
});

test("a built server writes the chain with the certificates of its manifest, and `audit verify` finds it whole", async () => {
  mkdirSync(file("built"));
  symlinkSync(repo("node_modules"), file("node_modules"));
  write("built.yaml", catalog("{ enabled: true, path: ./built.jsonl, chain: true }"));
  const io = memoryIo({ cwd: folder });
  assert.equal(await toolsrv(["build", "built.yaml", "--out", "built/out", "--no-trace"], io), 0, io.err());
  const plans = readFileSync(file("built/out/plans.ts"), "utf8");
  const [, id = ""] = /export const certificates = \{ list_notes: "(sha256:[0-9a-f]{64})",? \}/.exec(plans.replaceAll(/\s+/g, " ")) ?? [];
  const manifest = JSON.parse(readFileSync(file("built/out/manifest.json"), "utf8"));
  assert.equal(id, fingerprint({ tool: "list_notes", branches: manifest.guards.list_notes }));
  // Served as `node out/server.js` is, but with this checkout as the package.
  const built = compile({ path: "built.yaml", text: catalog("{ enabled: true, path: ./built.jsonl, chain: true }") }).value;
  const program = built === null ? null : programOf(built.plans, { base: pathToFileURL(`${folder}/`), certificates: built.certificates });
  assert.deepEqual(program?.certificates, { list_notes: id }, "in memory and printed are one");
  const served = await serve(entry, ["serve", file("built.yaml")]);
  await call(served.port, "list_notes");
  await served.stop();
  const [, record] = recordsIn("built.jsonl");
  assert.deepEqual([record?.["certificate"], record?.["catalog"]], [id, manifest.catalog.hash]);
  const verify = memoryIo({ cwd: folder });
  assert.equal(await toolsrv(["audit", "verify", "built.jsonl", "--head", String(record?.["hash"])], verify), 0, verify.out());
}, { timeoutMs: 90_000 });

test("certificates that were edited, dropped or added in plans.ts are refused by the proof", () => {
  const printed = readFileSync(file("built/out/plans.ts"), "utf8");
  const stock = readStockYaml(readFileSync(file("built.yaml"), "utf8"));
  assert.ok(certifyPrinted(printed, stock).certificates !== null);
  const edits = [printed.replace(/(list_notes:\s*"sha256:)[0-9a-f]/, "$1x"), printed.replace(/\/\/ What audit records[\s\S]*$/, ""), printed.replace("chain: true", "chain: false")];
  for (const edited of edits) {
    assert.notEqual(edited, printed);
    assert.equal(certifyPrinted(edited, stock).certificates, null, edited.slice(-300));
  }
});

test("a program without a chain has no certificates", () => {
  const { value } = compile({ path: "tools.yaml", text: catalog(FILE) });
  assert.ok(value !== null);
  assert.ok(!canonicalJson(programOf(value.plans, { base: new URL("file:///"), certificates: value.certificates })).includes("certificate"));
});

test("the library audits a catalog that asks for it, and close writes what waits", async () => {
  const connection = await connect(write("library.yaml", catalog("{ enabled: true, path: ./library.jsonl, chain: true }")));
  await connection.call("list_notes", { colour: "red" }, { principal: "ada", requestId: "lib-1" });
  await connection.call("list_notes", { colour: 7 }, { principal: "eve" }).catch(() => undefined);
  await connection.close();
  assert.deepEqual(recordsIn("library.jsonl").map(({ principal, status }) => [principal, status]), [[undefined, undefined], ["ada", "ok"], ["eve", "error"]]);
});

test("the library refuses a catalog whose audit cannot be in force", async () => {
  await assert.rejects(connect(write("refused.yaml", catalog("{ enabled: true, path: ./planted.jsonl }"))), /audit: cannot open/);
});

test("`toolsrv test` writes no audit record", async () => {
  write("tested.yaml", catalog("{ enabled: true, path: ./tested.jsonl }"));
  const io = memoryIo({ cwd: folder });
  assert.equal(await toolsrv(["test", "tested.yaml", "list_notes"], io), 0, io.err());
  assert.ok(!existsSync(file("tested.jsonl")));
});

test.run();
