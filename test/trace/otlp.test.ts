/** OTLP/HTTP: encodings, conventions, and what spans of any order become. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { suite } from "../lib/suite.js";
import { spanEvents } from "../../runtime/trace/ingest/otlp/events.js";
import { FactReader } from "../../runtime/trace/ingest/otlp/facts.js";
import { protobufField } from "../../runtime/trace/ingest/otlp/protobuf.js";
import { spansOfJson } from "../../runtime/trace/ingest/otlp/spans-json.js";
import { spansOfProtobuf } from "../../runtime/trace/ingest/otlp/spans-protobuf.js";
import { type Json, type RunningTrace, startTrace } from "./lib.js";

const test = suite("trace otlp");

let trace: RunningTrace;
test.before(async () => {
  trace = await startTrace();
});
test.after(() => trace.dispose());

const hex = (length: number, n: number): string => n.toString(16).padStart(length, "0");

interface SpanGiven {
  readonly id: number;
  readonly parent?: number;
  readonly name: string;
  readonly at?: number;
  readonly ms?: number;
  readonly attributes?: { readonly [name: string]: unknown };
  readonly error?: string;
  readonly kind?: number;
  readonly events?: readonly Json[];
}

const T0 = 1_763_640_000_000;

function value(given: unknown): Json {
  if (typeof given === "string") return { stringValue: given };
  if (typeof given === "boolean") return { boolValue: given };
  if (typeof given === "number") return Number.isInteger(given) ? { intValue: String(given) } : { doubleValue: given };
  if (Array.isArray(given)) return { arrayValue: { values: given.map(value) } };
  return { kvlistValue: { values: pairs(given as Json) } };
}

const pairs = (given: Json): Json[] => Object.entries(given).map(([key, inside]) => ({ key, value: value(inside) }));

function request(traceNumber: number, spans: readonly SpanGiven[], resource: Json = { "service.name": "shop" }): Json {
  return {
    resourceSpans: [{
      resource: { attributes: pairs(resource) },
      scopeSpans: [{
        scope: { name: "test" },
        spans: spans.map(({ id, parent, name, at = 0, ms = 10, attributes = {}, error, kind = 1, events = [] }) => ({
          traceId: hex(32, traceNumber).toUpperCase(), spanId: hex(16, id), ...(parent === undefined ? {} : { parentSpanId: hex(16, parent) }), name, kind,
          startTimeUnixNano: `${T0 + at}000000`, endTimeUnixNano: `${T0 + at + ms}000000`, attributes: pairs(attributes), events,
          status: error === undefined ? {} : { code: 2, message: error }, someFutureField: { deep: [1, 2] },
        })),
      }],
    }],
  };
}

const post = (body: Json, headers: { readonly [name: string]: string } = {}) => trace.send("POST", "/v1/traces", JSON.stringify(body), { "content-type": "application/json", ...headers });

async function stepsOf(traceNumber: number): Promise<Json[]> {
  await trace.service.context.queue.flushed(0);
  return (await trace.get(`/api/runs/${hex(32, traceNumber)}/journey?extended=1`)).json["steps"] as Json[];
}

test("an agent with a model call and a tool call of an MCP server is one run with its topology and tokens", async () => {
  const answer = await post(request(1, [
    { id: 2, parent: 1, name: "chat gpt-4o", at: 10, ms: 100, attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 11, "gen_ai.usage.output_tokens": 7, "gen_ai.input.messages": '[{"role":"user","parts":[]}]' } },
    { id: 3, parent: 1, name: "execute_tool web_search", at: 120, ms: 50, attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "web_search", "gen_ai.tool.call.arguments": '{"q":"x"}' } },
    { id: 4, parent: 3, name: "tools/call web_search", at: 121, ms: 40, kind: 3, attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": "web_search", "mcp.server.name": "tavily" } },
    { id: 1, name: "invoke_agent researcher", ms: 200, attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "researcher", "gen_ai.conversation.id": "conv-1", tags: ["beta"] } },
  ]));
  assert.deepEqual([answer.status, answer.json, answer.headers.get("content-type")], [200, {}, "application/json"]);
  const steps = await stepsOf(1);
  assert.deepEqual(steps.map((step) => [step["event_type"], step["agent_name"] ?? step["tool_name"], step["duration_ms"]]), [
    ["run_start", "researcher", null], ["chain_start", "researcher", null], ["chat_model_start", "gpt-4o", null], ["llm_end", "gpt-4o", 100], ["tool_start", "web_search", null],
    ["chain_start", "tools/call web_search", null], ["chain_end", "tools/call web_search", 40], ["tool_end", "web_search", 50], ["chain_end", "researcher", 200],
  ]);
  const { json } = await trace.get(`/api/runs/${hex(32, 1)}?extended=1`);
  assert.deepEqual([json["status"], json["total_tokens_input"], json["total_tokens_output"], json["session_id"], json["tags"], json["name"], json["duration_ms"]], ["completed", 11, 7, "conv-1", ["beta"], "researcher", 200]);
  const topology = (await trace.get(`/api/topology?scope=run:${hex(32, 1)}`)).json;
  assert.deepEqual((topology["nodes"] as Json[]).map((node) => [node["id"], node["source"]]), [
    ["agent:researcher", null], ["chain:tools/call web_search", null], ["llm:gpt-4o", null], ["mcp:tavily", "tavily"], ["tool:web_search", "tavily"],
  ]);
});

test("a retried export is stored once", async () => {
  const body = request(2, [{ id: 1, name: "job" }]);
  await post(body);
  await post(body);
  assert.equal((await stepsOf(2)).length, 3);
});

test("a child that comes in an earlier request than its root belongs to the same run", async () => {
  await post(request(3, [{ id: 2, parent: 1, name: "child", at: 5 }]));
  assert.equal((await stepsOf(3)).length, 2);
  await post(request(3, [{ id: 1, name: "root", ms: 40 }]));
  const run = (await stepsOf(3), await trace.get(`/api/runs/${hex(32, 3)}`)).json;
  assert.deepEqual([run["status"], run["total_steps"], run["started_at"]], ["completed", 5, new Date(T0).toISOString().replace(".000", "")]);
  const edges = (await trace.get(`/api/topology?scope=run:${hex(32, 3)}`)).json["edges"] as Json[];
  assert.deepEqual(edges.map((edge) => [edge["source"], edge["target"]]), [["agent:root", "chain:child"]]);
});

test("OpenInference spans are understood, their flattened messages become lists", async () => {
  await post(request(4, [
    { id: 1, name: "agent", ms: 90, attributes: { "openinference.span.kind": "AGENT", "input.value": "hi", "session.id": "s9", "tag.tags": ["x"] } },
    { id: 2, parent: 1, name: "llm", at: 1, attributes: { "openinference.span.kind": "LLM", "llm.model_name": "claude", "llm.token_count.prompt": 3, "llm.token_count.completion": 4, "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi", "llm.output_messages.0.message.content": "yo" } },
    { id: 3, parent: 1, name: "docs", at: 20, attributes: { "openinference.span.kind": "RETRIEVER", "input.value": "q", "retrieval.documents.0.document.content": "d" } },
    { id: 4, parent: 1, name: "calc", at: 40, attributes: { "openinference.span.kind": "TOOL", "tool.name": "calculator", "output.value": "4" } },
  ]));
  const steps = await stepsOf(4);
  assert.deepEqual(steps.filter((step) => String(step["event_type"]).endsWith("_start")).map((step) => step["node"]), [null, "agent:agent", "llm:claude", "retriever:docs", "tool:calculator"]);
  const start = steps.find((step) => step["event_type"] === "chat_model_start");
  const full = await trace.get(`/api/runs/${hex(32, 4)}/steps/${String(start?.["event_id"])}/full`);
  assert.deepEqual(full.json["full_payload"], { messages: [{ message: { role: "user", content: "hi" } }] });
  const documents = steps.find((step) => step["event_type"] === "retriever_end");
  assert.deepEqual((await trace.get(`/api/runs/${hex(32, 4)}/steps/${String(documents?.["event_id"])}/full`)).json["full_payload"], { documents: [{ document: { content: "d" } }], count: 1 });
});

test("a span with an error fails its step and, at the root, its run; an exception gives type and stack", async () => {
  await post(request(5, [
    { id: 1, name: "root", ms: 30, error: "it broke", events: [{ name: "exception", attributes: pairs({ "exception.type": "ValueError", "exception.message": "bad", "exception.stacktrace": "at x" }) }] },
    { id: 2, parent: 1, name: "tools/call t", at: 1, attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": "t", "error.type": "tool_error" } },
  ]));
  const steps = await stepsOf(5);
  assert.deepEqual(steps.filter((step) => step["error_message"] !== null).map((step) => [step["event_type"], step["error_message"]]), [["tool_error", "tool_error"], ["chain_error", "it broke"]]);
  assert.deepEqual([(await trace.get(`/api/runs/${hex(32, 5)}`)).json["status"], (await trace.get(`/api/runs/${hex(32, 5)}`)).json["error_message"]], ["failed", "it broke"]);
  const end = steps.find((step) => step["event_type"] === "chain_error");
  assert.deepEqual((await trace.get(`/api/runs/${hex(32, 5)}/steps/${String(end?.["event_id"])}/full`)).json["full_payload"], { error: "it broke", type: "ValueError", traceback: "at x" });
});

test("wrong ids are refused by number with the reason, the rest is taken", async () => {
  const body = request(6, [{ id: 1, name: "fine" }, { id: 0, name: "zero span id" }]);
  const scope = ((body["resourceSpans"] as Json[])[0]?.["scopeSpans"] as Json[])[0]?.["spans"] as { [key: string]: unknown }[];
  scope.push({ ...scope[0], traceId: "xyz" }, { ...scope[0], spanId: hex(16, 9), startTimeUnixNano: "0" });
  const answer = await post(body);
  assert.deepEqual([answer.status, answer.json], [200, { partialSuccess: { rejectedSpans: "3", errorMessage: "a span has no valid span id" } }]);
  assert.equal((await stepsOf(6)).length, 3);
});

test("parents that never come, cycles of parents and clocks that run backwards lose no span", async () => {
  await post(request(7, [
    { id: 2, parent: 99, name: "orphan", at: 10 }, { id: 3, parent: 4, name: "c1", at: 20 }, { id: 4, parent: 3, name: "c2", at: 20 }, { id: 5, parent: 2, name: "back", at: 5, ms: -3 },
  ]));
  const steps = await stepsOf(7);
  assert.equal(steps.length, 8);
  assert.equal(steps.find((step) => step["agent_name"] === "back" && step["event_type"] === "chain_end")?.["duration_ms"], 0);
  trace.advance(120_000);
  await trace.service.context.store.sweep(Date.now() + 60_000, 0);
  assert.equal((await trace.get(`/api/runs/${hex(32, 7)}`)).json["status"], "completed");
});

/** The same request as protobuf, written by hand from the message definitions. */
function protobufRequest(traceNumber: number): Buffer {
  const any = (given: unknown): Buffer => {
    if (typeof given === "string") return protobufField(1, given);
    if (typeof given === "boolean") return protobufField(2, given ? 1 : 0);
    if (typeof given === "number") return protobufField(3, given);
    if (Array.isArray(given)) return protobufField(5, Buffer.concat(given.map((item) => protobufField(1, any(item)))));
    return protobufField(6, Buffer.concat(Object.entries(given as object).map(([key, inside]) => protobufField(1, keyValue(key, inside)))));
  };
  const keyValue = (key: string, given: unknown): Buffer => Buffer.concat([protobufField(1, key), protobufField(2, any(given))]);
  const fixed64 = (field: number, nanos: bigint): Buffer => {
    const bytes = Buffer.alloc(9);
    bytes[0] = field * 8 + 1;
    bytes.writeBigUInt64LE(nanos, 1);
    return bytes;
  };
  const span = Buffer.concat([
    protobufField(1, Buffer.from(hex(32, traceNumber), "hex")), protobufField(2, Buffer.from(hex(16, 1), "hex")), protobufField(3, "state=1"), protobufField(5, "chat m"), protobufField(6, 3),
    fixed64(7, BigInt(T0) * 1_000_000n + 5_000n), fixed64(8, BigInt(T0 + 25) * 1_000_000n),
    protobufField(9, keyValue("gen_ai.operation.name", "chat")), protobufField(9, keyValue("gen_ai.request.model", "m")), protobufField(9, keyValue("gen_ai.usage.input_tokens", 5)),
    protobufField(9, keyValue("list", ["a", true, { k: 1 }])), protobufField(11, Buffer.concat([fixed64(1, 1n), protobufField(2, "note"), protobufField(3, keyValue("x", "y"))])), protobufField(15, protobufField(3, 1)),
    protobufField(77, "a field of the future"),
  ]);
  const scope = Buffer.concat([protobufField(1, Buffer.concat([protobufField(1, "lib"), protobufField(2, "1.0")])), protobufField(2, span), protobufField(3, "schema")]);
  return protobufField(1, Buffer.concat([protobufField(1, protobufField(1, keyValue("service.name", "shop"))), protobufField(2, scope)]));
}

test("protobuf is read like JSON, gzip too, and answered in protobuf", async () => {
  for (const [index, headers] of [{}, { "content-encoding": "gzip" }].entries()) {
    const bytes = protobufRequest(20 + index);
    const answer = await trace.send("POST", "/v1/traces", new Uint8Array(index === 0 ? bytes : gzipSync(bytes)), { "content-type": "application/x-protobuf", ...headers });
    assert.deepEqual([answer.status, answer.text, answer.headers.get("content-type")], [200, "", "application/x-protobuf"]);
    const steps = await stepsOf(20 + index);
    assert.deepEqual(steps.map((step) => [step["event_type"], step["timestamp"], step["token_input"]]), [
      ["run_start", "2025-11-20T12:00:00.000005Z", null], ["chat_model_start", "2025-11-20T12:00:00.000005Z", null], ["llm_end", "2025-11-20T12:00:00.025000Z", 5],
    ]);
    assert.deepEqual((steps[1]?.["attributes"] as Json)["list"], ["a", true, { k: 1 }]);
  }
});

test("what is no export request is 400 with a status in the type of the request", async () => {
  const json = await trace.send("POST", "/v1/traces", '{"resourceSpans":5}', { "content-type": "application/json" });
  assert.deepEqual([json.status, json.json["code"], typeof json.json["message"]], [400, 3, "string"]);
  for (const body of ["[1]", "null", "{", '{"resourceSpans":[{"scopeSpans":[{"spans":[5]}]}]}']) assert.equal((await trace.send("POST", "/v1/traces", body, { "content-type": "application/json" })).status, 400, body);
  const binary = await trace.send("POST", "/v1/traces", new Uint8Array([10, 200, 1, 1]), { "content-type": "application/x-protobuf" });
  assert.deepEqual([binary.status, binary.headers.get("content-type")], [400, "application/x-protobuf"]);
  assert.equal((await trace.send("POST", "/v1/traces", "x", { "content-type": "text/plain" })).status, 415);
  assert.deepEqual((await trace.send("POST", "/v1/traces", "{}", { "content-type": "application/json" })).json, {});
  assert.equal((await trace.send("POST", "/v1/traces", "", { "content-type": "application/x-protobuf" })).status, 200);
});

test("cut or flipped protobuf ends in spans or in an error of its own, never in anything else", () => {
  const bytes = protobufRequest(1);
  for (let cut = 0; cut < bytes.length; cut++) attempt(bytes.subarray(0, cut));
  for (let index = 0; index < bytes.length; index++) {
    for (const flip of [0x01, 0x80, 0xff]) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ flip;
      attempt(changed);
    }
  }
  function attempt(data: Buffer): void {
    try {
      spanEvents(spansOfProtobuf(data), { summaryChars: 500, facts: new FactReader(), redactor: null, defers: true });
    } catch (error) {
      assert.equal((error as Error).name, "ProtobufError");
    }
  }
});

test("JSON enums by name, numbers as numbers and deep values are taken", () => {
  let deep: Json = { stringValue: "x" };
  for (let level = 0; level < 500; level++) deep = { kvlistValue: { values: [{ key: "k", value: deep }] } };
  const spans = spansOfJson({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: hex(32, 1), spanId: hex(16, 1), name: "n", kind: "SPAN_KIND_CLIENT", startTimeUnixNano: T0 * 1e6, endTimeUnixNano: T0 * 1e6, status: { code: "STATUS_CODE_ERROR" }, attributes: [{ key: "deep", value: deep }, { key: "__proto__", value: { stringValue: "p" } }] }] }] }] });
  assert.deepEqual([spans[0]?.kind, spans[0]?.statusCode, spans[0]?.startUs], [3, 2, T0 * 1000]);
  assert.equal(({} as { p?: unknown }).p, undefined);
});

test.run();
