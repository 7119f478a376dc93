/** Prometheus metrics: the series of the specification, counted for every end of a call, with labels nobody can choose. */
import assert from "node:assert/strict";
import * as z from "zod";
import { BackendError } from "../../runtime/abi/errors.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { createEngine } from "../../runtime/call/engine.js";
import { createMetrics, LATENCY_BUCKETS, METRICS, type Metrics } from "../../runtime/observe/metrics.js";
import { caller, memoryAdapter, program, type ProgramParts } from "../call/program.js";
import { parsePrometheus, sampleValue, type Family } from "../lib/prometheus-text.js";
import { suite } from "../lib/suite.js";

const test = suite("observe/metrics");

const OUTPUT = { id: true, score: false } as const;
const PLANS: { readonly [tool: string]: ToolPlan } = {
  list: { kind: "scroll", connection: "main", collection: "things", bind: [], limit: { arg: "limit", default: 5, max: 9 }, output: OUTPUT },
  find: { kind: "search", connection: "main", collection: "things", bind: [], limit: { arg: "limit", default: 5, max: 9 }, output: OUTPUT, query: { arg: "query", required: true, embedding: "default", mode: "dense" } },
};

type Calls = readonly (readonly [tool: string, args?: unknown])[];

/** Makes the calls and reads the text as Prometheus would. */
async function scraped(calls: Calls, { principal = "ada", deadlineMs = 5000, metrics, ...parts }: Partial<ProgramParts> & { readonly principal?: string; readonly deadlineMs?: number; readonly metrics?: Metrics } = {}): Promise<readonly Family[]> {
  const counted = metrics ?? (await createMetrics());
  const served = program({ plans: PLANS, validators: { list: z.object({ name: z.string().optional() }) }, ...parts });
  const engine = createEngine(served, { env: new Map(), observing: { observer: counted.observe(Object.keys(PLANS)), wallNow: () => 0 } });
  for (const [tool, args = {}] of calls) await engine.call(tool, args, caller({ id: principal }, { deadlineMs })).catch(() => undefined);
  await engine.close();
  return parsePrometheus(await counted.text());
}

const failing = (fetch: Adapter["fetch"]): Partial<ProgramParts> => ({ adapter: memoryAdapter([], { fetch }) });
const calls = (families: readonly Family[]): unknown => families.find(({ name }) => name === "toolsrv_tool_calls_total")?.samples.map(({ labels, value }) => [labels["tool"], labels["status"], value]);

test("the metrics are exactly those of the specification, each with a type and a help text", async () => {
  const families = await scraped([["list"]]);
  assert.deepEqual(families.map(({ name, type }) => [name, type]), [
    ["toolsrv_tool_calls_total", "counter"], ["toolsrv_tool_latency_seconds", "histogram"], ["toolsrv_embed_requests_total", "counter"],
    ["toolsrv_adapter_errors_total", "counter"], ["toolsrv_rate_limit_hits_total", "counter"],
  ]);
  assert.deepEqual(families.map(({ name }) => name), Object.keys(METRICS));
  assert.ok(families.every(({ help }) => help !== ""));
});

test("a call that succeeds is counted once and its duration is in the buckets, sum and count of its tool", async () => {
  const families = await scraped([["list"], ["list", { name: "x" }]]);
  assert.deepEqual(calls(families), [["list", "ok", 2]]);
  assert.equal(sampleValue(families, "toolsrv_tool_latency_seconds_count", { tool: "list" }), 2);
  assert.ok((sampleValue(families, "toolsrv_tool_latency_seconds_sum", { tool: "list" }) ?? -1) > 0);
});

test("the latency buckets are fixed, whatever the tool", async () => {
  const families = await scraped([["list"], ["find", { query: "x" }]]);
  for (const tool of ["list", "find"]) {
    const bounds = families.flatMap(({ samples }) => samples).filter(({ name, labels }) => name === "toolsrv_tool_latency_seconds_bucket" && labels["tool"] === tool).map(({ labels }) => labels["le"]);
    assert.deepEqual(bounds, ["0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"]);
  }
  assert.equal(LATENCY_BUCKETS.length, 14);
});

test("refused calls are counted as refused: invalid arguments, no permission, a rate limit; none has a duration", async () => {
  const denied = { security: { rbac: { default_role: "viewer", role_claim: "roles", deny_tools: ["list"], roles: {} } } };
  const limited = { security: { rate_limit: { store: "memory", on_store_error: "closed", global: {}, per_principal: {}, per_tool: { list: "1/minute" } } } } as const;
  assert.deepEqual(calls(await scraped([["list", { name: 7 }]])), [["list", "refused", 1]]);
  assert.deepEqual(calls(await scraped([["list"]], { settings: denied })), [["list", "refused", 1]]);
  const families = await scraped([["list"], ["list"], ["list"]], { settings: limited });
  assert.deepEqual(calls(families), [["list", "ok", 1], ["list", "refused", 2]]);
  assert.equal(sampleValue(families, "toolsrv_rate_limit_hits_total", { tool: "list" }), 2);
  assert.equal(sampleValue(families, "toolsrv_tool_latency_seconds_count", { tool: "list" }), 1);
});

test("a failure of a store is counted with its backend and its kind, and the call as an error", async () => {
  const families = await scraped([["list"], ["list"]], failing(async () => {
    throw new BackendError("unreachable", "sqlite", "secret-host is away");
  }));
  assert.deepEqual(calls(families), [["list", "error", 2]]);
  assert.equal(sampleValue(families, "toolsrv_adapter_errors_total", { backend: "sqlite", code: "unreachable" }), 2);
});

test("a store that does not open is a failure of the store", async () => {
  const adapter = { ...memoryAdapter([]), open: async () => Promise.reject(new BackendError("auth", "sqlite", "no")) };
  const families = await scraped([["list"]], { adapter });
  assert.equal(sampleValue(families, "toolsrv_adapter_errors_total", { backend: "sqlite", code: "auth" }), 1);
});

test("a call that runs out of time is a timeout, and a bug is an error", async () => {
  assert.deepEqual(calls(await scraped([["list"]], { ...failing(() => new Promise(() => undefined)), deadlineMs: 20 })), [["list", "timeout", 1]]);
  const bug = failing(async () => {
    throw new TypeError("oops");
  });
  const families = await scraped([["list"]], bug);
  assert.deepEqual(calls(families), [["list", "error", 1]]);
  assert.equal(sampleValue(families, "toolsrv_adapter_errors_total", { backend: "sqlite", code: "internal" }), 1);
});

test("each text that is embedded is counted for its provider", async () => {
  const families = await scraped([["find", { query: "a" }], ["find", { query: "a" }], ["find", { query: "b" }]]);
  assert.deepEqual(calls(families), [["find", "ok", 3]]);
  assert.equal(sampleValue(families, "toolsrv_embed_requests_total", { provider: "local" }), 3);
});

test("names that are no tool share one series, whatever they are, and no principal is a label", async () => {
  const forged = 'x"} 1\ntoolsrv_tool_calls_total{tool="forged",status="ok"} 9\n';
  const metrics = await createMetrics();
  const names = [forged, "", "constructor", "__proto__", "x".repeat(100_000), ...Array.from({ length: 200 }, (_, n) => `guess_${n}`)];
  const families = await scraped(names.map((name) => [name] as const), { principal: forged, metrics });
  assert.deepEqual(calls(families), [["unknown", "refused", names.length]]);
  const text = await metrics.text();
  assert.ok(!text.includes("forged") && text.length < 5000);
});

test("a name of a catalog that needs quoting is quoted", async () => {
  const metrics = await createMetrics();
  const odd = 'a"b\\c\nd';
  metrics.observe([odd]).end({ requestId: "r", session: null, trace: null, tool: odd, plan: null, principal: null, args: {}, startedAt: 0, startedMs: 0, endedMs: 1, outcome: { kind: "error", code: "timeout", message: "" }, steps: [], evidence: null }, null);
  assert.equal(sampleValue(parsePrometheus(await metrics.text()), "toolsrv_tool_calls_total", { tool: odd, status: "timeout" }), 1);
});

test.run();
