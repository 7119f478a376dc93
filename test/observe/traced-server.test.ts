/** Spans of a server and of the library, as a collector and as our own trace service receive them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { run as toolsrv } from "../../generator/cli/main.js";
import { connect } from "../../generator/index.js";
import type { Program } from "../../runtime/abi/call.js";
import { run } from "../../runtime/serve/main.js";
import { collector, ok, spansOf, type Collector } from "../trace/collector.js";
import { startTrace, type Json, type RunningTrace } from "../trace/lib.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { observedProgram, observedServer } from "./server.js";

const test = suite("observe/traced-server");

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
/** Servers, and threads that compile their own code when this runs from source. */
const SLOW = { timeoutMs: 60_000 };
const PARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

const opened: (Collector | { readonly close: () => Promise<void> })[] = [];
const folder = mkdtempSync(join(tmpdir(), "toolsrv-traced-"));
test.after(async () => {
  for (const one of opened) await one.close();
  rmSync(folder, { recursive: true, force: true });
});

async function receiver(): Promise<Collector> {
  const made = await collector(ok);
  opened.push(made);
  return made;
}

async function traceService(): Promise<RunningTrace> {
  const trace = await startTrace();
  opened.push({ close: () => trace.dispose() });
  return trace;
}

const traced = (endpoint: string, more: { readonly [key: string]: string | boolean } = {}): Program => observedProgram({ tracing: { exporter: "otlp", endpoint, service_name: "shop", semconv: false, ...more } });

test("the spans of calls over HTTP arrive when the server has stopped, below the trace of the header or of _meta", async () => {
  const otlp = await receiver();
  const server = await observedServer({ tools: traced(otlp.url) });
  await server.call("echo", { text: "a" }, {}, { traceparent: PARENT });
  await server.call("echo", { text: "a" }, { traceparent: PARENT.replace("b7ad6b7169203331", "00f067aa0ba902b7") }, { traceparent: PARENT });
  await server.call("echo", { text: "a" }, {}, { traceparent: "x".repeat(10_000) });
  await server.call("store_down", {});
  assert.equal(await server.stop(), 0);
  const spans = spansOf(otlp);
  assert.deepEqual(spans.map(({ name, parentId, statusMessage }) => [name, parentId, statusMessage]), [
    ["toolsrv.tool.call", "b7ad6b7169203331", ""], ["toolsrv.tool.call", "00f067aa0ba902b7", ""], ["toolsrv.tool.call", "", ""], ["toolsrv.tool.call", "", "backend_unreachable"],
  ]);
  assert.deepEqual(spans.slice(0, 2).map(({ traceId }) => traceId), [TRACE_ID, TRACE_ID]);
  assert.equal(spans[0]?.attributes["network.transport"], "tcp");
}, SLOW);

test("request_id is the same in the line of the log, in the span and in the run of the trace service, and the line names the span", async () => {
  const otlp = await receiver();
  const data = join(folder, "trace");
  const server = await observedServer({ tools: traced(otlp.url) }, ["--log-format", "json", "--trace", "127.0.0.1:0"], { TRACE_SERVICE_DATA_DIR: data });
  await server.call("echo", { text: "a" });
  const [, url = ""] = /trace on (http:\/\/[^/]+)\//.exec(server.notes()) ?? [];
  let runs: readonly Json[] = [];
  while (runs.length === 0) runs = ((await (await fetch(`${url}/api/runs`)).json()) as { readonly runs: readonly Json[] }).runs;
  assert.equal(await server.stop(), 0);
  const line = server.notes().split("\n").filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as Json).find(({ msg }) => msg === "call");
  const [span] = spansOf(otlp);
  assert.ok(line !== undefined && span !== undefined);
  assert.deepEqual([line["request_id"], line["request_id"]], [span.attributes["toolsrv.request.id"], runs[0]?.["run_id"]]);
  assert.deepEqual([line["trace_id"], line["span_id"]], [span.traceId, span.spanId]);
}, SLOW);

test("our own trace service receives a search with its embedding and its store read below it", async () => {
  const trace = await traceService();
  const path = join(folder, "tools.yaml");
  writeFileSync(path, catalog(trace.url));
  writeFileSync(join(folder, "rows.jsonl"), '{"id":"a","text":"red apples"}\n');
  const io = memoryIo({ cwd: folder });
  assert.equal(await toolsrv(["load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "articles", "--id", "id"], io), 0, io.err());
  const connection = await connect(path);
  assert.equal((await connection.call("find_it", { query: "apples" })).count, 1);
  await connection.close();
  await trace.service.context.queue.flushed(0);
  const { runs } = (await trace.get("/api/runs")).json as { readonly runs: readonly Json[] };
  assert.equal(runs.length, 1);
  const { steps } = (await trace.get(`/api/runs/${String(runs[0]?.["run_id"])}/journey?extended=1`)).json as { readonly steps: readonly Json[] };
  const started = steps.filter(({ event_type: type }) => /_start$/.test(String(type)));
  const root = started.find(({ event_type: type }) => type === "tool_start");
  assert.equal(root?.["tool_name"], "find_it");
  assert.deepEqual(started.filter(({ parent_run_id: parent }) => parent === root?.["run_id"]).map(({ event_type: type }) => type).sort(), ["llm_start", "retriever_start"]);
}, SLOW);

function catalog(endpoint: string, more = ""): string {
  return `tds_version: "2"
connections: { main: { backend: sqlite, path: ./main.db } }
defaults: { embedding: local/hashing-256 }
observability: { tracing: { enabled: true, endpoint: "${endpoint}"${more} } }
tools:
  - name: find_it
    description: Search the help articles by meaning. Use it for questions about the product.
    target: { connection: main, collection: articles }
    query: { param: query, required: true }
`;
}

test("connect() records spans too: a call without a transport, flushed when the connection closes", async () => {
  const otlp = await receiver();
  const path = join(folder, "library.yaml");
  writeFileSync(path, catalog(otlp.url, ", semconv: true, service_name: library"));
  const connection = await connect(path);
  await connection.call("find_it", { query: "x" }, { requestId: "from-the-application" });
  await connection.close();
  const spans = spansOf(otlp);
  const call = spans.at(-1);
  assert.deepEqual([call?.name, call?.attributes["toolsrv.request.id"], call?.resource["service.name"]], ["execute_tool find_it", "from-the-application", "library"]);
  assert.equal(call?.attributes["mcp.method.name"], undefined);
  assert.ok(spans.length > 1 && spans.slice(0, -1).every(({ parentId }) => parentId === call?.spanId));
}, SLOW);

test("a catalog that is not traced beside one that is leaves no spans", async () => {
  const otlp = await receiver();
  const server = await observedServer({ silent: observedProgram({}), tools: traced(otlp.url) });
  await server.call("echo", { text: "a" });
  assert.equal(await server.stop(), 0);
  assert.deepEqual(spansOf(otlp), []);
}, SLOW);

/** A server on stdio with these lines as its input. */
async function stdio(program: Program, lines: readonly Json[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let err = "";
  let out = "";
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  stdout.on("data", (chunk) => (out += String(chunk)));
  const io = { stdin, takeStdout: () => stdout, print: () => undefined, note: (text: string) => void (err += text), stop: new AbortController().signal, environment: {}, now: () => performance.now() };
  const ended = run([{ name: "tools", program }], ["--log-format", "json"], io);
  for (const line of lines) stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`);
  stdin.end();
  return { code: await ended, out, err };
}

test("exporter console writes to standard error: standard output stays the protocol's", async () => {
  const { code, out, err } = await stdio(observedProgram({ tracing: { exporter: "console", endpoint: "http://localhost:4318", service_name: "shop", semconv: false } }), [
    { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } } },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "a" }, _meta: { traceparent: PARENT } } },
  ]);
  assert.equal(code, 0);
  for (const line of out.split("\n").filter((text) => text !== "")) assert.equal((JSON.parse(line) as Json)["jsonrpc"], "2.0");
  const span = err.split("\n").filter((text) => text.includes('"span":')).map((text) => JSON.parse(text) as Json);
  assert.equal(span.length, 1);
  assert.deepEqual([span[0]?.["span"], span[0]?.["trace_id"], span[0]?.["parent_span_id"]], ["toolsrv.tool.call", TRACE_ID, "b7ad6b7169203331"]);
  assert.ok(err.split("\n").filter((text) => text !== "").every((text) => text.startsWith("{")));
});

test("an endpoint of the environment that is no address ends the start with a message, without its value", async () => {
  const program = observedProgram({ tracing: { exporter: "otlp", endpoint: { $env: "OTLP" }, service_name: "shop", semconv: false } });
  const file = join(folder, "env");
  writeFileSync(file, "OTLP=secret-canary:4318\n");
  let err = "";
  const io = { stdin: new PassThrough(), takeStdout: () => new PassThrough(), print: () => undefined, note: (text: string) => void (err += text), stop: AbortSignal.abort(), environment: {}, now: () => performance.now() };
  assert.equal(await run([{ name: "tools", program }], ["--env", file], io), 2);
  assert.match(err, /tools\.yaml: observability\.tracing\.endpoint is not an address such as http:\/\/localhost:4318/);
  assert.doesNotMatch(err, /canary/);
});

test.run();
