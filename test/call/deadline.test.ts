import * as assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import type { SearchPlan } from "../../runtime/abi/plan.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { BackendError, isToolError, type ToolError } from "../../runtime/abi/errors.js";
import type { Engine } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { Deadline } from "../../runtime/limits/deadline.js";
import { suite } from "../lib/suite.js";
import { caller, memoryAdapter, nobody, program } from "./program.js";

const test = suite("call/deadline");

const plan: SearchPlan = {
  kind: "search", connection: "main", collection: "things", bind: [],
  query: { arg: "query", required: false, embedding: "default", mode: "dense" },
  limit: { arg: "limit", default: 2, max: 3 }, output: { id: true, score: true },
};

function engineOver(overrides: Partial<Adapter>, more: Partial<Parameters<typeof program>[0]> = {}): Engine {
  return createEngine(program({ plans: { t: plan }, adapter: memoryAdapter([{ _id: "1" }], overrides), ...more }), { env: new Map() });
}

async function failure(promise: Promise<unknown>): Promise<ToolError> {
  const error = await promise.then(() => null, (reason: unknown) => reason);
  assert.ok(isToolError(error), `expected a ToolError, got ${String(error)}`);
  return error;
}

/** Never answers and ignores the signal. */
const hang = () => new Promise<never>(() => undefined);
const deadline = () => new Deadline({ timeoutMs: 5, onTimeout: () => new Error("late"), onCancel: () => new Error("gone") });

test("a call that runs out of time ends as QueryTimeout, even where the store ignores the signal", async () => {
  const error = await failure(engineOver({ fetch: hang }).call("t", {}, { ...nobody, deadlineMs: 20 }));
  assert.equal(error.code, "timeout");
  assert.equal(error.message, "tool 't' did not finish within 0.02 s (QueryTimeout)");
  assert.equal(error.retryable, true);
});

test("the deadline covers opening the store", async () => {
  const adapter = { ...memoryAdapter([]), open: hang };
  const engine = createEngine(program({ plans: { t: plan }, adapter }), { env: new Map() });
  assert.equal((await failure(engine.call("t", {}, { ...nobody, deadlineMs: 20 }))).code, "timeout");
});

test("a deadline that no timer can count, Infinity too, ends no call early", async () => {
  // Node takes a time that is too long for one millisecond: that timer would fire before the store's.
  const slow = engineOver({ fetch: () => new Promise((resolve) => setTimeout(() => resolve({ rows: [], exact: true }), 2)) });
  for (const deadlineMs of [Infinity, 2 ** 31, 1e15]) assert.equal((await slow.call("t", {}, { ...nobody, deadlineMs })).count, 0, String(deadlineMs));
});

test("the catalog's deadline counts where the caller names none", async () => {
  assert.match((await failure(engineOver({ fetch: hang }, { settings: { deadline_s: 0.03 } }).call("t", {}, nobody))).message, /within 0.03 s/);
});

test("a tool's own deadline counts before the catalog's, and the caller's before both", async () => {
  const seconds = async (own: number | undefined, callersMs: number | undefined): Promise<string> => {
    const plans = { t: own === undefined ? plan : { ...plan, deadline_s: own } };
    const engine = engineOver({ fetch: hang }, { plans, settings: { deadline_s: 0.04 } });
    const { code, message } = await failure(engine.call("t", {}, callersMs === undefined ? nobody : { ...nobody, deadlineMs: callersMs }));
    return `${code} ${/within (\S+) s/.exec(message)?.[1] ?? message}`;
  };
  assert.equal(await seconds(undefined, undefined), "timeout 0.04");
  assert.equal(await seconds(0.02, undefined), "timeout 0.02");
  assert.equal(await seconds(0.05, undefined), "timeout 0.05");
  assert.equal(await seconds(0.02, 10), "timeout 0.01");
});

test("the store's signal aborts with the deadline", async () => {
  let aborted: unknown = null;
  const fetch: Adapter["fetch"] = (_request, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject((aborted = signal.reason) as Error)));
  const error = await failure(engineOver({ fetch }).call("t", {}, { ...nobody, deadlineMs: 20 }));
  assert.equal(aborted, error);
});

test("a cancelled call ends as cancelled, before and while it runs", async () => {
  const client = new AbortController();
  const running = failure(engineOver({ fetch: hang }).call("t", {}, caller({}, { signal: client.signal })));
  client.abort();
  assert.equal((await running).code, "cancelled");
  assert.equal((await failure(engineOver({}).call("t", {}, caller({}, { signal: client.signal })))).code, "cancelled");
});

test("a finished call leaves no listener and no timer behind", async () => {
  const client = new AbortController();
  await engineOver({}).call("t", {}, caller({}, { signal: client.signal }));
  assert.equal(getEventListeners(client.signal, "abort").length, 0);
  // A pending 25 s timer would keep this process, and the test run, alive.
});

test("a deadline that nobody asks about creates nothing; one that passed calls late listeners", async () => {
  const idle = deadline();
  assert.equal(idle.aborted, false);
  const late = deadline();
  await new Promise((resolve) => late.signal.addEventListener("abort", resolve));
  let reason: Error | null = null;
  late.onAbort((error) => (reason = error));
  assert.equal(String(reason), "Error: late");
});

test("trouble of the store is backend_unreachable, what it cannot do is invalid_arguments, a bug stays a bug", async () => {
  const failing = (error: Error) => engineOver({ fetch: () => Promise.reject(error) }).call("t", {}, nobody);
  const cause = new Error("secret");
  const unreachable = await failure(failing(new BackendError("unreachable", "sqlite", "no answer", { cause })));
  assert.deepEqual([unreachable.code, unreachable.message, unreachable.retryable], ["backend_unreachable", "no answer", true]);
  assert.ok(!JSON.stringify(unreachable).includes("secret"));
  assert.equal((await failure(failing(new BackendError("unsupported", "sqlite", "no such operator")))).code, "invalid_arguments");
  await assert.rejects(failing(new TypeError("oops")), TypeError);
});

test("a store that failed to open is tried again by the next call", async () => {
  let tries = 0;
  const good = memoryAdapter([{ _id: "1" }]);
  const adapter: typeof good = { ...good, open: (settings, options) => (++tries === 1 ? Promise.reject(new BackendError("unreachable", "sqlite", "not yet")) : good.open(settings, options)) };
  const engine = createEngine(program({ plans: { t: plan }, adapter }), { env: new Map() });
  assert.equal((await failure(engine.call("t", {}, nobody))).message, "not yet");
  assert.equal((await engine.call("t", {}, nobody)).count, 1);
  await engine.call("t", {}, nobody);
  assert.equal(tries, 2);
});

test("health asks every connection, and one dead one does not stop the others", async () => {
  const made = program({ plans: { t: plan }, adapter: memoryAdapter([], { health: () => Promise.reject(new BackendError("unreachable", "sqlite", "no answer")) }) });
  const connections = { main: { backend: "sqlite", settings: {} }, other: { backend: "qdrant", settings: {} } } as const;
  const open = { ...made, connections: { main: { backend: "sqlite", settings: { path: { $env: "NOT_SET" } } } } } as const;
  assert.throws(() => createEngine(open, { env: new Map() }), /no value for NOT_SET/, "a missing value is found at start");
  const health = await createEngine({ ...made, connections }, { env: new Map(), now: () => 0 }).health();
  assert.deepEqual(health["main"], { ok: false, detail: "no answer", latency_ms: 0 });
  assert.equal(health["other"]?.ok, false);
});

test("references in settings are filled from the given values only", async () => {
  let seen: unknown = null;
  const adapter = { ...memoryAdapter([]), open: async (settings: unknown) => ((seen = settings), memoryAdapter([]).open({}, { base: "" })) };
  const made = program({ plans: { t: plan }, adapter });
  const settings = { path: { $concat: ["/data/", { $env: "NAME" }, ".db"] }, mode: { $env: "MODE", default: "fast" }, headers: { x: { $env: "EMPTY", default: "no" } } };
  const engine = createEngine({ ...made, connections: { main: { backend: "sqlite", settings } } }, { env: new Map([["NAME", "films"], ["EMPTY", ""]]) });
  await engine.call("t", {}, nobody);
  assert.deepEqual(seen, { path: "/data/films.db", mode: "fast", headers: { x: "" } });
});

test("no time at all is over before the first step", () => {
  const none = new Deadline({ timeoutMs: 0, onTimeout: () => new Error("late"), onCancel: () => new Error("gone") });
  assert.equal(none.signal.aborted, true);
  assert.equal((none.signal.reason as Error).message, "late");
  none.end();
});

test.run();
