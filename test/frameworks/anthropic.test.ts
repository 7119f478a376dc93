/** The tools in the Anthropic SDK: its tool runner and a hand-written loop, against a scripted API. */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import type { MessageParam, ToolResultBlockParam, ToolUseBlock } from "@anthropic-ai/sdk/resources/messages";
import { anthropic } from "../../generator/frameworks/anthropic.js";
import { loadTools, type CallContext } from "../../generator/index.js";
import { suite } from "../lib/suite.js";
import { CALLS, idsOf, NORTH, NotesProject, overMcp, SOUTH, steady } from "./notes.js";

const test = suite("frameworks: anthropic");
const project = new NotesProject();
test.before(() => project.fill());
test.after(() => project.remove());

interface Body {
  readonly tools: readonly { readonly name: string; readonly description: string; readonly input_schema: unknown }[];
  readonly messages: readonly MessageParam[];
}

/** A client whose API asks for one tool, then answers; `bodies` has what it was sent. */
function scripted(name: string, input: unknown): { readonly client: Anthropic; readonly bodies: Body[] } {
  const bodies: Body[] = [];
  const fetch = async (_url: unknown, init: { readonly body?: unknown } = {}): Promise<Response> => {
    bodies.push(JSON.parse(String(init.body)) as Body);
    const first = bodies.length === 1;
    const content = first ? [{ type: "tool_use", id: "call-1", name, input }] : [{ type: "text", text: "done" }];
    const message = { id: `m${bodies.length}`, type: "message", role: "assistant", model: "scripted", content, stop_reason: first ? "tool_use" : "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    return new Response(JSON.stringify(message), { headers: { "content-type": "application/json" } });
  };
  return { client: new Anthropic({ apiKey: "none", baseURL: "http://127.0.0.1", fetch: fetch as typeof globalThis.fetch, maxRetries: 0 }), bodies };
}

/** The result that the second request carries. */
function resultOf(bodies: readonly Body[]): ToolResultBlockParam {
  const { content } = bodies[1]?.messages.at(-1) ?? assert.fail();
  const [block] = typeof content === "string" ? [] : content;
  return block?.type === "tool_result" ? block : assert.fail(JSON.stringify(content));
}

test("the SDK's tool runner asks for a tool, gets its rows and answers", async () => {
  const { tools, close } = await loadTools(project.catalog, { format: anthropic, context: NORTH });
  const { client, bodies } = scripted("search_notes", { query: "apples" });
  const last = await client.beta.messages.toolRunner({ model: "scripted", max_tokens: 100, messages: [{ role: "user", content: "apples?" }], tools: tools.runnable });
  assert.deepEqual([idsOf(String(resultOf(bodies).content)), last.content[0]?.type === "text" && last.content[0].text], [["a", "b"], "done"]);
  await close();
});

test("a loop of one's own gives each run its caller", async () => {
  const { tools, close } = await loadTools(project.catalog, { format: anthropic, context: ({ request }) => request as CallContext });
  for (const [caller, ids] of [[NORTH, ["a", "b"]], [SOUTH, ["d"]]] as const) {
    const { client, bodies } = scripted("search_notes", { query: "apples" });
    const messages: MessageParam[] = [{ role: "user", content: "apples?" }];
    const ask = () => client.messages.create({ model: "scripted", max_tokens: 100, messages, tools: tools.definitions });
    let answer = await ask();
    while (answer.stop_reason === "tool_use") {
      const uses = answer.content.filter((block): block is ToolUseBlock => block.type === "tool_use");
      messages.push({ role: "assistant", content: answer.content }, { role: "user", content: await Promise.all(uses.map((use) => tools.run(use, { request: caller }))) });
      answer = await ask();
    }
    assert.deepEqual(idsOf(String(resultOf(bodies).content)), ids);
  }
  await close();
});

test("the model sees names, descriptions and schemas of tools/list, in both ways", async () => {
  const mcp = await overMcp(project);
  const listed = (await mcp.list({ org: "north" })).map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
  const { tools, close } = await loadTools(project.catalog, { format: anthropic, context: NORTH });
  assert.deepEqual(tools.definitions, listed);
  const { client, bodies } = scripted("count_notes", {});
  await client.beta.messages.toolRunner({ model: "scripted", max_tokens: 100, messages: [{ role: "user", content: "?" }], tools: tools.runnable });
  assert.deepEqual(bodies[0]?.tools.map(({ name, description, input_schema }) => ({ name, description, input_schema })), listed);
  await close();
  await mcp.close();
});

test("results and errors are those of MCP, in both ways", async () => {
  const mcp = await overMcp(project);
  const { tools, close } = await loadTools(project.catalog, { format: anthropic, context: NORTH });
  for (const [name, args] of CALLS) {
    const given = Object.fromEntries(Object.entries(args as object).filter(([, value]) => value !== null));
    const theirs = await mcp.call(name, given, { org: "north" });
    const { client, bodies } = scripted(name, args);
    await client.beta.messages.toolRunner({ model: "scripted", max_tokens: 100, messages: [{ role: "user", content: "?" }], tools: tools.runnable });
    for (const result of [resultOf(bodies), await tools.run({ id: "call-1", name, input: args })]) {
      assert.deepEqual([steady(String(result.content)), result.is_error ?? false, result.tool_use_id], [steady(theirs.text), theirs.isError, "call-1"]);
    }
  }
  await close();
  await mcp.close();
});

test("a tool that does not exist is an error for the model, not for the program", async () => {
  const { tools, close } = await loadTools(project.catalog, { format: anthropic, context: NORTH });
  for (const name of ["nope", "constructor", "hidden_notes", "list_notes"]) {
    const { content, is_error } = await tools.run({ id: "1", name, input: {} });
    assert.ok(is_error === true && String(content).includes('"code":"invalid_arguments"'), String(content));
  }
  await close();
});

test("the signal of the run ends the call", async () => {
  const controller = new AbortController();
  const context = (): CallContext => {
    controller.abort(new Error("enough"));
    return NORTH;
  };
  const { tools, close } = await loadTools(project.catalog, { format: anthropic, context });
  await assert.rejects(tools.run({ id: "1", name: "search_notes", input: { query: "apples" } }, { signal: controller.signal }), /enough/);
  const toolUse = { type: "tool_use" as const, id: "1", name: "search_notes", input: {} };
  await assert.rejects(async () => tools.runnable[0]?.run({ query: "apples" }, { toolUse, toolUseBlock: toolUse, signal: controller.signal }), /enough/);
  await close();
});

test.run();
