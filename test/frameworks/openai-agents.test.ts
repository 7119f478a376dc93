/** The tools in the OpenAI Agents SDK: an agent with a scripted model. */
import assert from "node:assert/strict";
import { Agent, RunContext, Runner, Usage, type Model, type ModelRequest, type ModelResponse } from "@openai/agents";
import { openaiAgents } from "../../generator/frameworks/openai-agents.js";
import { loadTools, type CallContext } from "../../generator/index.js";
import { suite } from "../lib/suite.js";
import { CALLS, idsOf, NORTH, NotesProject, overMcp, SOUTH, steady } from "./notes.js";

const test = suite("frameworks: openai agents");
const project = new NotesProject();
test.before(() => project.fill());
test.after(() => project.remove());

type Tools = Awaited<ReturnType<typeof openaiAgents.make>>;

/** Asks for one tool, then answers; keeps what it was asked. */
class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  constructor(private readonly name: string, private readonly text: string) {}

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request);
    const usage = new Usage();
    if (this.requests.length > 1) return { usage, output: [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] }] };
    return { usage, output: [{ type: "function_call", callId: "call-1", name: this.name, arguments: this.text, status: "completed" }] };
  }

  getStreamedResponse(): AsyncIterable<never> {
    throw new Error("not streamed");
  }
}

async function runOf(tools: Tools, name: string, text: string, caller?: CallContext) {
  const model = new ScriptedModel(name, text);
  const agent = new Agent<unknown>({ name: "notes", model, tools });
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, "apples?", { context: caller });
  const [first, second] = model.requests;
  const results = Array.isArray(second?.input) ? second.input.filter((item) => item.type === "function_call_result") : [];
  const output = results[0]?.output;
  const told = typeof output === "string" ? output : Array.isArray(output) ? JSON.stringify(output) : output?.type === "text" ? output.text : "";
  return { finalOutput, told, shown: first?.tools ?? [] };
}

const fromRun = ({ context }: RunContext<unknown>): CallContext => context as CallContext;

test("an agent asks for a tool, gets its rows and answers, as the caller of its run", async () => {
  const { tools, close } = await loadTools(project.catalog, { format: openaiAgents, context: fromRun });
  for (const [caller, ids] of [[NORTH, ["a", "b"]], [SOUTH, ["d"]]] as const) {
    const { finalOutput, told } = await runOf(tools, "search_notes", '{"query": "apples"}', caller);
    assert.deepEqual([idsOf(told), finalOutput], [ids, "done"]);
  }
  await close();
});

test("the model sees names, descriptions and schemas of tools/list", async () => {
  const mcp = await overMcp(project);
  const { tools, close } = await loadTools(project.catalog, { format: openaiAgents, context: NORTH });
  const { shown } = await runOf(tools, "count_notes", "{}");
  const seen = shown.map((tool) => (tool.type === "function" ? { name: tool.name, description: tool.description, inputSchema: tool.parameters } : tool));
  assert.deepEqual(seen, (await mcp.list({ org: "north" })).map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));
  await close();
  await mcp.close();
});

test("results and errors are those of MCP", async () => {
  const mcp = await overMcp(project);
  const { tools, close } = await loadTools(project.catalog, { format: openaiAgents, context: NORTH });
  for (const [name, args] of CALLS) {
    const given = Object.fromEntries(Object.entries(args as object).filter(([, value]) => value !== null));
    const { told } = await runOf(tools, name, JSON.stringify(args));
    assert.equal(steady(told), steady((await mcp.call(name, given, { org: "north" })).text));
  }
  await close();
  await mcp.close();
});

test("arguments that are no JSON are an error that the model can read", async () => {
  const { tools, close } = await loadTools(project.catalog, { format: openaiAgents, context: NORTH });
  const { told, finalOutput } = await runOf(tools, "search_notes", "{query: apples");
  assert.match(told, /valid JSON/, "the SDK's own words");
  assert.equal(finalOutput, "done");
  assert.match(String(await tools[0]?.invoke(new RunContext<unknown>(), "{query: apples")), /^\{"error":\{"code":"invalid_arguments"/);
  await close();
});

test("the signal of the run ends the call", async () => {
  const controller = new AbortController();
  const context = (): CallContext => {
    controller.abort(new Error("enough"));
    return NORTH;
  };
  const { tools, close } = await loadTools(project.catalog, { format: openaiAgents, context });
  const search = tools[0] ?? assert.fail();
  await assert.rejects(search.invoke(new RunContext<unknown>(), '{"query": "apples"}', { signal: controller.signal }), /enough/);
  await close();
});

test.run();
