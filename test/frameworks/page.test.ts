/** docs/library.md: every example runs as it is printed, with a scripted model where it has one. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import { AIMessage } from "@langchain/core/messages";
import { Usage, type Model, type ModelResponse } from "@openai/agents";
import { MockLanguageModelV3 } from "ai/test";
import { fakeModel } from "langchain";
import { transpile } from "../../generator/5-emit/transpile.js";
import { compile } from "../../generator/index.js";
import { printed } from "../emit/printed.js";
import { repo } from "../lib/repo.js";
import { startHttp } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { CATALOG, NotesProject } from "./notes.js";

const test = suite("frameworks: page");
const project = new NotesProject();
test.before(async () => {
  await project.fill();
  writeFileSync(join(project.folder, ".env"), "UNUSED=1\n");
  const { plans, guards } = await compile(project.catalog);
  const scripts = await transpile(await printed(plans, guards));
  writeFileSync(join(project.folder, "client.mjs"), scripts.get("client.js") ?? "");
});
test.after(() => project.remove());

const here = fileURLToPath(import.meta.url);
const source = (path: string): string => pathToFileURL(join(here, `../../../${path}${extname(here)}`)).href;

/** What a specifier of the page is in this repository. */
const MODULES: { readonly [specifier: string]: () => string } = {
  "toolsrv": () => source("generator/index"),
  "toolsrv/client": () => source("runtime/client/index"),
  "toolsrv/langchain": () => source("generator/frameworks/langchain"),
  "toolsrv/vercel-ai": () => source("generator/frameworks/vercel-ai"),
  "toolsrv/openai-agents": () => source("generator/frameworks/openai-agents"),
  "toolsrv/anthropic": () => source("generator/frameworks/anthropic"),
  "./out/client.js": () => pathToFileURL(join(project.folder, "client.mjs")).href,
};

const page = readFileSync(repo("docs/library.md"), "utf8");

/** The example of a section that holds a text. */
function exampleOf(part: string): string {
  const blocks = [...page.matchAll(/^```ts\n([^]*?)\n```$/gm)].map(([, code = ""]) => code).filter((code) => code.includes(part));
  return blocks.length === 1 && blocks[0] !== undefined ? blocks[0] : assert.fail(`${blocks.length} examples hold ${part}`);
}

/** Runs an example; its imports are loaded, its paths are those of the project. What it prints is returned. */
async function runExample(part: string, names: { readonly [name: string]: unknown } = {}, url = ""): Promise<readonly unknown[]> {
  const lines: unknown[] = [];
  const scripts = await transpile(new Map([["example.ts", exampleOf(part)]]));
  const code = (scripts.get("example.js") ?? assert.fail())
    .replace(/^\/\/# sourceMappingURL=.*$/m, "")
    .replace(/^import \{(.*)\} from "(.*)";$/gm, "const {$1} = await load(\"$2\");")
    .replaceAll('"tools.yaml"', JSON.stringify(project.catalog)).replaceAll('".env"', JSON.stringify(join(project.folder, ".env"))).replace("http://127.0.0.1:8080/mcp", url);
  const given: { readonly [name: string]: unknown } = {
    load: (specifier: string) => import(MODULES[specifier]?.() ?? specifier), console: { log: (...values: readonly unknown[]) => void lines.push(...values) },
    session: { user: "ann", org: "north" }, ...names,
  };
  const run = new Function(...Object.keys(given), `return (async () => {${code}})()`) as (...values: readonly unknown[]) => Promise<void>;
  await run(...Object.values(given));
  return lines;
}

/** Says "done" and how many rows the tool's result has: the answer of every scripted model. */
const answerTo = (text: string): string => `done: ${(JSON.parse(text) as { readonly rows: readonly unknown[] }).rows.length}`;
const ASK = { name: "search_notes", args: { query: "apples" } };

test("call tools", async () => assert.deepEqual(await runExample("isToolError(error)"), [2]));

test("typed calls", async () => assert.deepEqual(await runExample('colour: "red"'), [1]));

test("the typed client over MCP", async () => {
  const { security: _, ...open } = CATALOG;
  const catalog = join(project.folder, "open.yaml");
  writeFileSync(catalog, JSON.stringify(open));
  const served = await startHttp(join(here, `../../e2e/toolsrv${extname(here)}`), ["serve", catalog]);
  assert.deepEqual(await runExample("overMcp", {}, served.url), [3]);
  await served.kill();
}, { timeoutMs: 30_000 });

test("LangChain.js", async () => {
  const model = fakeModel().respondWithTools([ASK]).respond((messages) => new AIMessage(answerTo(String(messages.at(-1)?.content))));
  assert.deepEqual(await runExample("toolsrv/langchain", { model }), ["done: 2"]);
}, { timeoutMs: 30_000 });

test("Vercel AI SDK", async () => {
  const rest = { usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }, warnings: [] };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      const part = last?.role === "tool" ? last.content[0] : undefined;
      if (part?.type !== "tool-result") return { content: [{ type: "tool-call", toolCallId: "1", toolName: ASK.name, input: JSON.stringify(ASK.args) }], finishReason: { unified: "tool-calls", raw: undefined }, ...rest };
      return { content: [{ type: "text", text: answerTo(part.output.type === "json" ? JSON.stringify(part.output.value) : "") }], finishReason: { unified: "stop", raw: undefined }, ...rest };
    },
  });
  assert.deepEqual(await runExample("toolsrv/vercel-ai", { model }), ["done: 2"]);
});

test("OpenAI Agents SDK", async () => {
  const model: Model = {
    async getResponse({ input }): Promise<ModelResponse> {
      const last = Array.isArray(input) ? input.at(-1) : undefined;
      if (last?.type !== "function_call_result") return { usage: new Usage(), output: [{ type: "function_call", callId: "1", name: ASK.name, arguments: JSON.stringify(ASK.args), status: "completed" }] };
      const { output } = last;
      const text = typeof output === "string" ? output : "text" in output ? String(output.text) : "";
      return { usage: new Usage(), output: [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: answerTo(text) }] }] };
    },
    getStreamedResponse: () => assert.fail("not streamed"),
  };
  assert.deepEqual(await runExample("toolsrv/openai-agents", { model }), ["done: 2"]);
});

test("Anthropic SDK", async () => {
  const fetch = async (_url: unknown, { body }: { readonly body?: unknown } = {}): Promise<Response> => {
    const { messages } = JSON.parse(String(body)) as { readonly messages: readonly { readonly content: string | readonly { readonly type: string; readonly content?: string }[] }[] };
    const last = messages.at(-1)?.content;
    const result = typeof last === "string" ? undefined : last?.find(({ type }) => type === "tool_result");
    const content = result === undefined ? [{ type: "tool_use", id: "1", name: ASK.name, input: ASK.args }] : [{ type: "text", text: answerTo(result.content ?? "") }];
    return new Response(JSON.stringify({ id: "m", type: "message", role: "assistant", model: "scripted", content, stop_reason: result === undefined ? "tool_use" : "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }), { headers: { "content-type": "application/json" } });
  };
  const api = new Anthropic({ apiKey: "none", baseURL: "http://127.0.0.1", fetch: fetch as typeof globalThis.fetch, maxRetries: 0 });
  assert.deepEqual(await runExample("toolsrv/anthropic", { api }), ["done: 2"]);
});

test.run();
