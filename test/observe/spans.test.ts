/** Spans: names, attributes, parents and status of a call and its steps, and nothing of them that is secret. */
import assert from "node:assert/strict";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import * as z from "zod";
import { BackendError } from "../../runtime/abi/errors.js";
import { planId } from "../../runtime/abi/fingerprint.js";
import type { CallOutcome, ObservedCall } from "../../runtime/abi/observer.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { parseTraceparent } from "../../runtime/base/traceparent.js";
import { createEngine } from "../../runtime/call/engine.js";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { createSpanIds } from "../../runtime/observe/spans/ids.js";
import { originOf } from "../../runtime/observe/spans/origin.js";
import { createSpanRecorder, type SpanSink } from "../../runtime/observe/spans/recorder.js";
import { spansOf as spansOfCall, type SpanSubject } from "../../runtime/observe/spans/span.js";
import type { SpanTransport } from "../../runtime/observe/spans/names.js";
import { caller, memoryAdapter, program, type ProgramParts } from "../call/program.js";
import { suite } from "../lib/suite.js";
import { EndedSpan } from "./ended-span.js";

const ORIGIN = originOf(resourceFromAttributes({}), "1.2.3");
const test = suite("observe/spans");

const OUTPUT = { id: true, score: false } as const;
const LIMIT = { arg: "limit", default: 5, max: 9 } as const;
const READ = { connection: "main", collection: "things", bind: [] } as const;
const PLANS: { readonly [tool: string]: ToolPlan } = {
  find: { kind: "search", ...READ, limit: LIMIT, output: OUTPUT, query: { arg: "query", required: true, embedding: "default", mode: "dense" }, tenant: { from: "claim", name: "org", path: "org", enforce: "strict" } },
  list: { kind: "scroll", ...READ, limit: LIMIT, output: OUTPUT },
  piped: { kind: "pipeline", retrieve: { ...READ, overfetch_factor: 2, max_candidates: 10 }, limit: LIMIT, output: OUTPUT, steps: [{ kind: "sort", by: "name", desc: true, nulls: "last" }] },
};
const ROWS = [{ _id: "row-id-canary", name: "row-canary", org: "acme-canary" }];
const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

interface Asked extends Partial<ProgramParts> {
  readonly semconv?: boolean;
  readonly transport?: SpanTransport;
  readonly traceparent?: unknown;
  readonly principal?: string | null;
  readonly deadlineMs?: number;
}

/** The spans of one call, in the order they were given on. */
async function spansOf(tool: string, args: unknown = {}, { semconv = false, transport = "tcp", traceparent, principal = "ada", deadlineMs = 5000, ...parts }: Asked = {}): Promise<readonly ReadableSpan[]> {
  const spans: ReadableSpan[] = [];
  const served = program({ plans: PLANS, adapter: memoryAdapter(ROWS), validators: { list: z.object({ name: z.string().optional() }) }, ...parts });
  const ids = createSpanIds();
  const sink: SpanSink = { add: (made) => void spans.push(...made.map((span) => new EndedSpan(span, ORIGIN))) };
  const { observer } = createSpanRecorder(served, { semconv, transport }, sink, ids);
  const engine = createEngine(served, { env: new Map(), observing: { observer, wallNow: () => 1_700_000_000_000 } });
  await engine.call(tool, args, caller({ id: principal, claims: { org: "acme-canary" } }, { requestId: "req-1", trace: parseTraceparent(traceparent), deadlineMs })).catch(() => undefined);
  await engine.close();
  return spans;
}

const named = (spans: readonly ReadableSpan[]): readonly string[] => spans.map(({ name }) => name);
const root = (spans: readonly ReadableSpan[]): ReadableSpan => {
  const last = spans.at(-1);
  assert.ok(last);
  return last;
};
const failing = (fetch: Adapter["fetch"]): Asked => ({ adapter: memoryAdapter([], { fetch }) });

test("a search is a call with an embedding and a search below it, under the specification's names", async () => {
  const spans = await spansOf("find", { query: "x" });
  assert.deepEqual(named(spans), ["toolsrv.embed", "toolsrv.adapter.search", "toolsrv.tool.call"]);
  const { traceId, spanId } = root(spans).spanContext();
  assert.match(traceId, /^[0-9a-f]{32}$/);
  assert.equal(root(spans).parentSpanContext, undefined);
  for (const step of spans.slice(0, -1)) {
    assert.deepEqual([step.spanContext().traceId, step.parentSpanContext?.spanId], [traceId, spanId]);
    assert.ok(step.startTime[0] >= 1_700_000_000);
  }
  assert.equal(new Set(spans.map((span) => span.spanContext().spanId)).size, 3);
});

test("toolsrv.tool.call has tool, principal, connection and collection, and the attributes of the conventions beside them", async () => {
  const { attributes, kind, status } = root(await spansOf("find", { query: "x" }));
  assert.deepEqual(attributes, {
    tool: "find", principal: "ada", connection: "main", collection: "things",
    "toolsrv.request.id": "req-1", "toolsrv.plan.id": planId(PLANS["find"]), "toolsrv.catalog.hash": `sha256:${"0".repeat(64)}`, "toolsrv.tenant.mode": "claim",
    "toolsrv.result.count": 1, "toolsrv.result.truncated": false,
    "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "network.transport": "tcp",
  });
  assert.deepEqual([kind, status], [1, { code: 0 }]);
});

test("toolsrv.embed has provider, model and text_count", async () => {
  const [embed] = await spansOf("find", { query: "x" });
  assert.deepEqual(embed?.attributes, {
    provider: "local", model: "hashing-256", text_count: 1, "gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "local", "gen_ai.request.model": "hashing-256",
  });
});

test("toolsrv.adapter.search has backend, collection, limit and mode", async () => {
  const [, search] = await spansOf("find", { query: "x" });
  const { backend, collection, limit, mode, ...conventions } = search?.attributes ?? {};
  assert.deepEqual([backend, collection, mode], ["sqlite", "things", "dense"]);
  assert.ok(Number(limit) >= 5);
  assert.deepEqual(conventions, {
    connection: "main", "gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "main/things", "gen_ai.request.top_k": limit,
    "db.operation.name": "search", "db.system.name": "sqlite", "db.collection.name": "things", "db.response.returned_rows": 1,
  });
});

test("each step of a pipeline is a toolsrv.pipeline.step with its step_kind", async () => {
  const spans = await spansOf("piped");
  assert.deepEqual(named(spans), ["toolsrv.adapter.fetch", "toolsrv.pipeline.step", "toolsrv.tool.call"]);
  assert.equal(spans[1]?.attributes["step_kind"], "sort");
});

test("with semconv: true spans are named as the conventions name them", async () => {
  assert.deepEqual(named(await spansOf("find", { query: "x" }, { semconv: true })), ["embeddings hashing-256", "retrieval main/things", "tools/call find"]);
  assert.deepEqual(named(await spansOf("piped", {}, { semconv: true })), ["fetch main/things", "toolsrv.pipeline.step sort", "tools/call piped"]);
  assert.deepEqual(named(await spansOf("list", {}, { semconv: true, transport: null })).slice(-1), ["execute_tool list"]);
});

test("a name that is no tool is no part of a span's name, and is cut as an attribute", async () => {
  const [span] = await spansOf(`guess ${"x".repeat(100_000)}`, {}, { semconv: true });
  assert.equal(span?.name, "tools/call");
  assert.ok(String(span?.attributes["tool"]).length < 300);
  assert.equal(span?.attributes["toolsrv.error.code"], "invalid_arguments");
});

test("a call is part of the trace that its caller names", async () => {
  const call = root(await spansOf("list", {}, { traceparent: PARENT }));
  assert.equal(call.spanContext().traceId, "0af7651916cd43dd8448eb211c80319c");
  assert.deepEqual([call.parentSpanContext?.spanId, call.parentSpanContext?.isRemote], ["b7ad6b7169203331", true]);
  assert.notEqual(call.spanContext().spanId, "b7ad6b7169203331");
});

test("a traceparent that is malformed, of zeros or 10 KB long is ignored: the call is a trace of its own", async () => {
  const bad = ["", "x", PARENT.toUpperCase(), `${PARENT}-x`, PARENT.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)), PARENT.replace("b7ad6b7169203331", "0".repeat(16)), "ff".concat(PARENT.slice(2)), PARENT + "x".repeat(10_240), 7, { a: 1 }, null];
  for (const traceparent of bad) {
    const spans = await spansOf("list", {}, { traceparent });
    assert.equal(root(spans).parentSpanContext, undefined, String(traceparent).slice(0, 60));
    assert.notEqual(root(spans).spanContext().traceId, "0af7651916cd43dd8448eb211c80319c");
  }
});

test("where the caller does not record its trace, nothing is recorded", async () => {
  assert.deepEqual(await spansOf("find", { query: "x" }, { traceparent: PARENT.replace(/01$/, "00") }), []);
});

test("a failed call has the status of an error and its code, and no message: arguments, rows and causes stay out", async () => {
  const secret = async (): Promise<never> => {
    throw new BackendError("unreachable", "sqlite", "cannot reach secret-canary", { cause: new Error("password=secret-canary") });
  };
  const spans = await spansOf("list", {}, failing(secret));
  assert.deepEqual(spans.map(({ status }) => status), [{ code: 2, message: "unreachable" }, { code: 2, message: "backend_unreachable" }]);
  assert.deepEqual([spans[0]?.attributes["error.type"], spans[1]?.attributes["error.type"], spans[1]?.attributes["toolsrv.error.code"]], ["unreachable", "tool_error", "backend_unreachable"]);
  const refused = await spansOf("list", { name: ["argument-canary"] });
  assert.deepEqual(refused.map(({ status }) => status), [{ code: 2, message: "invalid_arguments" }]);
  const all = [...spans, ...refused, ...(await spansOf("find", { query: "argument-canary" })), ...(await spansOf("piped"))];
  const text = JSON.stringify(all.map(({ name, attributes, status, events, links }) => ({ name, attributes, status, events, links })));
  assert.doesNotMatch(text, /canary/);
});

test("a call that runs out of time ends its open steps with itself", async () => {
  const spans = await spansOf("list", {}, { ...failing(() => new Promise(() => undefined)), deadlineMs: 20 });
  assert.deepEqual(spans.map(({ name, status }) => [name, status]), [
    ["toolsrv.adapter.fetch", { code: 2, message: "timeout" }], ["toolsrv.tool.call", { code: 2, message: "timeout" }],
  ]);
  assert.deepEqual(spans[0]?.endTime, spans[1]?.endTime);
});

test("a store that does not open is a failed span", async () => {
  const adapter = { ...memoryAdapter([]), open: async () => Promise.reject(new BackendError("auth", "sqlite", "no")) };
  const [open] = await spansOf("list", {}, { adapter });
  assert.deepEqual([open?.name, open?.status.message], ["toolsrv.adapter.open", "auth"]);
});

test("ids are never all zeros, and never repeat", () => {
  const blocks = [Buffer.alloc(4096), Buffer.alloc(4096, 0xab)];
  const ids = createSpanIds(() => blocks.shift() ?? Buffer.alloc(4096, 0xcd));
  assert.equal(ids.traceId(), "ab".repeat(16));
  const real = createSpanIds();
  assert.equal(new Set(Array.from({ length: 5000 }, () => real.spanId())).size, 5000);
});

test("spans that follow each other have their own principal, request, outcome and name, and nothing of one another", () => {
  const plan = PLANS["list"] as ToolPlan;
  const ok = { kind: "ok", count: 3, truncated: true, mayBeIncomplete: false, exact: true, searchMode: "none", warnings: [] } as const;
  const failed = (code: string): CallOutcome => ({ kind: "error", code, message: "message-canary" });
  const call: ObservedCall = { requestId: "r1", session: null, trace: null, tool: "list", plan, principal: "ada", args: {}, startedAt: 1, startedMs: 1, endedMs: 2, outcome: ok, steps: [], evidence: null };
  const known: SpanSubject = { tool: "list", attributes: { tool: "list", connection: "main" }, semconv: false, transport: "tcp" };
  const unknown: SpanSubject = { ...known, tool: null, attributes: {} };
  const calls: readonly (readonly [ObservedCall, SpanSubject])[] = [
    [call, known], [{ ...call, requestId: "r2", principal: "bob", outcome: { ...ok, count: 0, truncated: false } }, known], [{ ...call, principal: null }, known],
    [{ ...call, outcome: failed("timeout") }, known], [{ ...call, outcome: failed("internal"), principal: null }, known],
    [{ ...call, plan: null, tool: "guess", outcome: failed("invalid_arguments") }, unknown], [{ ...call, plan: null, tool: "other", outcome: failed("invalid_arguments") }, unknown], [call, known],
  ];
  const ids = createSpanIds();
  const attributes = calls.map(([one, subject]) => spansOfCall(one, subject, { traceId: ids.traceId(), spanId: ids.spanId() }, ids).map(({ shared, own }) => ({ ...shared, ...own }))[0]);
  assert.deepEqual(attributes[1], { tool: "list", connection: "main", principal: "bob", "toolsrv.request.id": "r2", "toolsrv.result.count": 0, "toolsrv.result.truncated": false });
  assert.deepEqual([attributes[3]?.["toolsrv.error.code"], attributes[3]?.["toolsrv.result.count"], attributes[6]?.["tool"]], ["timeout", undefined, "other"]);
  assert.deepEqual([attributes[2]?.["principal"], attributes[0], known.attributes], [undefined, attributes[7], { tool: "list", connection: "main" }]);
});

test.run();
