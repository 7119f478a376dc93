/** A tool server with --trace: its calls in the trace service of its own process. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import * as z from "zod";
import type { Program } from "../../runtime/abi/call.js";
import { BackendError } from "../../runtime/abi/errors.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import { run } from "../../runtime/serve/main.js";
import { memoryAdapter, program } from "../call/program.js";
import { Lines, start } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { fixtureServer } from "../mcp/files.js";
import { fixtureProgram } from "../mcp/program.js";
import { type Json, temporaryDirectory, until } from "./lib.js";

const test = suite("trace/serve");

const GUARD = "guard-value-71";
const ROW = "row-text-82";
const URL_SECRET = "postgres://user:pass-93@db.internal/x";

const output = { id: true, score: true, redact: [{ path: "mail", mode: "mask" as const }] };
const read = { connection: "main", collection: "people", guard: { path: "org", op: "eq" as const, value: GUARD }, limit: { arg: "limit", default: 5, max: 9 }, output };
const PLANS: { readonly [tool: string]: ToolPlan } = {
  find_people: { kind: "search", ...read, query: { arg: "query", required: true, embedding: "default", mode: "dense" }, bind: [{ arg: "mail", path: "mail", op: "eq" }] },
  list_people: { kind: "scroll", ...read, bind: [] },
};

function people(): Program {
  const rows = [{ _id: "1", org: GUARD, mail: "ada@example.com", text: ROW }];
  const down = async (): Promise<never> => { throw new BackendError("unreachable", "sqlite", `no answer from ${URL_SECRET}`); };
  const made = program({ plans: PLANS, validators: { find_people: z.object({ query: z.string(), mail: z.string().optional() }) }, adapter: memoryAdapter(rows, { fetch: down }) });
  return { ...made, catalog: { file: "tools.yaml", version: "7", hash: `sha256:${"ab".repeat(32)}` } };
}

/** A busy machine takes its time to start. */
const PATIENT = { TRACE_SERVICE_STARTUP_HEALTH_TIMEOUT_S: "60" };

interface Serving {
  /** Where the trace service listens. */
  readonly url: string;
  readonly directory: string;
  readonly notes: string[];
  ask(id: number, method: string, params?: Json): Promise<Json>;
  call(id: number, name: string, args?: Json): Promise<Json>;
  get(path: string): Promise<Json>;
  /** Ends the server; its exit code. */
  stop(): Promise<number>;
}

/** A server on stdio in this process, with --trace on any port. */
async function serving(served: Program, work: (server: Serving) => Promise<void>, environment: { readonly [name: string]: string } = {}, words: readonly string[] = []): Promise<void> {
  const directory = await temporaryDirectory();
  const notes: string[] = [];
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stop = new AbortController();
  const answers = new Map<unknown, (message: Json) => void>();
  let text = "";
  stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as Json;
      answers.get(message["id"])?.(message);
    }
  });
  const io = { stdin, takeStdout: () => stdout, print: () => undefined, note: (note: string) => void notes.push(note), stop: stop.signal, environment: { TRACE_SERVICE_DATA_DIR: directory, ...PATIENT, ...environment }, now: () => performance.now() };
  const ended = run([{ name: "tools", program: served }], ["--trace", "127.0.0.1:0", ...words], io);
  let over = false;
  void ended.then(() => (over = true));
  const ask = (id: number, method: string, params: Json = {}): Promise<Json> => new Promise((resolve) => {
    answers.set(id, resolve);
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  });
  try {
    await until(() => over || notes.some((note) => note.includes("on stdio")));
    assert.ok(!over, notes.join(""));
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(notes.join(""))?.[0] ?? "";
    await ask(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } });
    await work({
      url, directory, notes, ask,
      call: (id, name, args = {}) => ask(id, "tools/call", { name, arguments: args }),
      get: async (path) => (await fetch(url + path)).json() as Promise<Json>,
      async stop() {
        stop.abort();
        return ended;
      },
    });
  } finally {
    stop.abort();
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

type Run = { readonly run_id: string; readonly status: string; readonly name: string; readonly tags: readonly string[]; readonly session_id: string | null; readonly user_id: string | null; readonly error_message: string | null };

/** The ended runs, oldest first, once there are so many. */
async function runsOf(server: Pick<Serving, "get">, count: number): Promise<readonly Run[]> {
  let runs: Run[] = [];
  await until(async () => {
    runs = (await server.get("/api/runs?extended=1&limit=200"))["runs"] as Run[];
    return runs.length >= count && runs.every(({ status }) => status !== "running");
  });
  return [...runs].reverse();
}

test("a call over stdio is a run under its request id, with its steps, plan and catalog", () => serving(people(), async (server) => {
  await server.call(1, "find_people", { query: "ada" });
  await server.call(2, "list_people");
  const [found, listed] = await runsOf(server, 2);
  assert.ok(found !== undefined && listed !== undefined);
  assert.match(found.run_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  assert.deepEqual([found.name, found.status, found.user_id], ["find_people", "completed", null]);
  const [, plan] = /^plan:([0-9a-f]{12})$/.exec(found.tags[3] ?? "") ?? [];
  assert.deepEqual(found.tags, ["catalog:abababababab", "version:7", "connection:main", `plan:${plan}`]);
  assert.notDeepEqual(found.tags, listed.tags, "another tool has another plan");
  assert.equal(found.session_id, listed.session_id, "calls of one connection are one session");
  assert.equal(((await server.get("/api/runs?tag=plan:" + (plan ?? "")))["runs"] as Run[]).length, 1);

  const { steps } = (await server.get(`/api/runs/${found.run_id}/journey?extended=1`)) as { steps: Json[] };
  assert.deepEqual(steps.map((step) => [step["event_type"], step["tool_name"] ?? step["agent_name"], step["parent_run_id"], step["summary"]]), [
    ["tool_start", "find_people", null, 'find_people({"query":"ada"})'],
    ["chain_start", "embed local/hashing-256", found.run_id, "embed local/hashing-256"],
    ["chain_end", "embed local/hashing-256", found.run_id, "embed local/hashing-256 → 1 vector"],
    ["retriever_start", "search main/people", found.run_id, "search main/people limit 5"],
    ["retriever_end", "search main/people", found.run_id, "search main/people → 1 row"],
    ["tool_end", "find_people", null, "find_people → 1 row"],
  ]);
  assert.deepEqual(steps[0]?.["attributes"], {
    "toolsrv.request_id": found.run_id, "toolsrv.catalog.hash": `sha256:${"ab".repeat(32)}`, "toolsrv.catalog.version": "7",
    "toolsrv.plan.id": plan, "toolsrv.plan.kind": "search", "toolsrv.connection": "main", "toolsrv.collection": "people",
  });
  assert.deepEqual([listed.status, listed.error_message], ["failed", "backend_unreachable: no answer from [address]"]);
}), { timeoutMs: 60_000 });

test("search finds a call by its request id, its plan and its arguments", () => serving(people(), async (server) => {
  await server.call(1, "find_people", { query: "lovelace" });
  await server.call(2, "find_people", { query: "hopper" });
  const [first] = await runsOf(server, 2);
  assert.ok(first !== undefined);
  const roots = async (q: string): Promise<readonly string[]> => {
    const answer = await server.get(`/api/search?q=${encodeURIComponent(q)}`);
    return [...new Set((answer["hits"] as { readonly run_id: string }[]).map((hit) => hit.run_id))];
  };
  await until(async () => (await roots("hopper")).length > 0);
  assert.deepEqual(await roots(first.run_id), [first.run_id]);
  assert.deepEqual(await roots("lovelace"), [first.run_id]);
  assert.equal((await roots(first.tags[3]?.slice("plan:".length) ?? "")).length, 2);
}), { timeoutMs: 60_000 });

test("neither rows nor guards nor addresses nor redacted arguments reach the trace", async () => {
  let kept = "";
  await serving(people(), async (server) => {
    await server.call(1, "find_people", { query: "ada", mail: "mail-of-ada@example.com", password: "pw-64", options: { api_token: "tok-65", accessToken: "tok-66" } });
    await server.call(2, "find_people", { query: 5, mail: "mail-of-ada@example.com" });
    await server.call(3, "list_people");
    await server.call(4, "run_tool", { name: "find_people", arguments: { query: "inner", secret: "sec-67" } });
    await server.call(5, "find_people", { query: "what is sk-live-ABCDEFGHIJKLMNOPQR68" });
    const runs = await runsOf(server, 5);
    assert.deepEqual(runs.map(({ name }) => name), ["find_people", "find_people", "list_people", "find_people", "find_people"], "run_tool is the tool that it runs");
    for (const { run_id } of runs) kept += await (await fetch(`${server.url}/api/runs/${run_id}/export?include=payloads`)).text();
    assert.match(kept, /"query":"ada"/);
    assert.match(kept, /"query":"inner"/);
    assert.equal(await server.stop(), 0);
    for (const file of readdirSync(server.directory, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) kept += readFileSync(join(file.parentPath, file.name)).toString("latin1");
    }
  });
  assert.deepEqual([GUARD, ROW, "pass-93", "db.internal", "mail-of-ada", "pw-64", "tok-65", "tok-66", "sec-67", "MNOPQR68"].filter((secret) => kept.includes(secret)), []);
}, { timeoutMs: 60_000 });

test("a full queue drops events and counts them, and no call waits for it", () => serving(people(), async (server) => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => server.call(index + 1, "find_people", { query: `q${index}` })));
  assert.ok(answers.every((answer) => (answer["result"] as Json)["isError"] !== true));
  let stats: Json = {};
  await until(async () => {
    stats = await server.get("/api/stats");
    // Some events may still be with the thread that redacts them.
    return stats["queue_depth"] === 0 && Number(stats["events_dropped"]) + Number(stats["events_processed"]) >= 240;
  });
  assert.ok(Number(stats["events_dropped"]) > 0, JSON.stringify(stats));
  assert.equal(Number(stats["events_dropped"]) + Number(stats["events_processed"]), 240);
}, { TRACE_SERVICE_QUEUE_MAXSIZE: "3", TRACE_SERVICE_PRINT_RUN_URL: "false" }), { timeoutMs: 60_000 });

test("what is recorded is on disk when the server has ended", async () => {
  const directory = await temporaryDirectory();
  try {
    const words = ["--trace", "127.0.0.1:0", "--http", "127.0.0.1:0", "--auth", "none"];
    const server = start(fixtureServer, words, { env: { TRACE_SERVICE_DATA_DIR: directory, ...PATIENT } });
    const [trace] = await server.sees(/http:\/\/127\.0\.0\.1:\d+(?=\/ui\/)/);
    const [url] = await server.sees(/http:\/\/127\.0\.0\.1:\d+\/mcp/);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "hello" } } });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
    for (let count = 0; count < 20; count++) assert.equal((await fetch(url, { method: "POST", headers, body })).status, 200);
    assert.equal(((await (await fetch(`${trace}/api/health`)).json()) as Json)["status"], "ok");
    server.child.kill("SIGTERM");
    assert.equal(await server.ended, 0);
    const again = start(fixtureServer, ["--trace", "127.0.0.1:0"], { env: { TRACE_SERVICE_DATA_DIR: directory, ...PATIENT } });
    const [after] = await again.sees(/http:\/\/127\.0\.0\.1:\d+(?=\/ui\/)/);
    const stats = (await (await fetch(`${after}/api/stats`)).json()) as Json;
    assert.deepEqual([stats["total_runs"], stats["completed"]], [20, 20]);
    again.child.stdin.end();
    assert.equal(await again.ended, 0);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, { timeoutMs: 60_000 });

test("on stdio nothing but the protocol is on standard output, and a link to each run on standard error", async () => {
  const directory = await temporaryDirectory();
  const server = start(fixtureServer, ["--trace"], { env: { TRACE_SERVICE_DATA_DIR: directory, TRACE_SERVICE_PORT: "0", ...PATIENT } });
  try {
    const lines = new Lines(server);
    await lines.initialize();
    await lines.ask(1, "tools/call", { name: "echo", arguments: { text: "a" } });
    await lines.ask(2, "tools/call", { name: "bug", arguments: {} });
    const [, base = ""] = await server.sees(/trace on (\S+)\/ui\/ — data in /);
    const links = [...server.stderr().matchAll(/^trace: (\S+)\/ui\/#\/runs\/(\S+)$/gm)];
    assert.deepEqual(links.map(([, at]) => at), [base, base]);
    lines.end();
    assert.equal(await lines.next(), null);
    assert.equal(await server.ended, 0);
    assert.ok(server.stderr().includes(`request_id=${links[1]?.[2]}`), "the log names a call as the trace does");
  } finally {
    await server.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}, { timeoutMs: 60_000 });

test("with --log-format json the lines about the trace are JSON too", () => serving(people(), async (server) => {
  await server.call(1, "find_people", { query: "ada" });
  await until(() => server.notes.some((note) => note.includes("/ui/#/runs/")));
  for (const note of server.notes) assert.equal(typeof (JSON.parse(note) as Json)["msg"], "string", note);
}, {}, ["--log-format", "json"]), { timeoutMs: 60_000 });

test("links to runs are few, however many calls there are", () => serving(people(), async (server) => {
  await Promise.all(Array.from({ length: 200 }, (_, index) => server.call(index + 1, "find_people", { query: "x" })));
  const links = server.notes.filter((note) => note.includes("/ui/#/runs/")).length;
  assert.ok(links >= 10 && links < 100, String(links));
}), { timeoutMs: 60_000 });

/** Exit code and words of a start that must not succeed, or ends by itself. */
async function startOf(words: readonly string[], environment: { readonly [name: string]: string } = {}, served: Program = fixtureProgram()): Promise<readonly [number, string]> {
  const notes: string[] = [];
  const stdin = new PassThrough();
  stdin.end();
  const io = { stdin, takeStdout: () => new PassThrough(), print: () => undefined, note: (note: string) => void notes.push(note), stop: AbortSignal.abort(), environment: { ...PATIENT, ...environment }, now: () => performance.now() };
  return [await run([{ name: "tools", program: served }], words, io), notes.join("")];
}

test("an address that is none, a host that others reach and a build without traces are refused in one line", async () => {
  const table: readonly (readonly [readonly string[], { readonly [name: string]: string }, RegExp])[] = [
    [["--trace", "127.0.0.1:99999"], {}, /^toolsrv: --trace takes HOST:PORT such as 127\.0\.0\.1:7842 or \[::1\]:7842, not '127\.0\.0\.1:99999'\n$/],
    [["--trace=what ever"], {}, /--trace takes HOST:PORT/],
    [["--trace", "what-ever"], {}, /unexpected argument 'what-ever'/],
    [["--trace", "0.0.0.0:0"], {}, /^toolsrv: --trace: host 0\.0\.0\.0 needs a token: set TRACE_SERVICE_AUTH_TOKEN, or bind 127\.0\.0\.1, localhost or ::1\n$/],
    [["--trace"], { TRACE_SERVICE_PORT: "many" }, /^toolsrv: --trace: TRACE_SERVICE_PORT must be a whole number from 0 to 65535, not "many"\n$/],
    [["--trace"], { TRACE_SERVICE_CONFIG: "/nowhere.toml" }, /settings file \/nowhere\.toml does not exist/],
  ];
  for (const [words, environment, message] of table) {
    const [code, text] = await startOf(words, environment);
    assert.equal(code, 2, text);
    assert.match(text, message);
  }
  const [code, text] = await startOf(["--trace"], {}, { ...fixtureProgram(), trace: null });
  assert.deepEqual([code, text], [2, "toolsrv: --trace: this server was built with --no-trace; build it again without, or use 'toolsrv serve --trace'\n"]);
});

test("a port or a directory that another process has is an error, exit 3; with port_auto the next port is taken", async () => {
  const directory = await temporaryDirectory();
  const holder = createServer();
  await new Promise<void>((ready) => holder.listen(0, "127.0.0.1", ready));
  const address = holder.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  try {
    const fixed = await startOf(["--trace", `127.0.0.1:${port}`], { TRACE_SERVICE_DATA_DIR: directory, TRACE_SERVICE_PORT_AUTO: "off" });
    assert.equal(fixed[0], 3, fixed[1]);
    assert.match(fixed[1], new RegExp(`^toolsrv: --trace: cannot listen on .*${port}`));
    const [code, text] = await startOf(["--trace", `127.0.0.1:${port}`], { TRACE_SERVICE_DATA_DIR: directory });
    assert.equal(code, 0, text);
    const [, taken] = /trace on http:\/\/127\.0\.0\.1:(\d+)\/ui\//.exec(text) ?? [];
    assert.ok(taken !== undefined && Number(taken) !== port, text);
    await serving(people(), async (server) => {
      const second = await startOf(["--trace"], { TRACE_SERVICE_DATA_DIR: server.directory, TRACE_SERVICE_PORT: "0" });
      assert.deepEqual([second[0], /^toolsrv: --trace: .*another process|in use/.test(second[1])], [3, true], second[1]);
    });
  } finally {
    holder.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, { timeoutMs: 60_000 });

test("enabled=false records nothing, start_server=false records without listening", async () => {
  const directory = await temporaryDirectory();
  try {
    const [code, text] = await startOf(["--trace"], { TRACE_SERVICE_ENABLED: "false", TRACE_SERVICE_DATA_DIR: join(directory, "none") });
    assert.deepEqual([code, text.split("\n")[0]], [0, "trace: enabled is false, calls are not recorded"]);
    assert.deepEqual(readdirSync(directory), []);
    const [, silent] = await startOf(["--trace", "0.0.0.0:1"], { TRACE_SERVICE_START_SERVER: "false", TRACE_SERVICE_DATA_DIR: directory });
    assert.match(silent, /^calls are recorded in /);
    assert.ok(readdirSync(directory).includes("traces.db"));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, { timeoutMs: 60_000 });

test.run();
