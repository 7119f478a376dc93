/** Reloads that turn spans or audit on and off: which calls are recorded, and what keeps the last good catalog. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Envelope, Program, ToolHandler } from "../../runtime/abi/call.js";
import { isToolError } from "../../runtime/abi/errors.js";
import type { Json } from "../../runtime/abi/plan.js";
import type { Project } from "../../runtime/abi/projects.js";
import { createEngine } from "../../runtime/call/engine.js";
import { StartError } from "../../runtime/config/exit.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import { readRecord } from "../../runtime/observe/audit/chain.js";
import { LearnedSecrets } from "../../runtime/observe/credentials.js";
import { createLog } from "../../runtime/observe/log.js";
import { createObservability } from "../../runtime/serve/observability.js";
import { routingOf } from "../../runtime/serve/projects.js";
import { ReloadableCatalogs } from "../../runtime/serve/reloadable-catalogs.js";
import { OWNER } from "../../runtime/serve/stdio/server.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram, rowsEnvelope } from "../mcp/program.js";
import { collector, ok, spansOf } from "../trace/collector.js";

const test = suite("observe/reload");
const folder = mkdtempSync(join(tmpdir(), "toolsrv-reload-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

type Observed = NonNullable<Program["settings"]["observability"]>;

interface Watched {
  /** Saves the catalog with these settings, and waits until it was reloaded or refused; returns what was noted of it. */
  save(observability: Observed): Promise<string>;
  /** Calls a tool of the newest catalog. */
  call(tool: string, requestId: string): Promise<Envelope>;
}

const audit = (path: string, more: { readonly [key: string]: Json } = {}): Observed => ({ audit: { sink: "file", path, ...more } });
const tracing = (endpoint: string): Observed => ({ tracing: { exporter: "otlp", endpoint, service_name: "shop", semconv: false } });

/** A server of a catalog that is edited; when `body` has ended, so has the server, and everything is written. */
async function watched(first: Observed, body: (server: Watched) => Promise<void>, tools: { readonly [name: string]: ToolHandler } = {}): Promise<void> {
  let saves = 0;
  const edit = (observability: Observed): Program => {
    const program = fixtureProgram({ observability }, tools);
    // The fixture has no guards to certify; a chain asks for an id each.
    const certificates = Object.fromEntries(Object.keys(program.plans).map((tool) => [tool, `sha256:${"0".repeat(64)}`]));
    return { ...program, certificates, catalog: { ...program.catalog, hash: `sha256:${(saves += 1)}` } };
  };
  const projects = (program: Program): readonly Project[] => [{ name: "tools", program }];
  const log = createLog({ format: "json", level: "error", write: () => undefined });
  const program = edit(first);
  const observability = await createObservability({
    projects: projects(program), name: "shop", reloads: true, env: new Map(), log, logFormat: "json", logCalls: false, transport: "stdio", trace: null, audit: null, learned: new LearnedSecrets(),
    io: { note: () => undefined, environment: {}, now: () => performance.now(), takeStdout: () => process.stdout }, wallNow: () => Date.now(),
  });
  let current = program;
  let onChange = (): void => undefined;
  let noted = (_: string): void => undefined;
  const live = new ReloadableCatalogs(projects(program), {
    source: { name: "tools.yaml", watch: (changed) => ((onChange = changed), () => undefined), load: async () => projects(current) },
    routing: routingOf(projects(program), null), principal: OWNER, toolsChanged: () => undefined,
    start: ({ name, program: served }) => createMcpServer({ engine: createEngine(served, { env: new Map(), observing: observability.observe(served, name) }), info: { name: "n", title: "t", version: "1" }, log }),
    prepare: () => observability.prepare(),
    note: (text) => noted(text),
    explain: (error) => (isToolError(error) || error instanceof StartError ? error.message : null),
  });
  try {
    await body({
      save: (saved) => new Promise((resolve) => {
        current = edit(saved);
        noted = resolve;
        onChange();
      }),
      call: (tool, requestId) => live.mcp.engine.call(tool, {}, { requestId, principal: OWNER }),
    });
  } finally {
    await live.close();
    await observability.close();
  }
}

const quick: ToolHandler = async (_: never, call) => rowsEnvelope([], call);
/** A tool that ends when the test says so. */
function slow(): { readonly tool: ToolHandler; readonly finish: () => void } {
  let finish = (): void => undefined;
  const gate = new Promise<void>((resolve) => (finish = resolve));
  return { tool: async (_: never, call) => gate.then(() => rowsEnvelope([], call)), finish };
}

const requestIds = (path: string): readonly unknown[] => linesOf(path).map((line) => (JSON.parse(line) as { readonly request_id?: unknown }).request_id);
const linesOf = (path: string): readonly string[] => readFileSync(path, "utf8").split("\n").filter((line) => line !== "");

test("spans are recorded from the reload that turns them on to the one that turns them off", async () => {
  const receiver = await collector(ok);
  await watched({}, async ({ save, call }) => {
    await call("quick", "before");
    assert.match(await save(tracing(receiver.url)), /^reloaded/);
    await call("quick", "on");
    assert.match(await save({}), /^reloaded/);
    await call("quick", "off");
    assert.match(await save(tracing(receiver.url)), /^reloaded/);
    await call("quick", "on again");
  }, { quick });
  assert.deepEqual(spansOf(receiver).map(({ attributes }) => attributes["toolsrv.request.id"]), ["on", "on again"]);
  await receiver.close();
});

test("a call keeps the observers that it began with: a reload meanwhile neither adds nor loses its span", async () => {
  const receiver = await collector(ok);
  const [traced, untraced] = [slow(), slow()];
  await watched(tracing(receiver.url), async ({ save, call }) => {
    const first = call("traced", "began with spans");
    await save({});
    const second = call("untraced", "began without");
    await save(tracing(receiver.url));
    traced.finish();
    untraced.finish();
    await Promise.all([first, second]);
  }, { traced: traced.tool, untraced: untraced.tool });
  assert.deepEqual(spansOf(receiver).map(({ attributes }) => attributes["toolsrv.request.id"]), ["began with spans"]);
  await receiver.close();
});

test("audit that is turned off and on again writes the calls in between nowhere, and its chain goes on", async () => {
  const path = join(folder, "off-and-on.jsonl");
  await watched(audit(path, { chain: true }), async ({ save, call }) => {
    await call("quick", "one");
    assert.match(await save({}), /^reloaded/);
    await call("quick", "unrecorded");
    assert.match(await save(audit(path, { chain: true })), /^reloaded/);
    await call("quick", "two");
  }, { quick });
  assert.deepEqual(requestIds(path), [undefined, "one", "two"]);
  const records = linesOf(path).map((line) => readRecord(Buffer.from(line)));
  assert.deepEqual(records.map((record) => [record?.seq, record?.isIntact]), [[0, true], [1, true], [2, true]]);
  assert.equal(records[2]?.prev, records[1]?.hash);
});

test("a reload that turns audit on where the server started without is refused: its calls would not be recorded", async () => {
  await watched({}, async ({ save, call }) => {
    const note = await save(audit(join(folder, "refused.jsonl")));
    assert.match(note, /observability\.audit is on now; restart the server to write its records; still serving the last good one/);
    await call("quick", "still served");
  }, { quick });
  assert.throws(() => linesOf(join(folder, "refused.jsonl")), /ENOENT/);
});

test("a reload to an audit file that cannot be opened is refused, and calls go on being recorded where they were", async () => {
  const path = join(folder, "kept.jsonl");
  await watched(audit(path), async ({ save, call }) => {
    const note = await save(audit(join(folder, "no-such-folder", "audit.jsonl")));
    assert.match(note, /audit: .*still serving the last good one/);
    await call("quick", "kept");
    const other = join(folder, "other.jsonl");
    assert.equal(await save(audit(other)), "reloaded tools.yaml — 8 tools\n", "what was refused is forgotten");
    await call("quick", "moved");
  }, { quick });
  assert.deepEqual([requestIds(path), requestIds(join(folder, "other.jsonl"))], [["kept"], ["moved"]]);
});

test("a reload to an address that is none is refused, and spans go on to the one before", async () => {
  const receiver = await collector(ok);
  await watched(tracing(receiver.url), async ({ save, call }) => {
    assert.match(await save(tracing("not an address")), /endpoint is not an address .*still serving the last good one/);
    await call("quick", "kept");
  }, { quick });
  assert.deepEqual(spansOf(receiver).map(({ attributes }) => attributes["toolsrv.request.id"]), ["kept"]);
  await receiver.close();
});

test.run();
