/** Real emitters: the OpenTelemetry SDK's exporters, LangChain.js with a fake model, an MCP client, and the tracer itself. */
import assert from "node:assert/strict";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { context, ROOT_CONTEXT, SpanStatusCode, trace as otel } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createHttpSink, createLangChainHandler, createTracer, type Tracer, traceMcpClient } from "../../runtime/trace/tracer/index.js";
import { suite } from "../lib/suite.js";
import { type Json, type RunningTrace, startTrace } from "./lib.js";

const test = suite("trace emitters");

let trace: RunningTrace;
let tracer: Tracer;
test.before(async () => {
  trace = await startTrace({ auth_token: "t0ken" });
  tracer = createTracer({ sink: createHttpSink({ url: trace.url, token: "t0ken" }) });
});
test.after(() => trace.dispose());

const get = async (path: string): Promise<Json> => (await trace.get(path, { authorization: "Bearer t0ken" })).json;

async function committed(): Promise<void> {
  await tracer.flush();
  await trace.service.context.queue.flushed(0);
}

async function newestRun(): Promise<Json> {
  return ((await get("/api/runs?extended=1&limit=1"))["runs"] as Json[])[0] ?? {};
}

const stepsOf = async (run: Json): Promise<Json[]> => (await get(`/api/runs/${String(run["run_id"])}/journey?extended=1`))["steps"] as Json[];

for (const [name, Exporter] of [["JSON", JsonExporter], ["protobuf", ProtobufExporter]] as const) {
  test(`the OpenTelemetry SDK's ${name} exporter produces the run, its topology and its tokens`, async () => {
    const exporter = new Exporter({ url: `${trace.url}/v1/traces`, headers: { authorization: "Bearer t0ken" } });
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const sdk = provider.getTracer("test");
    const root = sdk.startSpan(`invoke_agent ${name}`, { attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": `agent-${name}` } }, ROOT_CONTEXT);
    const inside = otel.setSpan(context.active(), root);
    sdk.startSpan("chat m", { attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 5 } }, inside).end();
    const failing = sdk.startSpan("execute_tool t", { attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": `tool-${name}`, "error.type": "tool_error" } }, inside);
    failing.recordException(new TypeError("bad input"));
    failing.setStatus({ code: SpanStatusCode.ERROR, message: "tool said no" });
    failing.end();
    root.end();
    await provider.shutdown();
    await trace.service.context.queue.flushed(0);
    const run = await get(`/api/runs/${root.spanContext().traceId}?extended=1`);
    assert.deepEqual([run["status"], run["name"], run["total_tokens_input"], run["total_tokens_output"], run["total_steps"], run["errors"]], ["completed", `agent-${name}`, 12, 5, 7, 1]);
    const topology = await get(`/api/topology?scope=run:${root.spanContext().traceId}`);
    assert.deepEqual((topology["edges"] as Json[]).map((edge) => [edge["source"], edge["target"]]), [[`agent:agent-${name}`, "llm:m"], [`agent:agent-${name}`, `tool:tool-${name}`]]);
    const error = (await stepsOf(run)).find((step) => step["event_type"] === "tool_error");
    assert.equal(error?.["error_message"], "tool said no");
  });
}

test("LangChain.js: a chain with a fake model and a tool is one run with names, roles, tokens and an edge each", async () => {
  const model = new FakeListChatModel({ responses: ["It is 18 degrees."] });
  const weather = tool((input: { city: string }) => `18 degrees in ${input.city}`, { name: "weather", description: "Weather of a city", schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } });
  const agent = RunnableLambda.from(async (question: string, config) => {
    const found = await (weather as unknown as { invoke(input: object, config: unknown): Promise<string> }).invoke({ city: "Paris" }, config);
    const answer = await model.invoke([new HumanMessage(question), new AIMessage(found)], config);
    return answer.content;
  }).withConfig({ runName: "weather_agent" });
  const result = await agent.invoke("How warm is Paris?", { callbacks: [createLangChainHandler(tracer, { servers: { weather: "meteo" } })], tags: ["lc"], metadata: { thread_id: "th-1", user_id: "ann" } });
  assert.equal(result, "It is 18 degrees.");
  await committed();
  const run = await newestRun();
  assert.deepEqual([run["status"], run["name"], run["session_id"], run["user_id"], (run["tags"] as string[]).includes("lc")], ["completed", "weather_agent", "th-1", "ann", true]);
  const steps = await stepsOf(run);
  assert.deepEqual(steps.map((step) => step["event_type"]), ["run_start", "chain_start", "tool_start", "tool_end", "chat_model_start", "llm_end", "chain_end"]);
  assert.deepEqual([steps[2]?.["tool_name"], steps[2]?.["mcp_server"], steps[4]?.["agent_name"]], ["weather", "meteo", "FakeListChatModel"]);
  const payload = async (index: number): Promise<unknown> => (await get(`/api/runs/${String(run["run_id"])}/steps/${String(steps[index]?.["event_id"])}/full`))["full_payload"];
  assert.deepEqual(await payload(4), { messages: [{ role: "user", content: "How warm is Paris?" }, { role: "assistant", content: "18 degrees in Paris" }] });
  assert.deepEqual(await payload(5), { output: [{ role: "assistant", content: "It is 18 degrees." }] });
  assert.deepEqual(await payload(2), { input: { city: "Paris" } });
  const edges = (await get(`/api/topology?scope=run:${String(run["run_id"])}`))["edges"] as Json[];
  assert.deepEqual(edges.map((edge) => `${String(edge["source"])} → ${String(edge["target"])}`), [
    "agent:weather_agent → llm:FakeListChatModel", "agent:weather_agent → mcp:meteo", "agent:weather_agent → tool:weather", "mcp:meteo → tool:weather",
  ]);
});

test("LangChain.js: reported usage is counted over all generations, chunks are not", async () => {
  const handler = createLangChainHandler(tracer);
  const answer = (input: number, output: number) => ({ text: "x", message: Object.assign(new AIMessage("x"), { usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output } }) });
  handler.handleChatModelStart({ id: ["langchain", "ChatOpenAI"] }, [[new HumanMessage("q")]], "lc-usage", undefined, { invocation_params: { model: "gpt-4o" } });
  handler.handleLLMEnd({ generations: [[answer(3, 4)], [answer(5, 6)]] }, "lc-usage");
  await committed();
  const run = await get("/api/runs/lc-usage?extended=1");
  assert.deepEqual([run["total_tokens_input"], run["total_tokens_output"], run["models"], run["name"]], [8, 10, ["gpt-4o"], "ChatOpenAI"]);
});

test("LangChain.js: an error fails the run and is thrown on", async () => {
  const chain = RunnableLambda.from(() => Promise.reject(new RangeError("out of range"))).withConfig({ runName: "failing" });
  await assert.rejects(chain.invoke("x", { callbacks: [createLangChainHandler(tracer)] }), /out of range/);
  await committed();
  const run = await newestRun();
  assert.deepEqual([run["name"], run["status"], run["error_message"]], ["failing", "failed", "out of range"]);
});

test("a wrapped MCP client records calls under its server, counts isError as failed, and tells its tools", async () => {
  const client = {
    label: "inner",
    callTool: ({ name }: { readonly name: string }) => Promise.resolve(name === "bad" ? { isError: true, content: [{ type: "text", text: "no such file" }] } : { content: [{ type: "text", text: "ok" }] }),
    listTools: () => Promise.resolve({ tools: [{ name: "good" }, { name: "bad" }, { name: "unused" }] }),
    describe() {
      return this.label;
    },
  };
  const traced = traceMcpClient(client, tracer, "files");
  await traced.listTools();
  await tracer.trace("agent", { name: "reader" }, async () => {
    await traced.callTool({ name: "good" });
    assert.equal(((await traced.callTool({ name: "bad" })) as { isError?: boolean }).isError, true);
  });
  assert.equal(traced.describe(), "inner");
  await committed();
  const sources = (await get("/api/tools"))["sources"] as Json[];
  assert.deepEqual(sources.find((source) => source["source"] === "files")?.["tools"], [{ name: "bad", invocations: 1, errors: 1 }, { name: "good", invocations: 1, errors: 0 }, { name: "unused", invocations: 0, errors: 0 }]);
  assert.equal((await newestRun())["status"], "completed");
});

test("spans nest across awaits, fail with their error, end once, and take values of any shape", async () => {
  const cyclic: { [key: string]: unknown } = { big: 10n, when: new Date(0), map: new Map([["k", new Set([1])]]), fn: () => 0, nan: NaN, none: undefined };
  cyclic["self"] = cyclic;
  await assert.rejects(tracer.trace("agent", { name: "outer", input: cyclic, tags: ["own"], session: "s" }, async (outer) => {
    await Promise.all([1, 2].map((index) => tracer.trace("tool", { name: `t${index}` }, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      outer.start("llm", { name: "m" }).end({ tokensIn: 1, tokensOut: 2 });
    })));
    throw new Error("outer broke");
  }), /outer broke/);
  await committed();
  const run = await newestRun();
  assert.deepEqual([run["name"], run["status"], run["error_message"], run["total_tokens_output"], run["tags"], run["session_id"]], ["outer", "failed", "outer broke", 4, ["own"], "s"]);
  const steps = await stepsOf(run);
  assert.ok(steps.filter((step) => step["event_type"] === "tool_start").every((step) => step["parent_run_id"] === run["run_id"]));
  const start = steps.find((step) => step["event_type"] === "chain_start");
  assert.deepEqual((await get(`/api/runs/${String(run["run_id"])}/steps/${String(start?.["event_id"])}/full`))["full_payload"], {
    inputs: { big: "10", when: "1970-01-01T00:00:00.000Z", map: { k: [1] }, fn: "[function fn]", nan: "NaN", self: "[circular]" },
  });
});

test("a service that is not there costs events, counted, and nothing else", async () => {
  const refused = createTracer({ sink: createHttpSink({ url: "http://127.0.0.1:9", fetch: () => Promise.resolve(new Response("no", { status: 401 })), maxQueue: 3 }) });
  for (let index = 0; index < 4; index++) refused.start("tool", { name: "t" });
  await refused.flush();
  assert.equal(refused.dropped, 4);
});

test("sampling by the root's id agrees with the service", async () => {
  const kept: unknown[] = [];
  const sampled = createTracer({ sampleRate: 0.5, sink: { emit: (event) => void kept.push(event["root_run_id"]), registerTools: () => undefined, flush: () => Promise.resolve(), dropped: 0 } });
  for (let index = 0; index < 400; index++) sampled.start("tool", { name: "t", runId: `root-${index}` }).start("llm", { name: "m" });
  assert.ok(kept.length > 300 && kept.length < 500 && kept.length % 2 === 0, String(kept.length));
});

test.run();
