/** The ways to send runs that docs/trace.md and the empty page show: the same texts, each run as it is written; Python's by test/python/test_trace.py, where its packages are. */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WAYS } from "../../runtime/trace-ui/model/ways.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { type Json, type RunningTrace, startTrace } from "./lib.js";

const test = suite("trace/ways");
const DOCS_BASE = "http://127.0.0.1:7842/";

/** What a reader already has when they copy an example. */
const GIVEN: { readonly [name: string]: string } = {
  "LangChain.js": `import { RunnableLambda } from "@langchain/core/runnables";
const agent = RunnableLambda.from(async ({ question }) => \`found \${question.length}\`).withConfig({ runName: "my_agent" });
const input = { question: "Where is my order?" };`,
  TypeScript: `const question = "Where is my order?";
const search = async () => ["row 1", "row 2"];`,
  MCP: `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
const server = new McpServer({ name: "bicycles", version: "1.0.0" });
server.registerTool("search", { inputSchema: { q: z.string() } }, async ({ q }) => ({ content: [{ type: "text", text: \`3 \${q}\` }] }));
const [near, far] = InMemoryTransport.createLinkedPair();
const mcpClient = new Client({ name: "test", version: "1.0.0" });
await Promise.all([server.connect(far), mcpClient.connect(near)]);`,
  "AI SDK": `import { MockLanguageModelV3 } from "ai/test";
const tokens = { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0, text: 9, reasoning: 0 };
const model = new MockLanguageModelV3({ modelId: "mock-1", doGenerate: { content: [{ type: "text", text: "On its way." }], finishReason: { unified: "stop", raw: undefined }, usage: { inputTokens: tokens, outputTokens: tokens }, warnings: [] } });`,
};

/** What runs after an example that only sets variables. */
const AFTER: { readonly [name: string]: string } = { OpenTelemetry: `"${process.execPath}" exporter.mjs` };
const EXPORTER = `import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())] });
provider.getTracer("t").startSpan("from_variables", { attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "from_variables" } }).end();
await provider.forceFlush();`;

/** What is there afterwards: names and statuses of the run and its steps, and one text of its payloads. */
const WANTED: { readonly [name: string]: { readonly run: string; readonly steps: readonly string[]; readonly text?: RegExp } } = {
  OpenTelemetry: { run: "from_variables", steps: ["from_variables"] },
  "LangChain.js": { run: "my_agent", steps: ["my_agent"], text: /Where is my order[^]*found 18/ },
  TypeScript: { run: "my_agent", steps: ["my_agent", "search"], text: /Where is my order[^]*found 2/ },
  MCP: { run: "search", steps: ["search"], text: /3 bicycles/ },
  "AI SDK": { run: "my_agent", steps: ["mock-1"], text: /Where is my order[^]*On its way/ },
  OTLP: { run: "chat gpt-4o-mini", steps: ["gpt-4o-mini"] },
  HTTP: { run: "hello", steps: ["hello"] },
};

const places: string[] = [];
let trace: RunningTrace;
test.before(async () => {
  trace = await startTrace();
});
test.after(async () => {
  for (const place of places) rmSync(place, { recursive: true, force: true });
  await trace.dispose();
});

/** Runs a program where the packages of this repository are found, and this one by its own name. */
function run(name: string, program: string, language: "sh" | "js"): Promise<string> {
  mkdirSync(repo(".cache"), { recursive: true });
  const folder = mkdtempSync(repo(".cache/ways-"));
  places.push(folder);
  writeFileSync(join(folder, "exporter.mjs"), EXPORTER);
  writeFileSync(join(folder, "program.mjs"), program);
  const [command, args] = language === "sh" ? ["sh", ["-ec", program]] as const : [process.execPath, ["program.mjs"]] as const;
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: folder, timeout: 30_000 }, (error, stdout, stderr) => (error === null ? resolve(stdout) : reject(new Error(`${name}: ${error.message}\n${stderr}`))));
  });
}

for (const { name, language, text } of WAYS) {
  const wanted = WANTED[name];
  // Its packages are not npm's: make python runs it.
  if (language === "python" || wanted === undefined) continue;
  test(`the example for ${name} sends a run`, async () => {
    const before = new Set(await runIds());
    await run(name, [GIVEN[name], text(`${trace.url}/`), AFTER[name]].filter((part) => part !== undefined).join("\n"), language);
    await trace.service.context.queue.flushed(0);
    const [id, ...others] = (await runIds()).filter((known) => !before.has(known));
    assert.ok(id !== undefined && others.length === 0, `one run, not ${[id, ...others].join(", ")}`);
    const found = (await trace.get(`/api/runs/${id}?extended=1`)).json;
    assert.deepEqual([found["name"], found["status"]], [wanted.run, "completed"]);
    const exported = (await trace.get(`/api/runs/${id}/export?include=payloads`)).text;
    for (const step of wanted.steps) assert.ok(exported.includes(`"${step}"`), `${step} in ${exported}`);
    if (wanted.text !== undefined) assert.match(exported, wanted.text);
  }, { timeoutMs: 45_000 });
}

async function runIds(): Promise<readonly string[]> {
  return ((await trace.get("/api/runs?limit=100")).json["runs"] as Json[]).map((found) => String(found["run_id"]));
}

const noPython = spawnSync("python3", ["--version"]).error !== undefined;
const parsesPython = (): void => {
  const [way, ...others] = WAYS.filter(({ language }) => language === "python");
  assert.ok(way !== undefined && others.length === 0);
  const { status, stderr } = spawnSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input: way.text(DOCS_BASE), encoding: "utf8" });
  assert.equal(status, 0, stderr);
};
if (noPython) test.skip("the example for Python is Python", "there is no python3");
else test("the example for Python is Python", parsesPython);

test("every way is run by a test: that in Python by make python, the others here", () => assert.deepEqual(WAYS.map(({ name }) => name).filter((name) => WANTED[name] === undefined), ["Python"]));

test("docs/trace.md has every way as an example, word for word", () => {
  const page = readFileSync(repo("docs/trace.md"), "utf8");
  const missing = WAYS.filter(({ language, text }) => !page.includes(`\n\`\`\`${language}\n${text(DOCS_BASE)}\n\`\`\`\n`)).map(({ name }) => name);
  assert.deepEqual(missing, []);
});

test.run();
