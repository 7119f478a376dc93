/** The tools in LangChain.js: an agent with a scripted model, and the tool alone. */
import assert from "node:assert/strict";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolRunnableConfig } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createAgent, fakeModel } from "langchain";
import { langchain } from "../../generator/frameworks/langchain.js";
import { connect, loadTools, type CallContext, type Envelope } from "../../generator/index.js";
import { suite } from "../lib/suite.js";
import { CALLS, idsOf, NORTH, NotesProject, overMcp, SOUTH, steady } from "./notes.js";

const test = suite("frameworks: langchain");
const project = new NotesProject();
test.before(() => project.fill());
test.after(() => project.remove());

/** The caller that the application put into the run's configuration. */
const fromConfig = ({ configurable }: ToolRunnableConfig): CallContext => configurable?.["caller"] as CallContext;
const asked = (name: string, args: object, id = "call-1") => ({ name, args: { ...args }, id, type: "tool_call" as const });

test("an agent asks for a tool, gets its rows and answers, as the caller of its run", async () => {
  const { tools, close } = await loadTools(project.catalog, { format: langchain, context: fromConfig });
  for (const [caller, ids] of [[NORTH, ["a", "b"]], [SOUTH, ["d"]]] as const) {
    const model = fakeModel().respondWithTools([{ name: "search_notes", args: { query: "apples" } }]).respond(new AIMessage("done"));
    const { messages } = await createAgent({ model, tools }).invoke({ messages: [new HumanMessage("apples?")] }, { configurable: { caller } });
    const answer = messages.find((message) => ToolMessage.isInstance(message)) ?? assert.fail();
    assert.deepEqual([idsOf(String(answer.content)), answer.status, messages.at(-1)?.content], [ids, "success", "done"]);
    assert.deepEqual((answer.artifact as Envelope).rows.length, ids.length);
  }
  await close();
}, { timeoutMs: 30_000 });

test("the model sees names, descriptions and schemas of tools/list", async () => {
  const mcp = await overMcp(project);
  const { tools, close } = await loadTools(project.catalog, { format: langchain, context: NORTH });
  const seen = tools.map((tool) => convertToOpenAITool(tool).function);
  assert.deepEqual(seen, (await mcp.list({ org: "north" })).map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })));
  await close();
  await mcp.close();
});

test("results and errors are those of MCP; what LangChain would refuse is ours to judge", async () => {
  const mcp = await overMcp(project);
  const { tools, close } = await loadTools(project.catalog, { format: langchain, context: NORTH });
  for (const [name, args] of CALLS) {
    const given = Object.fromEntries(Object.entries(args as object).filter(([, value]) => value !== null));
    const theirs = await mcp.call(name, given, { org: "north" });
    const tool = tools.find((one) => one.name === name) ?? assert.fail(name);
    const message = (await tool.invoke(asked(name, args as object))) as ToolMessage;
    assert.deepEqual([steady(String(message.content)), message.status, message.tool_call_id], [steady(theirs.text), theirs.isError ? "error" : "success", "call-1"]);
    assert.equal(steady(String(await tool.invoke(args as never))), steady(theirs.text), "invoked by the application itself");
  }
  await close();
  await mcp.close();
});

test("callbacks see each call, with the tool's name", async () => {
  const seen: unknown[] = [];
  const { tools, close } = await loadTools(project.catalog, { format: langchain, context: NORTH });
  const callbacks = [{ handleToolStart: (...args: readonly unknown[]) => void seen.push(args[6]), handleToolEnd: () => void seen.push("end") }];
  await tools[0]?.invoke(asked("search_notes", { query: "apples" }), { callbacks });
  assert.deepEqual(seen, ["search_notes", "end"]);
  await close();
});

test("the signal of the run ends the call", async () => {
  const controller = new AbortController();
  const context = (): CallContext => {
    controller.abort(new Error("enough"));
    return NORTH;
  };
  const { tools, close } = await loadTools(project.catalog, { format: langchain, context });
  await assert.rejects(tools[0]?.invoke(asked("search_notes", { query: "apples" }), { signal: controller.signal }) as Promise<unknown>, /enough/);
  await close();
});

test("a run without a caller is refused", async () => {
  const connection = await connect(project.catalog);
  const { tools } = await loadTools(connection, { format: langchain, context: fromConfig, onError: () => undefined });
  assert.match(String(await tools[0]?.invoke({ query: "apples" }, { configurable: {} })), /"code":"auth_error"/);
  await connection.close();
});

test.run();
