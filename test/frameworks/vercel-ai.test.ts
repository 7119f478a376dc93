/** The tools in the Vercel AI SDK: generateText with a scripted model. */
import assert from "node:assert/strict";
import { generateText, stepCountIs, type ToolExecutionOptions } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { vercelAi } from "../../generator/frameworks/vercel-ai.js";
import { loadTools, type CallContext } from "../../generator/index.js";
import { suite } from "../lib/suite.js";
import { CALLS, NORTH, NotesProject, overMcp, SOUTH, steady } from "./notes.js";

const test = suite("frameworks: vercel ai");
const project = new NotesProject();
test.before(() => project.fill());
test.after(() => project.remove());

type Generated = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;
const rest = {
  usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }, warnings: [],
};
const asks = (toolName: string, args: unknown): Generated => ({ content: [{ type: "tool-call", toolCallId: "call-1", toolName, input: JSON.stringify(args) }], finishReason: { unified: "tool-calls", raw: undefined }, ...rest });
const DONE: Generated = { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop", raw: undefined }, ...rest };

/** A run in which the model asks for one tool, and what it reads of the result. */
async function runOf(tools: Parameters<typeof generateText>[0]["tools"] & object, name: string, args: unknown, options: { readonly caller?: CallContext; readonly signal?: AbortSignal } = {}) {
  const model = new MockLanguageModelV3({ doGenerate: [asks(name, args), DONE] });
  const { text } = await generateText({
    model, tools, prompt: "apples?", stopWhen: stepCountIs(3), experimental_context: options.caller, ...(options.signal === undefined ? {} : { abortSignal: options.signal }),
  });
  const result = model.doGenerateCalls[1]?.prompt.flatMap(({ role, content }) => (role === "tool" ? content : [])).find((part) => part.type === "tool-result");
  return { text, output: result?.output, shown: model.doGenerateCalls[0]?.tools };
}

const fromContext = ({ experimental_context: caller }: ToolExecutionOptions): CallContext => caller as CallContext;

test("a model asks for a tool, gets its rows and answers, as the caller of its run", async () => {
  const { tools, close } = await loadTools(project.catalog, { format: vercelAi, context: fromContext });
  for (const [caller, ids] of [[NORTH, ["a", "b"]], [SOUTH, ["d"]]] as const) {
    const { text, output } = await runOf(tools, "search_notes", { query: "apples" }, { caller });
    assert.ok(output?.type === "json", JSON.stringify(output));
    const { rows } = output.value as unknown as { readonly rows: readonly { readonly _id: string }[] };
    assert.deepEqual([rows.map(({ _id }) => _id).sort(), text], [ids, "done"]);
  }
  await close();
});

test("the model sees names, descriptions and schemas of tools/list", async () => {
  const mcp = await overMcp(project);
  const { tools, close } = await loadTools(project.catalog, { format: vercelAi, context: NORTH });
  const { shown } = await runOf(tools, "count_notes", {});
  const seen = (shown ?? []).map((tool) => (tool.type === "function" ? { name: tool.name, description: tool.description, inputSchema: tool.inputSchema } : tool));
  assert.deepEqual(seen, (await mcp.list({ org: "north" })).map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));
  await close();
  await mcp.close();
});

test("results and errors are those of MCP", async () => {
  const mcp = await overMcp(project);
  const { tools, close } = await loadTools(project.catalog, { format: vercelAi, context: NORTH });
  for (const [name, args] of CALLS) {
    const given = Object.fromEntries(Object.entries(args as object).filter(([, value]) => value !== null));
    const theirs = await mcp.call(name, given, { org: "north" });
    const { output } = await runOf(tools, name, args);
    assert.ok(output?.type === (theirs.isError ? "error-text" : "json"), JSON.stringify(output).slice(0, 300));
    assert.equal(steady(output.type === "json" ? JSON.stringify(output.value) : String(output.value)), steady(theirs.text));
  }
  await close();
  await mcp.close();
});

test("the signal of the run ends the call", async () => {
  const controller = new AbortController();
  const context = (): CallContext => {
    controller.abort(new Error("enough"));
    return NORTH;
  };
  const { tools, close } = await loadTools(project.catalog, { format: vercelAi, context });
  const search = tools["search_notes"]?.execute ?? assert.fail();
  await assert.rejects(async () => search({ query: "apples" }, { toolCallId: "1", messages: [], abortSignal: controller.signal }), /enough/);
  await close();
});

test.run();
