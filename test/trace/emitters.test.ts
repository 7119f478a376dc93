/** Real emitters: the OpenTelemetry SDK's exporters, LangChain.js with a fake model, an MCP client, and the tracer itself. */
import assert from "node:assert/strict";
import { Document } from "@langchain/core/documents";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { RunnableLambda, RunnableMap } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { FakeListChatModel, FakeRetriever } from "@langchain/core/utils/testing";
import { type Attributes, context, ROOT_CONTEXT, type Span, SpanStatusCode, trace as otel } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BasicTracerProvider, BatchSpanProcessor, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createHttpSink, createLangChainHandler, createTracer, type Tracer, traceMcpClient } from "../../runtime/tracer/index.js";
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

  test(`the OpenTelemetry SDK's ${name} exporter: agents within agents, side by side, with a retriever and a streamed answer`, async () => {
    const exporter = new Exporter({ url: `${trace.url}/v1/traces`, headers: { authorization: "Bearer t0ken" } });
    const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
    const sdk = provider.getTracer("test");
    const at = (ms: number): Date => new Date(Date.UTC(2026, 0, 5) + ms);
    const open = (operation: string, named: Attributes, from: number, parent: Span | null): Span =>
      sdk.startSpan(operation, { startTime: at(from), attributes: { "gen_ai.operation.name": operation, ...named } }, parent === null ? ROOT_CONTEXT : otel.setSpan(context.active(), parent));
    const boss = open("invoke_agent", { "gen_ai.agent.name": `boss-${name}`, "gen_ai.conversation.id": "talk" }, 0, null);
    // Both workers are open at once, and their calls come in turns.
    const workers = [0, 1].map((index) => open("invoke_agent", { "gen_ai.agent.name": `worker${index}-${name}` }, 10 + index, boss));
    const streamed = workers.map((worker) => open("chat", { "gen_ai.request.model": "m" }, 20, worker));
    for (const chat of streamed) for (const piece of ["a", "b", "c"]) chat.addEvent("gen_ai.content.completion", { text: piece }, at(25));
    for (const [index, chat] of streamed.entries()) chat.setAttributes({ "gen_ai.usage.input_tokens": 10 + index, "gen_ai.usage.output_tokens": 3 }).end(at(40 + index));
    open("retrieval", { "gen_ai.data_source.id": "docs", "gen_ai.retrieval.query.text": "q" }, 50, workers[0] ?? boss).updateName("retrieval docs").end(at(55));
    open("execute_tool", { "gen_ai.tool.name": "lookup", "mcp.server.name": "library" }, 50, workers[1] ?? boss).end(at(58));
    for (const [index, worker] of workers.entries()) worker.end(at(60 + index));
    boss.end(at(100));
    await provider.shutdown();
    await trace.service.context.queue.flushed(0);
    const id = boss.spanContext().traceId;
    const run = await get(`/api/runs/${id}?extended=1`);
    assert.deepEqual(
      [run["status"], run["name"], run["session_id"], run["total_steps"], run["total_tokens_input"], run["total_tokens_output"], run["duration_ms"]], ["completed", `boss-${name}`, "talk", 15, 21, 6, 100],
    );
    const edges = (await get(`/api/topology?scope=run:${id}`))["edges"] as Json[];
    assert.deepEqual(edges.map((edge) => `${String(edge["source"])} ${String(edge["target"])}`), [
      `agent:boss-${name} agent:worker0-${name}`, `agent:boss-${name} agent:worker1-${name}`, `agent:worker0-${name} llm:m`, `agent:worker0-${name} retriever:retrieval docs`,
      `agent:worker1-${name} llm:m`, `agent:worker1-${name} mcp:library`, `agent:worker1-${name} tool:lookup`, "mcp:library tool:lookup",
    ]);
    const ends = (await stepsOf(run)).filter((step) => step["duration_ms"] !== null);
    assert.deepEqual(ends.map((step) => [step["node"], step["duration_ms"]]), [
      ["llm:m", 20], ["llm:m", 21], ["retriever:retrieval docs", 5], ["tool:lookup", 8], [`agent:worker0-${name}`, 50], [`agent:worker1-${name}`, 50], [`agent:boss-${name}`, 100],
    ]);
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

/** A model that answers in pieces and says what it used, as those of providers do. */
class MeteredModel extends BaseChatModel {
  readonly usage = { input_tokens: 20, output_tokens: 2, total_tokens: 22 };

  _llmType(): string {
    return "metered";
  }

  override _generate(): Promise<ChatResult> {
    return Promise.resolve({ generations: [{ text: "mild", message: Object.assign(new AIMessage("mild"), { usage_metadata: this.usage }) }] });
  }

  override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
    for (const text of ["1", "8", " deg", "rees"]) yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
    yield new ChatGenerationChunk({ text: "", message: Object.assign(new AIMessageChunk(""), { usage_metadata: this.usage }) });
  }
}

test("LangChain.js: agents within agents, branches side by side, a retriever and a streamed answer are one run", async () => {
  const model = new MeteredModel({});
  const docs = new FakeRetriever({ output: [new Document({ pageContent: "Paris is mild" })] });
  const weather = tool((input: { city: string }) => `18 degrees in ${input.city}`, { name: "thermometer", description: "Weather of a city", schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } });
  const researcher = RunnableLambda.from(async (question: string, config) => {
    const branches = RunnableMap.from({ docs, weather: RunnableLambda.from(() => ({ city: "Paris" })).pipe(weather) });
    await branches.invoke(question, config);
    let answer = "";
    for await (const chunk of await model.stream([new HumanMessage(question)], config)) answer += String(chunk.content);
    return answer;
  }).withConfig({ runName: "researcher" });
  const planner = RunnableLambda.from(async (question: string, config) => {
    const found = await researcher.invoke(question, config);
    return (await model.invoke([new HumanMessage(found)], config)).content;
  }).withConfig({ runName: "planner" });
  assert.equal(await planner.invoke("How warm?", { callbacks: [createLangChainHandler(tracer)] }), "mild");
  await committed();
  const run = await newestRun();
  // What streamed counts as what the model reported, not as its five pieces.
  assert.deepEqual([run["name"], run["status"], run["errors"], run["total_tokens_input"], run["total_tokens_output"]], ["planner", "completed", 0, 40, 4]);
  const steps = await stepsOf(run);
  const spans = new Map(steps.filter((step) => String(step["event_type"]).endsWith("_start") && step["event_type"] !== "run_start").map((step) => [step["run_id"], step]));
  const nameOf = (id: unknown): string => String(spans.get(id)?.["tool_name"] ?? spans.get(id)?.["agent_name"]);
  assert.deepEqual([...spans.values()].map((step) => `${nameOf(step["parent_run_id"])} > ${nameOf(step["run_id"])}`).sort(), [
    "RunnableMap > FakeRetriever", "RunnableMap > RunnableSequence", "RunnableSequence > RunnableLambda", "RunnableSequence > thermometer",
    "planner > MeteredModel", "planner > researcher", "researcher > MeteredModel", "researcher > RunnableMap", "undefined > planner",
  ]);
  assert.equal(steps.filter((step) => step["duration_ms"] !== null).length, spans.size);
  const streamed = steps.find((step) => step["event_type"] === "llm_end");
  assert.deepEqual([streamed?.["token_input"], streamed?.["token_output"]], [20, 2]);
  const payload = async (type: string): Promise<unknown> => (await get(`/api/runs/${String(run["run_id"])}/steps/${String(steps.find((step) => step["event_type"] === type)?.["event_id"])}/full`))["full_payload"];
  assert.deepEqual(await payload("llm_end"), { output: [{ role: "assistant", content: "18 degrees" }] });
  assert.deepEqual(await payload("retriever_end"), { documents: [{ pageContent: "Paris is mild", metadata: {} }] });
  const topology = await get(`/api/topology?scope=run:${String(run["run_id"])}`);
  assert.deepEqual((topology["edges"] as Json[]).map((edge) => `${String(edge["source"])} → ${String(edge["target"])}`), [
    "agent:planner → agent:researcher", "agent:planner → llm:MeteredModel", "agent:researcher → chain:RunnableMap", "agent:researcher → llm:MeteredModel", "chain:RunnableMap → chain:RunnableSequence",
    "chain:RunnableMap → retriever:FakeRetriever", "chain:RunnableSequence → chain:RunnableLambda", "chain:RunnableSequence → tool:thermometer",
  ]);
});

test("LangChain.js: a tool's and a retriever's error is theirs, and the run goes on when it is caught", async () => {
  const broken = tool(() => Promise.reject(new Error("no service")), { name: "broken_tool", description: "Fails", schema: { type: "object", properties: {} } });
  class Broken extends FakeRetriever {
    override _getRelevantDocuments(): Promise<Document[]> {
      return Promise.reject(new Error("no index"));
    }
  }
  const agent = RunnableLambda.from(async (question: string, config) => {
    await assert.rejects(Promise.resolve(RunnableLambda.from(() => ({})).pipe(broken).invoke(question, config)), /no service/);
    await assert.rejects(new Broken().invoke(question, config), /no index/);
    return "recovered";
  }).withConfig({ runName: "careful" });
  assert.equal(await agent.invoke("x", { callbacks: [createLangChainHandler(tracer)] }), "recovered");
  await committed();
  const run = await newestRun();
  assert.deepEqual([run["name"], run["status"], run["error_message"]], ["careful", "completed", null]);
  const errors = (await stepsOf(run)).filter((step) => step["error_message"] !== null);
  assert.deepEqual(errors.map((step) => [step["event_type"], step["node"], step["error_message"]]), [
    ["tool_error", "tool:broken_tool", "no service"], ["chain_error", "chain:RunnableSequence", "no service"], ["retriever_error", "retriever:Broken", "no index"],
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

test("a wrapped MCP client records calls under its server, counts isError as failed, and reports its tools", async () => {
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

test("objects that all know each other, which have more paths than anyone can write, are recorded up to a bound", () => {
  const friends = Array.from({ length: 30 }, (_, index) => ({ index, friends: [] as unknown[] }));
  for (const one of friends) one.friends = friends.filter((other) => other !== one);
  const kept: { readonly [field: string]: unknown }[] = [];
  createTracer({ sink: { emit: (event) => void kept.push(event), registerTools: () => undefined, flush: () => Promise.resolve(), dropped: 0 } }).start("tool", { name: "t", input: { friends } });
  const text = JSON.stringify(kept[0]?.["payload"]);
  assert.deepEqual([text.includes("[circular]"), text.includes("[too many values]"), text.length < 20_000_000], [true, true, true]);
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
