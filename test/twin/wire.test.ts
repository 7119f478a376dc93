/**
 * A twin answers the wire cases of test/golden/wire as the real server does, byte for byte but for rows: against the
 * recorded files, and beside a real server of the same catalog, over HTTP and over stdio.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { run } from "../../generator/cli/main.js";
import { compile } from "../../generator/compile.js";
import { programOf } from "../../generator/program.js";
import { twinStore } from "../../generator/twin/rows.js";
import type { Program } from "../../runtime/abi/call.js";
import { BackendError } from "../../runtime/abi/errors.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import type { Authenticator } from "../../runtime/auth/authenticate.js";
import { NO_AUTHENTICATION } from "../../runtime/auth/none.js";
import { createEngine } from "../../runtime/call/engine.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import { VERSIONS, type ProtocolVersion } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import { serveStdio } from "../../runtime/serve/stdio/server.js";
import { readFaults } from "../../runtime/twin/faults.js";
import { twinProgram } from "../../runtime/twin/program.js";
import type { TwinData } from "../../runtime/twin/rows.js";
import { memoryIo } from "../lib/io.js";
import { rawHttp } from "../lib/raw-http.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "../mcp/program.js";
import { BY_ROLE, CALLERS, EXCHANGES, messageOf, RBAC, record, REFUSALS, shown, withServer, type Exchange } from "../mcp/wire-cases.js";

const test = suite("twin/wire");

/** The bytes without rows, what is counted of them, and the time. Lists of tools are no rows. */
function withoutRows(text: string): string {
  return text.split("\n").map((line) => (line.includes("inputSchema") ? line : line
    .replace(/(\\?)"rows\1":\[.*?\](?=,\1"count)/gs, "ROWS").replace(/(\\?)"count\1":\d+,\1"truncated\1":(true|false)/g, "COUNT"))
    .replace(/(\\?)"latency_ms\1":[\d.]+/g, "TIME").replace(/(\\?)"compiled_query\1":(?:null|\{\})/g, "QUERY")).join("\n");
}

/** Each `=== name: status` part of a record, by its name. */
function partsOf(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(/^=== /m).slice(1).map((part) => [part.slice(0, part.indexOf("\n")).replace(/: \d+$/, ""), part] as const));
}

const golden = (name: string): string => readFileSync(repo("test/golden/wire", `${name}.txt`), "utf8");
const faultsOf = (text: string, program: Program) => {
  const faults = readFaults(text, Object.keys(program.plans));
  assert.ok(!("problem" in faults), JSON.stringify(faults));
  return faults;
};

/** The program behind the recorded files, whose `echo` and `wait` are tools of a store. */
function fixtureTwin(settings: Program["settings"] = {}): Program {
  const fixture = fixtureProgram(settings);
  const notes: ToolPlan = { kind: "scroll", connection: "notes", collection: "notes", bind: [], limit: { default: 10, max: 10 }, output: { select: ["text"], redact: [] } } as unknown as ToolPlan;
  const program: Program = { ...fixture, plans: { ...fixture.plans, echo: notes, wait: notes }, connections: { notes: { backend: "sqlite", settings: {} } } };
  const data: TwinData = { seed: 1, values: new Map(), store: new Map([["notes", new Map([["notes", { fields: [], rows: [{ row: { _id: 1, text: "made up" }, text: "made up" }] }]])]]) };
  return twinProgram(program, data, faultsOf("backend_unreachable:store_down:1,rate_limited:limited:1,internal:bug:1", program));
}

/** What a store says of itself, and how long a limit lasts: a fault has words and seconds of its own. */
const OWN_WORDS: { readonly [name: string]: (text: string) => string } = {
  "tools/call, store down": (text) => text.replace(/message\\":\\"[^"\\]*/, "WORDS"),
  "tools/call, rate limit": (text) => text.replace(/"message":"[^"]*"/, "WORDS").replace(/retry-after: \d+/, "SECONDS").replace(/"retry_after_s":\d+/, "SECONDS"),
};
/** Its tool refuses by code of its own; a catalog refuses by roles, which the other cases have. */
const NOT_OF_A_CATALOG = "tools/call, refused";

test("a twin answers the recorded cases of every version with the recorded bytes, but for rows", () =>
  withServer(fixtureTwin(), NO_AUTHENTICATION, async (port) => {
    for (const version of VERSIONS) {
      const [want, found] = [partsOf(golden(version.name)), partsOf(await record(port, version, EXCHANGES))];
      assert.deepEqual([...found.keys()], [...want.keys()]);
      for (const [name, text] of want) {
        const own = OWN_WORDS[name] ?? ((one: string) => one);
        if (name !== NOT_OF_A_CATALOG) assert.equal(own(withoutRows(found.get(name) ?? "")), own(withoutRows(text)), `${version.name}: ${name}`);
      }
      assert.match(withoutRows(found.get("tools/call") ?? ""), /ROWS,COUNT/, "rows were taken out");
    }
  }));

test("a twin answers each set of roles with the recorded bytes, but for rows", async () => {
  for (const [caller, claims] of Object.entries(CALLERS)) {
    const authenticator: Authenticator = { headers: [], authenticate: () => ({ id: caller, claims, headers: {} }) };
    await withServer(fixtureTwin({ security: { rbac: RBAC } }), authenticator, async (port) => {
      for (const version of VERSIONS) assert.equal(withoutRows(await record(port, version, BY_ROLE)), withoutRows(golden(`${version.name}-${caller}`)), `${version.name} ${caller}`);
    });
  }
});

test("a twin refuses over HTTP what the server refuses, with the recorded bytes", () =>
  withServer(fixtureTwin(), NO_AUTHENTICATION, async (port) => {
    const want = partsOf(golden("refusals"));
    for (const [name, request] of Object.entries(REFUSALS)) assert.equal(partsOf(shown(name, await rawHttp(port, request))).get(name)?.trim(), want.get(name)?.trim(), name);
  }));

/** A catalog with the tools of the recorded cases, each of which ends as the case says without code of its own. */
const CATALOG = `tds_version: "2"
connections:
  main: { backend: sqlite, path: notes.db }
defaults: { embedding: { model: hashing-256 } }
security:
  rbac: { enabled: true, default_role: viewer, role_claim: roles, deny_tools: [forbidden], roles: { viewer: { allow: ["*"] } } }
  rate_limit: { enabled: true, per_tool: { limited: 1/day } }
tools:
  - { name: echo, kind: scroll, description: "Returns the notes with a text. Use when a note is wanted.", target: { connection: main, collection: notes }, parameters: [{ name: text, path: text, dtype: keyword, required: true, description: "The text of the note." }], output: { fields: [text] } }
  - { name: store_down, kind: count, description: "Counts what is in a store that is gone. Use never.", target: { connection: main, collection: notes } }
  - { name: forbidden, kind: count, description: "Counts notes for nobody at all. Use never.", target: { connection: main, collection: notes } }
  - { name: limited, kind: count, description: "Counts notes once a day and not again. Use rarely.", target: { connection: main, collection: notes } }
  - { name: bug, kind: count, description: "Counts notes in a collection that a bug reads. Use never.", target: { connection: main, collection: buggy } }
`;

interface Pair {
  readonly real: Program;
  readonly twin: Program;
}

/** A real program over a store, and its twin, which fails where the store does. */
async function withPair(use: (pair: Pair) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-twin-wire-"));
  try {
    writeFileSync(join(folder, "tools.yaml"), CATALOG);
    writeFileSync(join(folder, "rows.jsonl"), ['é"\n', "x", "y"].map((text, index) => JSON.stringify({ id: `n${index}`, text })).join("\n"));
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "notes", "--id", "id", "--text", "text"], io), 0, io.err());
    const { value, diagnostics } = compile({ path: "tools.yaml", text: CATALOG }, { target: "describe" });
    assert.ok(value, JSON.stringify(diagnostics));
    const program = programOf(value.plans, { base: pathToFileURL(`${folder}/`) });
    const store = twinStore({ plans: value.plans, catalog: value.checked, env: new Map(), schemas: new Map(), scenarios: [], seed: 1 });
    await use({ real: withTrouble(program), twin: twinProgram(program, { seed: 1, values: new Map(), store }, faultsOf("backend_unreachable:store_down:1,internal:bug:1", program)) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The real program with a bug, and with a store that has just gone. */
function withTrouble(program: Program): Program {
  const code = async () => {
    const made = await program.code();
    return { ...made, handlers: { ...made.handlers, bug: () => Promise.reject(new TypeError("a bug")), store_down: () => Promise.reject(new BackendError("unreachable", "sqlite", "the disk is gone")) } };
  };
  return { ...program, code };
}

const USE_UP: Exchange = { name: "the day's only call", method: "tools/call", params: { name: "limited" } };
const [INITIALIZE, ...OTHERS] = EXCHANGES as readonly [Exchange, ...Exchange[]];
const CASES: readonly Exchange[] = [INITIALIZE, USE_UP, ...OTHERS];
const blind = (text: string): string => [...partsOf(text)].map(([name, part]) => (OWN_WORDS[name] ?? ((one: string) => one))(withoutRows(part))).join("");

test("beside a real server of a catalog, its twin answers every case over HTTP alike, refusals and limits of the catalog too", () =>
  withPair(async ({ real, twin }) => {
    const answers = async (program: Program): Promise<string> => {
      let text = "";
      await withServer(program, NO_AUTHENTICATION, async (port) => {
        for (const version of VERSIONS) text += `# ${version.name}\n${blind(await record(port, version, CASES))}`;
      }, { engine: { now: () => 1000 } });
      return text;
    };
    const want = await answers(real);
    assert.equal(await answers(twin), want);
    for (const reached of [/"code":-32001/, /"code":-32029/, /"code":-32603/, /backend_unreachable/, /ROWS,COUNT/, /invalid_arguments/]) assert.match(want, reached);
  }), { timeoutMs: 60_000 });

/** Every exchange over stdio, one after the other, in the protocol version. */
async function overStdio(program: Program, version: ProtocolVersion): Promise<string> {
  const engine = createEngine(program, { env: new Map(), metaTools: true, now: () => 1000 });
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const mcp = createMcpServer({ engine, info: { name: "golden", title: "toolsrv", version: "0.0.0" }, log });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = serveStdio(() => mcp, { input, output: output as never }, () => undefined);
  const lines = output.setEncoding("utf8")[Symbol.asyncIterator]() as AsyncIterator<string>;
  const parts: string[] = [];
  let read = "";
  for (const exchange of CASES) {
    input.write(`${exchange.body ?? JSON.stringify(messageOf(exchange, version))}\n`);
    if (exchange.name === "notification") continue;
    while (!read.includes("\n")) {
      const { value, done } = await lines.next();
      assert.ok(done !== true, exchange.name);
      read += value;
    }
    parts.push(`=== ${exchange.name}: 0\n${read.slice(0, read.indexOf("\n"))}\n`);
    read = read.slice(read.indexOf("\n") + 1);
  }
  input.end();
  await server.ended;
  await engine.close();
  return blind(parts.join(""));
}

test("beside a real server of a catalog, its twin answers every case over stdio alike", () =>
  withPair(async ({ real, twin }) => {
    for (const version of VERSIONS) {
      const want = await overStdio(real, version);
      assert.equal(await overStdio(twin, version), want, version.name);
      // The newest protocol has no handshake and is not spoken on stdio.
      assert.match(want, version.era === "stateless" ? /initialize comes first/ : /ROWS,COUNT/, version.name);
    }
  }), { timeoutMs: 60_000 });

test.run();
