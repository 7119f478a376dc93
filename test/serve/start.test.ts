/** How a server starts and ends: what it says at the start, whose the flags are, and its exit codes. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Program } from "../../runtime/abi/call.js";
import type { DocumentAclPlan, TenantPlan } from "../../runtime/abi/plan.js";
import { parseEnvFile } from "../../runtime/config/env-file.js";
import { readFlags } from "../../runtime/config/serve-options.js";
import { run, startFailure } from "../../runtime/serve/main.js";
import { tenantHeaders } from "../../runtime/serve/tenant-headers.js";
import { fixtureProgram } from "../mcp/program.js";
import { suite } from "../lib/suite.js";

const test = suite("start of a server");
const here = fileURLToPath(import.meta.url);
const fixture = join(here, `../../mcp/fixture-server${extname(here)}`);
const folder = mkdtempSync(join(tmpdir(), "toolsrv-start-"));
test.after(() => rmSync(folder, { recursive: true }));

/** Exit code and standard error of a server whose input is closed at once. */
async function startOf(words: readonly string[], program: Program = fixtureProgram(), environment: { readonly [name: string]: string } = {}): Promise<readonly [number, string]> {
  const notes: string[] = [];
  const stdin = new PassThrough();
  stdin.end();
  const io = { stdin, takeStdout: () => new PassThrough(), print: () => undefined, note: (text: string) => void notes.push(text), stop: AbortSignal.abort(), environment, now: () => performance.now() };
  return [await run([{ name: "tools", program }], words, io), notes.join("")];
}

/** The fixture with tenancy on one of its tools. */
function tenanted(tenant: TenantPlan): Program {
  const program = fixtureProgram();
  const [name = "", ...others] = Object.keys(program.plans);
  return { ...program, plans: { [name]: { kind: "count", connection: "none", collection: "none", bind: [], tenant }, ...Object.fromEntries(others.map((other) => [other, program.plans[other] as Program["plans"][string]])) } };
}

/** The fixture with document access on one of its tools, or within a pipeline. */
function accessed(acl: DocumentAclPlan): Program {
  const program = fixtureProgram();
  const [name = "", ...others] = Object.keys(program.plans);
  return { ...program, plans: { [name]: { kind: "count", connection: "none", collection: "none", bind: [], document_acl: acl }, ...Object.fromEntries(others.map((other) => [other, program.plans[other] as Program["plans"][string]])) } };
}

const HTTP = ["--http", "127.0.0.1:0", "--auth", "none"];

test("tenancy that no request can satisfy is said at the start: header and claim on stdio, claim with --auth none", async () => {
  const header = tenanted({ from: "header", name: "X-Org", path: "org", enforce: "strict" });
  const claim = tenanted({ from: "claim", name: "org", path: "org", enforce: "strict" });
  assert.match((await startOf([], header))[1], /takes the tenant from the header 'X-Org' \(security\.tenancy\), and stdio has no headers: 1 of \d+ tools refuse every call/);
  assert.match((await startOf([], claim))[1], /claim 'org'.*stdio has no claims/);
  assert.match((await startOf(HTTP, claim))[1], /claim 'org'.*with --auth none callers have no claims/);
  assert.doesNotMatch((await startOf(HTTP, header))[1], /takes the tenant/);
});

test("document access without callers who have claims does not start: on stdio and with --auth none", async () => {
  const program = accessed({ combine: "any", rules: [{ match: "any_of", claim: "groups", field: "allowed" }, { match: "equals", claim: "sub", field: "owner" }] });
  for (const [words, why] of [[[], "stdio has no authenticated caller"], [HTTP, "callers of --auth none have no claims"]] as const) {
    const [code, notes] = await startOf(words, program);
    assert.equal(code, 2, notes);
    assert.ok(notes.includes("claims 'groups', 'sub'") && notes.includes("security.document_acl") && notes.includes(why), notes);
  }
});

test("a program that embeds the server states tenants and claims, so neither is missed at the start", async () => {
  const claim = tenanted({ from: "claim", name: "org", path: "org", enforce: "strict" });
  assert.doesNotMatch((await startOf(["--embedded"], claim))[1], /takes the tenant/);
  const acl = accessed({ combine: "any", rules: [{ match: "equals", claim: "sub", field: "owner" }] });
  assert.equal((await startOf(["--embedded"], acl))[0], 0);
});

test("--embedded over HTTP does not start", async () => {
  const [code, notes] = await startOf([...HTTP, "--embedded"]);
  assert.deepEqual([code, /--embedded is for stdio/.test(notes)], [2, true], notes);
});

test("the environment fills references with --embedded only, and the env file wins", async () => {
  const program: Program = { ...fixtureProgram(), base: pathToFileURL(`${folder}/`), connections: { main: { backend: "sqlite", settings: { path: { $env: "EMBEDDED_DB" } } } } };
  writeFileSync(join(folder, "there.db"), "");
  writeFileSync(join(folder, "embedded.env"), "EMBEDDED_DB=there.db\n");
  const [code, notes] = await startOf([], program, { EMBEDDED_DB: "there.db" });
  assert.deepEqual([code, /EMBEDDED_DB/.test(notes)], [2, true], notes);
  assert.deepEqual(await startOf(["--embedded"], program, { EMBEDDED_DB: "there.db" }).then(([end, said]) => [end, /no database/.test(said)]), [0, false]);
  const merged = await startOf(["--embedded", "--env", join(folder, "embedded.env")], program, { EMBEDDED_DB: "none.db" });
  assert.deepEqual([merged[0], /no database/.test(merged[1])], [0, false], merged[1]);
});

test("a database that is missing is said at the start, and does not keep the server from starting", async () => {
  const program: Program = { ...fixtureProgram(), base: pathToFileURL(`${folder}/`), connections: { main: { backend: "sqlite", settings: { path: { $env: "DB" } } } } };
  writeFileSync(join(folder, "a b#1.db"), "");
  for (const [file, missing] of [["none.db", true], ["a b#1.db", false]] as const) {
    writeFileSync(join(folder, "db.env"), `DB=${file}\n`);
    const [code, notes] = await startOf(["--env", join(folder, "db.env")], program);
    assert.equal(code, 0, notes);
    assert.equal(/connection 'main' of tools\.yaml has no database yet.*toolsrv load/.test(notes), missing, file);
    assert.doesNotMatch(notes, /none\.db/, "a value of the env file is in no message");
  }
});

test("--env and --env-file are one flag, and a missing file is exit 2", async () => {
  assert.deepEqual(readFlags(["--env", "a"]), readFlags(["--env-file=a"]));
  for (const flag of ["--env", "--env-file"]) {
    const [code, notes] = await startOf([flag, join(folder, "missing")]);
    assert.deepEqual([code, /--env .*missing: no such file/.test(notes)], [2, true], notes);
  }
});

test("a built server owns --env: Node neither ends for a missing file nor applies its NODE_OPTIONS", async () => {
  assert.deepEqual((await processOf(["--env", join(folder, "missing")])).code, 2);
  writeFileSync(join(folder, "options.env"), "NODE_OPTIONS=--no-such-option\nX=1\n");
  const { code, stderr } = await processOf(["--env", join(folder, "options.env")]);
  assert.equal(code, 0, stderr);
});

test("a file that Node itself has read is noticed, and refused when it set NODE_OPTIONS", async () => {
  const file = join(folder, "node.env");
  writeFileSync(file, "A=1\nB=2\n");
  assert.match((await startOf(["--env-file", file], fixtureProgram(), { A: "1", B: "2" }))[1], /Node itself has read .*--env, which Node leaves alone/);
  assert.doesNotMatch((await startOf(["--env-file", file], fixtureProgram(), { A: "1" }))[1], /Node itself/);
  assert.doesNotMatch((await startOf(["--env", file], fixtureProgram(), { A: "1", B: "2" }))[1], /Node itself/);
  writeFileSync(file, "NODE_OPTIONS=--max-old-space-size=100\n");
  const [code, notes] = await startOf(["--env-file", file], fixtureProgram(), { NODE_OPTIONS: "--max-old-space-size=100" });
  assert.deepEqual([code, /applied its NODE_OPTIONS/.test(notes)], [2, true], notes);
});

test("an env file warns of quotes, trailing comments and export, by line and name, never with the value", async () => {
  const text = "A='secret-1'\nB=\"secret-2\"\nC=secret-3 # why\nexport D=secret-4\nE=it's\nF=a#b\n# G='x'\n";
  const { values, warnings } = parseEnvFile(text);
  assert.deepEqual([values.get("A"), values.get("C"), values.get("export D")], ["'secret-1'", "secret-3 # why", "secret-4"], "values keep their bytes");
  assert.deepEqual(warnings.map(({ line, name }) => [line, name]), [[1, "A"], [2, "B"], [3, "C"], [4, "export D"]]);
  const file = join(folder, "odd.env");
  writeFileSync(file, text);
  const [, notes] = await startOf(["--env", file]);
  assert.match(notes, /odd\.env:1: A: the quotes are part of the value/);
  assert.match(notes, /odd\.env:3: C: what follows '#' is part of the value/);
  assert.doesNotMatch(notes, /secret/);
});

test("two catalogs that read one header in different encodings do not start together", () => {
  const of = (encoding: "percent" | undefined) => tenanted({ from: "header", name: encoding === undefined ? "x-org" : "X-Org", ...(encoding === undefined ? {} : { encoding }), path: "org", enforce: "strict" });
  assert.deepEqual(tenantHeaders([of("percent"), of("percent")]), [{ name: "x-org", encoding: "percent" }]);
  assert.throws(() => tenantHeaders([of("percent"), of(undefined)]), { name: "StartError", message: /x-org in different encodings .*percent and plain/ });
});

test("what the machine refuses at the start is exit 2 with what to run, and only a bug is 70", () => {
  const said: string[] = [];
  const write = (text: string): void => void said.push(text);
  const native = Object.assign(new Error("The module '/x/node_modules/better-sqlite3/build/Release/better_sqlite3.node' was compiled against a different Node.js version using NODE_MODULE_VERSION 108."), { code: "ERR_DLOPEN_FAILED" });
  assert.equal(startFailure(native, { write }), 2);
  assert.match(said.join(""), /npm rebuild better-sqlite3/);
  assert.equal(startFailure(new Error("Could not locate the bindings file. Tried:\n → /x/node_modules/better-sqlite3/build/better_sqlite3.node"), { write }), 2);
  assert.equal(startFailure(new TypeError("x is not a function"), { write }), 70);
});

const FULL = "answers that a full disk swallows are no success: stdio and --help exit 2";
if (process.platform !== "linux") test.skip(FULL, "/dev/full is Linux");
else {
  test(FULL, async () => {
    const full = openSync("/dev/full", "w");
    const initialize = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } } });
    for (const [words, input] of [[[], `${initialize}\n`], [["--help"], ""]] as const) {
      const { code, stderr } = await processOf(words, { input, stdout: full });
      assert.deepEqual([code, /standard output: .*no space left/.test(stderr)], [2, true], stderr);
    }
  }, { timeoutMs: 20_000 });
}

test("a requested shutdown is exit 0", async () => {
  for (const words of [[], HTTP]) {
    const { code } = await processOf(words, { input: null, stopAt: / on (stdio|http)/ });
    assert.equal(code, 0, words.join(" "));
  }
}, { timeoutMs: 20_000 });

interface ProcessOptions {
  /** `null` leaves the input open. */
  readonly input?: string | null;
  readonly stdout?: number;
  /** Sends SIGTERM when standard error matches. */
  readonly stopAt?: RegExp;
}

/** The fixture server as `node fixture-server.js`, without the `--` that would hide its flags from Node. */
function processOf(words: readonly string[], { input = "", stdout, stopAt }: ProcessOptions = {}): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = spawn(process.execPath, [...process.execArgv, fixture, ...words], { stdio: ["pipe", stdout ?? "ignore", "pipe"] });
  let stderr = "";
  let stopped = false;
  child.stdin?.on("error", () => undefined);
  if (input !== null) child.stdin?.end(input);
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    if (stopped || stopAt?.test(stderr) !== true) return;
    // The second signal would end the process at once.
    stopped = true;
    child.kill("SIGTERM");
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stderr })));
}

test.run();
