/** `suppressTracing`: an application that asks for no spans gets none, and sending spans makes none. */
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createRequire } from "node:module";
import { type Context, context, type ContextManager, ROOT_CONTEXT } from "@opentelemetry/api";
import type { ToolHandler } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { createLog } from "../../runtime/observe/log.js";
import { LearnedSecrets } from "../../runtime/observe/credentials.js";
import { createObservability, observeLibrary, type Observability } from "../../runtime/serve/observability.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram, rowsEnvelope } from "../mcp/program.js";
import { collector, ok, spansOf, type Collector } from "../trace/collector.js";

const test = suite("observe/suppressed");

/** A package that the SDK brings along. */
const { isTracingSuppressed, suppressTracing } = createRequire(createRequire(import.meta.url).resolve("@opentelemetry/sdk-trace-base"))("@opentelemetry/core") as {
  isTracingSuppressed(active: Context): boolean;
  suppressTracing(active: Context): Context;
};

/** What an application with OpenTelemetry registers: the context of code that waits. */
const store = new AsyncLocalStorage<Context>();
const manager: ContextManager = {
  active: () => store.getStore() ?? ROOT_CONTEXT,
  with: (active, work, self, ...args) => store.run(active, () => work.call(self as never, ...args)),
  bind: (_, target) => target,
  enable: () => manager,
  disable: () => manager,
};
test.before(() => assert.ok(context.setGlobalContextManager(manager)));
test.after(() => context.disable());

/** Loses the caller's context before it ends, as a pool of connections does. */
const pooled: ToolHandler = (_: never, call) => new Promise((resolve) => store.exit(() => setImmediate(() => resolve(rowsEnvelope([], call)))));

const programTo = (receiver: Collector) => fixtureProgram({ observability: { tracing: { exporter: "otlp", endpoint: receiver.url, service_name: "shop", semconv: false } } }, { pooled });

/** Runs calls of the fixture's tools, and returns the request ids of their spans. */
async function recorded(receiver: Collector, observability: Observability, calls: (call: (tool: string, requestId: string) => Promise<unknown>) => Promise<unknown>): Promise<readonly unknown[]> {
  const program = programTo(receiver);
  const engine = createEngine(program, { env: new Map(), observing: observability.observe(program, "shop") });
  await calls((tool, requestId) => engine.call(tool, tool === "echo" ? { text: "x" } : {}, { requestId, principal: { id: null, claims: {}, headers: {} } }).catch(() => undefined));
  await engine.close();
  await observability.close();
  await receiver.close();
  return spansOf(receiver).map(({ attributes }) => attributes["toolsrv.request.id"]);
}

const suppressed = <T>(work: () => T): T => context.with(suppressTracing(context.active()), work);

test("a call of the library inside suppressTracing makes no span, however it ends; one beside it does", async () => {
  const receiver = await collector(ok);
  const ids = await recorded(receiver, await observeLibrary(programTo(receiver), new Map(), "shop"), (call) => Promise.all([
    call("echo", "before"),
    suppressed(() => Promise.all([call("echo", "suppressed"), call("pooled", "suppressed, and its context lost"), call("bug", "suppressed, and failed"), call("nothing", "suppressed, and no tool")])),
    call("pooled", "beside"),
  ]));
  assert.deepEqual([...ids].sort(), ["before", "beside"]);
});

test("a server has no application in its process whose context could keep a call from being recorded", async () => {
  const receiver = await collector(ok);
  const log = createLog({ format: "json", level: "error", write: () => undefined });
  const observability = await createObservability({
    projects: [{ name: "shop", program: programTo(receiver) }], name: "shop", reloads: false, env: new Map(), log, logFormat: "json", logCalls: false, transport: "http", trace: null, audit: null, learned: new LearnedSecrets(),
    io: { note: () => undefined, environment: {}, now: () => performance.now(), takeStdout: () => process.stdout }, wallNow: () => Date.now(),
  });
  assert.deepEqual(await recorded(receiver, observability, (call) => suppressed(() => call("echo", "recorded"))), ["recorded"]);
});

test("spans are sent inside suppressTracing: an application that traces its HTTP requests records none of these", async () => {
  const receiver = await collector(ok);
  const contexts: boolean[] = [];
  const onRequest = (): void => void contexts.push(isTracingSuppressed(context.active()));
  subscribe("http.client.request.start", onRequest);
  try {
    await recorded(receiver, await observeLibrary(programTo(receiver), new Map(), "shop"), (call) => call("echo", "sent"));
  } finally {
    unsubscribe("http.client.request.start", onRequest);
  }
  assert.deepEqual(contexts, [true]);
});

test.run();
