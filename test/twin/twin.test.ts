/** The twin of a server: the same bytes but for rows, the same guards, its own rows, and faults on request. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../generator/compile.js";
import { readScenarios, type Scenario } from "../../generator/eval/scenarios.js";
import { programOf } from "../../generator/program.js";
import { madeUpValues, twinStore } from "../../generator/twin/rows.js";
import type { Engine, Envelope, Principal, Program } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { dispatch } from "../../runtime/mcp/dispatch.js";
import { createMcpServer, type Peer } from "../../runtime/mcp/server.js";
import { VERSIONS, type ProtocolVersion } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import { readFaults, type Fault } from "../../runtime/twin/faults.js";
import { twinEnv, twinProgram } from "../../runtime/twin/program.js";
import { readTwin, twinText } from "../../runtime/twin/rows.js";
import { loadMovies } from "../e2e/quickstart.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("twin");

const BASE = new URL("file:///nowhere/");
const QUICKSTART = readFileSync(repo("specs/examples/quickstart/tools.yaml"), "utf8");

function compiled(text: string) {
  const { value, diagnostics } = compile({ path: "tools.yaml", text }, { target: "describe" });
  assert.ok(value, JSON.stringify(diagnostics));
  return value;
}

interface TwinOf { readonly scenarios?: readonly Scenario[]; readonly faults?: readonly Fault[]; readonly seed?: number; readonly env?: ReadonlyMap<string, string> }

function twinOf(text: string, { scenarios = [], faults = [], seed = 1, env: given = new Map() }: TwinOf = {}): { readonly program: Program; readonly env: ReadonlyMap<string, string> } {
  const { plans, checked } = compiled(text);
  const values = madeUpValues(plans, given);
  const store = twinStore({ plans, catalog: checked, env: new Map([...given, ...values]), schemas: new Map(), scenarios, seed });
  const data = readTwin(twinText({ seed, values, store }), "rows.json");
  return { program: twinProgram(programOf(plans, { base: BASE }), data, faults), env: twinEnv(data, given) };
}

function engineOf({ program, env }: ReturnType<typeof twinOf>): Engine {
  return createEngine(program, { env, metaTools: true });
}

const NOBODY: Principal = { id: null, claims: {}, headers: {} };
const call = (engine: Engine, tool: string, args: object, principal: Principal = NOBODY): Promise<Envelope> => engine.call(tool, args, { requestId: "t", principal });

/** The exchanges of test/mcp/wire.test.ts, with tools of the quickstart. */
const EXCHANGES: readonly { readonly method: string; readonly params?: object }[] = [
  { method: "initialize", params: { protocolVersion: "VERSION", capabilities: {}, clientInfo: { name: "t", version: "1" } } },
  { method: "initialize", params: { protocolVersion: "1999-01-01" } },
  { method: "server/discover" }, { method: "ping" }, { method: "tools/list" }, { method: "tools/list", params: { cursor: "x" } },
  { method: "tools/call", params: { name: "search_movies", arguments: { query: "night", limit: 1 } } },
  { method: "tools/call", params: { name: "run_tool", arguments: { name: "search_paramount_movies", arguments: { query: "star", limit: 1 } } } },
  { method: "tools/call", params: { name: "list_available_tools" } },
  { method: "tools/call", params: { name: "count_movies", arguments: {} } },
  { method: "tools/call", params: { name: "list_movies", arguments: { limit: 1 } } },
  { method: "tools/call", params: { name: "get_movie", arguments: { title: "no such film" } } },
  { method: "tools/call", params: { name: "run_tool", arguments: {} } },
  { method: "tools/call", params: { name: "search_movies", arguments: { query: 5 } } },
  { method: "tools/call", params: { name: "search_movies", arguments: { query: "x", genre: ["Wester"] } } },
  { method: "tools/call", params: { name: "search_movie", arguments: {} } },
  { method: "tools/call", params: {} }, { method: "resources/list" },
];

function answers(engine: Engine, version: ProtocolVersion): Promise<readonly string[]> {
  const mcp = createMcpServer({ engine, info: { name: "t", title: "t", version: "0" }, log: createLog({ format: "text", level: "silent", write: () => undefined }) });
  const peer: Peer = { transport: "http", principal: NOBODY, session: null, version, logLevel: null, agree: () => undefined, begin: () => true, signal: () => new AbortController().signal, end: () => undefined, cancel: () => undefined, setLogLevel: () => undefined, notify: () => undefined };
  const meta = version.era === "stateless" ? { _meta: { "io.modelcontextprotocol/protocolVersion": version.name, "io.modelcontextprotocol/clientCapabilities": {} } } : {};
  return Promise.all(EXCHANGES.map(({ method, params }) => new Promise<string>((resolve) => {
    const message: unknown = JSON.parse(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, ...meta } }).replace('"VERSION"', JSON.stringify(version.name)));
    dispatch(mcp, message, peer, { answer: (answered) => resolve(answered === null ? "" : `${answered.status} ${withoutRows(Buffer.from(answered.body as string).toString())}`) });
  })));
}

/** The bytes without rows, what is counted of them, and the time. */
function withoutRows(text: string): string {
  const blind = (envelope: string): string => envelope.replace(/(\\?)"rows\1":\[.*?\](?=,\1"count)/s, "ROWS").replace(/(\\?)"count\1":\d+,\1"truncated\1":(true|false)/, "COUNT").replace(/(\\?)"latency_ms\1":[\d.]+/, "TIME");
  return blind(blind(text));
}

test("in every protocol version the twin answers as the server does, byte for byte but for rows", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-twin-"));
  try {
    await loadMovies(folder);
    const env = new Map([["MOVIES_DB", join(folder, "movies.db")]]);
    const real = createEngine(programOf(compiled(QUICKSTART).plans, { base: BASE }), { env, metaTools: true });
    const twin = engineOf(twinOf(QUICKSTART));
    for (const version of VERSIONS) {
      const [want, found] = [await answers(real, version), await answers(twin, version)];
      assert.deepEqual(found, want, version.name);
      assert.ok(found.filter((text) => text.includes("ROWS")).length >= 5, "rows were taken out");
    }
    await Promise.all([real.close(), twin.close()]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, { timeoutMs: 60_000 });

test("rows are the same for a seed and others for another; a new scenario changes no generated row", async () => {
  const rows = async (options: TwinOf) => (await call(engineOf(twinOf(QUICKSTART, options)), "list_movies", { limit: 50 })).rows;
  const first = await rows({ seed: 7 });
  assert.ok(first.length >= 24);
  assert.deepEqual(await rows({ seed: 7 }), first);
  assert.notDeepEqual(await rows({ seed: 8 }), first);
});

test("guards hold in the twin, and every guarded tool finds rows", async () => {
  const engine = engineOf(twinOf(QUICKSTART));
  const { rows } = await call(engine, "search_paramount_movies", { query: "anything", limit: 20 });
  assert.ok(rows.length > 0 && rows.every((row) => row["distributor"] === "Paramount Pictures"));
  const money = await call(engine, "search_box_office", { limit: 25 });
  assert.ok(money.rows.length > 0 && money.rows.every((row) => Number(row["worldwide_gross"]) > 0 && !("us_dvd_sales" in row)), "redaction holds too");
});

const TENANTS = `tds_version: '2'
connections:
  main: { backend: qdrant, url: "\${URL}", api_key: "\${KEY}", builtin_defaults: { static_filters: { must: [{ path: site, value: "\${SITE}" }] } }, builtin_tools: { get_by_id: true } }
defaults: { embedding: { provider: hosted, model: text-embedding-3-small, config: { api_key: "\${EMBED_KEY}" } } }
security: { tenancy: { mode: claim, claim: org, path: org } }
observability: { audit: { enabled: true, sink: http, url: "https://audit.example.com" } }
tools:
  - name: search_bills
    kind: search
    description: Search the bills of the caller's organisation by their texts.
    target: { connection: main, collection: bills }
    query: { param: query }
    parameters: [{ name: number, path: number, dtype: keyword, op: eq }]
    rerank: { enabled: true, provider: http, model: m, config: { base_url: "https://rerank.example.com" } }
`;

const asTenant = (org: string): Principal => ({ id: "p", claims: { org }, headers: {} });

test("no value of the environment, store or service is needed, and no tenant sees another's rows", async () => {
  const twin = twinOf(TENANTS.replace(/observability.*\n/, ""));
  assert.ok(!/api_key|EMBED_KEY|rerank\.example/.test(JSON.stringify({ ...twin.program, plans: twin.program.plans })), "neither secrets nor addresses are in the program");
  const engine = engineOf(twin);
  const seen = await Promise.all(["tenant-a", "tenant-b"].map(async (org) => (await call(engine, "search_bills", { query: "x" }, asTenant(org))).rows));
  for (const [index, org] of ["tenant-a", "tenant-b"].entries()) assert.ok((seen[index]?.length ?? 0) > 0 && seen[index]?.every((row) => row["org"] === org), org);
  await assert.rejects(call(engine, "search_bills", { query: "x" }), { code: "auth_error" });
  assert.deepEqual((await call(engine, "search_bills", { query: "x" }, asTenant("tenant-c"))).rows, []);
});

test("a filter that the backend refuses is refused by the twin", async () => {
  const { compileFilter } = (await import("../../runtime/adapters/descriptors.js")).DESCRIPTORS.qdrant;
  assert.throws(() => compileFilter({ path: "a", op: "like", value: "x%" }));
  const { program } = twinOf(TENANTS.replace(/observability.*\n/, ""));
  const { adapter } = await (program.adapters["qdrant"] as NonNullable<Program["adapters"][string]>)();
  const store = await adapter.open({ twin: "main" }, { base: "/nowhere" });
  await assert.rejects(async () => store.fetch({ collection: "bills", filter: { path: "a", op: "like", value: "x%" }, limit: 1, offset: 0, fields: null }, new AbortController().signal), { name: "BackendError" });
  await assert.rejects(async () => store.count("none", null, new AbortController().signal), { name: "BackendError", kind: "not_found" });
});

test("what a scenario calls for is among the rows", async () => {
  const text = `scenarios:
  - call: { tool: search_bills, arguments: { query: coffee beans, number: b-77 }, context: { tenant: acme } }
    expect: { exact_rows: 3, row_field_equals: { state: paid } }
  - call: { tool: search_bills, arguments: { query: tea }, context: { claims: { org: globex } } }
    expect: { ids: [g-1, g-2] }
`;
  const { scenarios } = readScenarios({ path: "s", text }, ["search_bills"], "tools.yaml");
  assert.ok(scenarios);
  const engine = engineOf(twinOf(TENANTS.replace(/observability.*\n/, ""), { scenarios }));
  const { rows } = await call(engine, "search_bills", { query: "coffee beans", number: "b-77" }, asTenant("acme"));
  assert.deepEqual(rows.map(({ org, state, number }) => [org, state, number]), Array(3).fill(["acme", "paid", "b-77"]));
  const globex = await call(engine, "search_bills", { query: "tea" }, asTenant("globex"));
  assert.deepEqual(globex.rows.slice(0, 2).map(({ _id }) => _id).sort(), ["g-1", "g-2"], "found by the words of the scenario");
});

test("a fault fails the share of calls that was asked for, the same ones each time, after arguments and roles were judged", async () => {
  const faults = readFaults("timeout:list_movies:0.3,backend_unreachable:count_movies:1", ["list_movies", "count_movies"]);
  assert.ok(!("problem" in faults));
  const outcomes = async (seed: number): Promise<readonly string[]> => {
    const engine = engineOf(twinOf(QUICKSTART, { faults, seed }));
    const found: string[] = [];
    for (let n = 0; n < 100; n += 1) found.push(await call(engine, "list_movies", {}).then(() => "ok", (error: { readonly code: string }) => error.code));
    return found;
  };
  const first = await outcomes(1);
  const failed = first.filter((one) => one === "timeout").length;
  assert.ok(failed > 15 && failed < 45 && first.every((one) => one === "ok" || one === "timeout"), `${failed} of 100`);
  assert.deepEqual(await outcomes(1), first);
  assert.notDeepEqual(await outcomes(2), first);
  const engine = engineOf(twinOf(QUICKSTART, { faults }));
  await assert.rejects(call(engine, "count_movies", {}), { code: "backend_unreachable" });
  await assert.rejects(call(engine, "count_movies", { genre: 5 }), { code: "invalid_arguments" });
  assert.ok((await call(engine, "get_movie", { title: "x" })).rows.length >= 0, "other tools are left alone");
});

const WRONG: readonly (readonly [text: string, says: RegExp])[] = [
  ["timeout", /is not CODE:TOOL:RATE/], ["timeout:a", /is not CODE:TOOL:RATE/], ["timeout:a:1:2", /is not CODE/], ["slow:abc:1", /'slow' is not a fault/],
  ["timeout:abd:1", /no tool 'abd'; did you mean 'abc'/], ["timeout:abc:2", /not a number from 0 to 1/], ["timeout:abc:x", /not a number/], ["", /no fault/],
];

test("a fault that cannot be understood is refused", () => {
  for (const [text, says] of WRONG) {
    const read = readFaults(text, ["abc"]);
    assert.match("problem" in read ? read.problem : "read", says, text);
  }
});

test("values of a schema export are in the rows, and a file that is none is refused", async () => {
  const { plans, checked } = compiled(QUICKSTART);
  const field = { null_rate: 0, provenance: "native" as const, nullable: false, indexed: false, examples: [] };
  const collection = { name: "movies", sampled_n: 9, introspection: "typed" as const, vector: { sparse: true, dim: 4 }, native: null, fields: [{ ...field, path: "director", dtype: "keyword" as const, enum: ["Ann", "Bob"] }, { ...field, path: "title", dtype: "keyword" as const, enum: null }] };
  const store = twinStore({ plans, catalog: checked, env: new Map(), schemas: new Map([["movies", { connection: "movies", backend: "sqlite", redacted: false, collections: [collection] }]]), scenarios: [], seed: 1 });
  const engine = createEngine(twinProgram(programOf(plans, { base: BASE }), { seed: 1, values: new Map(), store }, []), { env: new Map() });
  const { rows } = await call(engine, "list_movies", { director: "Ann", limit: 50 });
  assert.ok(rows.length > 3 && rows.every(({ director, title }) => director === "Ann" && /^title \d+$/.test(String(title))));
});

test.run();
