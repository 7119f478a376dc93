/** Runs that have ended, sent on to a collector as spans. */
import assert from "node:assert/strict";
import { exportUrl } from "../../runtime/trace/export/exporter.js";
import { encodeRequest } from "../../runtime/trace/export/protobuf.js";
import { SpanBuilder, spanIdOf, traceIdOf } from "../../runtime/trace/export/spans.js";
import { spansOfProtobuf } from "../../runtime/trace/ingest/otlp/spans-protobuf.js";
import type { RunExtended, StepExtended } from "../../runtime/trace/model.js";
import { resolveSettings } from "../../runtime/trace/settings.js";
import { suite } from "../lib/suite.js";
import { collector, ok, spansOf } from "./collector.js";
import { type Json, sampleRun, startTrace, until } from "./lib.js";

const test = suite("trace export");

const stats = async (trace: { get(path: string): Promise<{ json: Json }> }): Promise<Json> => (await trace.get("/api/stats?extended=1")).json;

test("a run becomes spans under the names of the conventions, without its payloads", async () => {
  const { url, requests, close } = await collector(ok);
  const trace = await startTrace({ otlp_endpoint: url, otlp_service_name: "shop", otlp_headers: { authorization: "Bearer c" } });
  try {
    await trace.ingest(sampleRun("r1", { failed: true, secret: "payload-text" }));
    await until(async () => (await stats(trace))["spans_exported"] === 3);
    const [request] = requests;
    assert.deepEqual([request?.path, request?.headers["content-type"], request?.headers.authorization], ["/v1/traces", "application/x-protobuf", "Bearer c"]);
    const spans = spansOfProtobuf(request?.body ?? Buffer.alloc(0));
    const start = Date.UTC(2026, 10, 20, 11, 54, 40) * 1000;
    const agent = { traceId: traceIdOf("r1"), spanId: spanIdOf("r1") };
    assert.deepEqual(spans.map(({ name, traceId, spanId, parentId, kind, startUs, endUs, statusCode, statusMessage }) => [name, traceId === agent.traceId, spanId, parentId, kind, startUs - start, endUs - startUs, statusCode, statusMessage]), [
      ["invoke_agent research_agent", true, agent.spanId, "", 1, 0, 620_000, 2, "no answer"],
      ["chat gpt-4o-mini", true, spanIdOf("r1-m"), agent.spanId, 3, 10_000, 210_000, 1, ""],
      ["execute_tool web_search", true, spanIdOf("r1-t"), agent.spanId, 1, 230_000, 350_000, 1, ""],
    ]);
    const [root, model, tool] = spans.map((span) => span.attributes);
    assert.deepEqual([root?.["tag.tags"], root?.["toolsrv.run_id"], root?.["error.type"]], [["demo"], "r1", "_OTHER"]);
    assert.deepEqual([model?.["gen_ai.usage.input_tokens"], model?.["gen_ai.usage.output_tokens"]].map(Number), [42, 58]);
    assert.deepEqual([tool?.["gen_ai.tool.name"], tool?.["mcp.server.name"]], ["web_search", "tavily"]);
    assert.equal(spans[0]?.resource["service.name"], "shop");
    assert.ok(!(request?.body ?? Buffer.alloc(0)).includes("payload-text"));
  } finally {
    await trace.dispose();
    await close();
  }
}, { timeoutMs: 60_000 });

test("a second service receives the same run, topology and tokens, and hands it on under the same ids", async () => {
  const last = await collector(ok);
  const second = await startTrace({ otlp_endpoint: last.url });
  const first = await startTrace({ otlp_endpoint: second.url });
  try {
    const id = "01a1fff2-565c-7000-8d1e-29bd0bebeb17";
    await first.ingest(sampleRun(id));
    const traceId = id.replaceAll("-", "");
    await until(async () => (await second.get(`/api/runs/${traceId}`)).json["status"] === "completed");
    const { json: run } = await second.get(`/api/runs/${traceId}?extended=1`);
    assert.deepEqual([run["total_tokens_input"], run["total_tokens_output"], run["tags"], run["name"], run["duration_ms"]], [42, 58, ["demo"], "research_agent", 620]);
    const ids = async (url: typeof first): Promise<readonly string[]> => ((await url.get("/api/topology")).json["nodes"] as Json[]).map((node) => String(node["id"])).sort();
    assert.deepEqual(await ids(second), ["agent:research_agent", "llm:gpt-4o-mini", "mcp:tavily", "tool:web_search"]);
    await until(() => last.requests.length > 0);
    assert.deepEqual(spansOf(last).map(({ traceId: given, spanId }) => [given, spanId]), [id, `${id}-m`, `${id}-t`].map((run_id) => [traceId, spanIdOf(run_id)]));
  } finally {
    await first.dispose();
    await second.dispose();
    await last.close();
  }
}, { timeoutMs: 60_000 });

test("a collector that is busy is asked again, one that refuses or stays away is counted, and ingestion never waits", async () => {
  const busy = await collector((response, nth) => void (nth === 1 ? response.writeHead(503, { "retry-after": "0" }).end() : response.writeHead(200).end()));
  const refusing = await collector((response) => void response.writeHead(400).end());
  const silent = await collector(() => undefined);
  const traces = await Promise.all([busy, refusing, silent].map(({ url }) => startTrace({ otlp_endpoint: url })));
  try {
    for (const trace of traces) await trace.ingest(sampleRun("r1"));
    const [first, second, third] = traces;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    await until(async () => (await stats(first))["spans_exported"] === 3);
    assert.equal(busy.requests.length, 2);
    await until(async () => (await stats(second))["spans_dropped"] === 3);
    assert.equal(refusing.requests.length, 1);
    assert.match(second.logged.join(""), /"problem":"the collector answered 400".*spans could not be exported/);
    await until(() => silent.requests.length === 1);
    const more = await third.ingest(sampleRun("r2"));
    assert.equal(more["accepted"], 7);
    const { json } = await third.get("/api/runs");
    assert.equal(json["total"], 2);
  } finally {
    await silent.close();
    for (const trace of traces) await trace.dispose();
    await busy.close();
    await refusing.close();
  }
}, { timeoutMs: 60_000 });

test("a stop sends what waits", async () => {
  const slow = await collector((response) => void setImmediate(() => ok(response)));
  const trace = await startTrace({ otlp_endpoint: `${slow.url}/base/` });
  try {
    await trace.ingest(Array.from({ length: 300 }, (_, index) => sampleRun(`r${index}`)).flat());
    await trace.stop();
    assert.equal(spansOf(slow).length, 900);
    assert.ok(slow.requests.every(({ path }) => path === "/base/v1/traces"));
    assert.ok(slow.requests.length < 100, `runs travel together: ${slow.requests.length} requests`);
  } finally {
    await trace.dispose();
    await slow.close();
  }
}, { timeoutMs: 60_000 });

const RUN: RunExtended = {
  run_id: "r", root_run_id: "r", tags: [], status: "completed", started_at: "2026-01-01T00:00:00Z", completed_at: "2026-01-01T00:00:09Z", total_steps: 0, total_tokens_input: 0, total_tokens_output: 0,
  graph_definition: null, error_message: null, name: null, session_id: null, user_id: null, models: [], tools: [], servers: [], duration_ms: null, call_count: null, errors: 0, cost_usd: null, preview: null, answer: null, last_seq: 0,
};

function step(run_id: string, event_type: StepExtended["event_type"], second: number, more: Partial<StepExtended> = {}): StepExtended {
  return {
    event_id: `${run_id}${event_type}${second}`, run_id, parent_run_id: run_id === "r" ? null : "r", root_run_id: "r", event_type, timestamp: `2026-01-01T00:00:0${second}Z`, agent_name: run_id, tool_name: null,
    mcp_server: null, summary: "", blob_path: null, duration_ms: null, token_input: null, token_output: null, error_message: null, seq: second, node: null, model: null, cost_usd: null, payload_bytes: null, attributes: null, ...more,
  };
}

test("calls without an end, ends without a start, repeated ids and notes are all there", () => {
  const builder = new SpanBuilder(RUN);
  for (const one of [
    step("r", "run_start", 0), step("r", "chain_start", 0), step("open", "tool_start", 1, { attributes: { n: 1.5, whole: -3, yes: true, list: ["a"], deep: { a: [1] }, nothing: null } }),
    step("late", "retriever_end", 4, { duration_ms: 2000 }), step("twice", "tool_start", 2), step("twice", "tool_end", 3), step("twice", "tool_start", 4), step("twice", "retry", 4, { summary: "again" }), step("twice", "tool_error", 5, { error_message: "no" }),
    step("r", "chain_end", 6),
  ]) builder.add(one);
  const spans = builder.spans();
  assert.deepEqual(spans.map(({ attributes, parentId, startUs, endUs, status, message, events }) => [attributes["toolsrv.run_id"], parentId, (endUs - startUs) / 1e6, status, message, events.length]), [
    ["r", "", 6, 1, "", 0], ["open", spanIdOf("r"), 8, 0, "", 0], ["late", spanIdOf("r"), 2, 1, "", 0], ["twice", spanIdOf("r"), 1, 1, "", 0], ["twice", spanIdOf("twice"), 1, 2, "no", 1],
  ]);
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, 5);
  const [, open] = spansOfProtobuf(encodeRequest(spans, { "service.name": "s" }));
  const { n, whole, yes, list, deep, nothing } = open?.attributes ?? {};
  assert.deepEqual([n, Number(whole), yes, list, deep, nothing], [1.5, -3, true, ["a"], '{"a":[1]}', undefined]);
});

test("ids that came in as spans go out as they were", () => {
  assert.equal(traceIdOf("0af7651916cd43dd8448eb211c80319c"), "0af7651916cd43dd8448eb211c80319c");
  assert.equal(traceIdOf("0AF76519-16cd-43dd-8448-eb211c80319c"), "0af7651916cd43dd8448eb211c80319c");
  assert.equal(spanIdOf("0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"), "b7ad6b7169203331");
  for (const id of ["x", "0".repeat(32), "näme"]) assert.match(traceIdOf(id), /^(?!0{32})[0-9a-f]{32}$/, id);
});

test("the address is completed, and one that can't be used is refused without being shown", async () => {
  assert.deepEqual(["http://h:4318", "http://h:4318/", "http://h/v1/traces", "https://h/a/?k=1"].map(exportUrl), ["http://h:4318/v1/traces", "http://h:4318/v1/traces", "http://h/v1/traces", "https://h/a/v1/traces?k=1"]);
  const given = (values: Json) => resolveSettings({ from: (name) => name, given: values });
  for (const [values, message] of [
    [{ otlp_endpoint: "collector" }, /^otlp_endpoint must be an address such as http/], [{ otlp_endpoint: "grpc://h:4317" }, /http:\/\/ or https:\/\//],
    [{ otlp_endpoint: "http://u:secret-1@h" }, /belong into otlp_headers$/], [{ otlp_headers: { "a b": "secret-1" } }, /otlp_headers must be .*not what was given/], [{ otlp_headers: '{"a":"secret-1\\n"}' }, /not what was given/],
  ] as const) {
    assert.throws(() => given(values), (error: Error) => error.name === "SettingError" && message.test(error.message) && !error.message.includes("secret-1"));
  }
  const holder = await startTrace();
  const { port } = holder;
  await holder.dispose();
  await assert.rejects(startTrace({ port, port_auto: false, otlp_endpoint: `http://localhost:${port}` }), /otlp_endpoint is this service itself/);
});

test.run();
