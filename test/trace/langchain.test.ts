/** What the LangChain.js handler makes of its callbacks, beside what test/trace/emitters.test.ts sees of real runs. */
import assert from "node:assert/strict";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { createLangChainHandler, createTracer, type LangChainHandler, type LangChainOptions, type TraceEvent } from "../../runtime/tracer/index.js";
import { suite } from "../lib/suite.js";

const test = suite("LangChain.js handler");

function recording(options?: LangChainOptions): { handler: LangChainHandler; events: TraceEvent[] } {
  const events: TraceEvent[] = [];
  const tracer = createTracer({ sink: { emit: (event) => void events.push(event), registerTools: () => undefined, flush: () => Promise.resolve(), dropped: 0 } });
  return { handler: createLangChainHandler(tracer, options), events };
}

const of = (events: readonly TraceEvent[], type: string): TraceEvent => events.find((event) => event["event_type"] === type) ?? assert.fail(`no ${type}`);

test("a model's call has its parameters, the node of the graph, the time to the first token, and the model that answered", () => {
  const { handler, events } = recording();
  handler.handleChatModelStart({ name: "ChatX" }, [[new HumanMessage("hi")]], "m", undefined, { invocation_params: { temperature: 0.2, stop: ["x"] } }, [], { langgraph_node: "agent", langgraph_step: 3 });
  handler.handleLLMNewToken("h", {}, "m");
  handler.handleLLMNewToken("i", {}, "m");
  handler.handleLLMNewToken("i", {}, "unknown");
  const message = new AIMessage({ content: "hi", response_metadata: { model_name: "gpt-4o-mini-2024-07-18" } });
  handler.handleLLMEnd({ generations: [[{ text: "hi", message }]] }, "m");
  assert.deepEqual(of(events, "chat_model_start")["attributes"], { langgraph_node: "agent", langgraph_step: 3, invocation_params: { temperature: 0.2, stop: ["x"] } });
  const end = of(events, "llm_end");
  assert.equal(end["model"], "gpt-4o-mini-2024-07-18");
  const { time_to_first_token_ms: ms } = end["attributes"] as { time_to_first_token_ms: number };
  assert.ok(ms >= 0 && ms < 10_000);
});

test("the model that was asked for keeps its name, and a call without tokens has no time to the first", () => {
  const { handler, events } = recording();
  handler.handleLLMStart({ name: "X" }, ["hi"], "m", undefined, { invocation_params: { model: "gpt-4o-mini" } });
  handler.handleLLMEnd({ generations: [[{ text: "hi", message: new AIMessage({ content: "hi", response_metadata: { model_name: "other" } }) }]] }, "m");
  assert.deepEqual([of(events, "llm_end")["model"], of(events, "llm_end")["attributes"]], ["gpt-4o-mini", undefined]);
});

test("the definition of the graph is sent with the root of a run alone", () => {
  const { handler, events } = recording({ graph: "graph TD; a-->b" });
  handler.handleChainStart({ name: "LangGraph" }, { q: 1 }, "r");
  handler.handleChainStart({ name: "agent" }, { q: 1 }, "c", "r", [], { langgraph_node: "agent" });
  const starts = events.filter((event) => event["event_type"] === "chain_start");
  assert.deepEqual(starts.map((event) => event["graph_definition"]), ["graph TD; a-->b", undefined]);
  assert.deepEqual(starts[1]?.["attributes"], { langgraph_node: "agent" });
});

test.run();
