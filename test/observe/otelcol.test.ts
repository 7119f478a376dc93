/** OpenTelemetry's own collector takes the spans and the audit records of a server, and passes on what it understood. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collector as startReceiver, ok, type Collector } from "../trace/collector.js";
import { suite } from "../lib/suite.js";
import { observedProgram, observedServer } from "./server.js";

const test = suite("observe/otelcol");

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

/** OTLP as JSON, as far as it is read here. */
interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}
interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}
interface LogRecord {
  readonly body: { readonly stringValue: string };
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attributes: readonly Attribute[];
}
interface Scope {
  readonly spans?: readonly Span[];
  readonly logRecords?: readonly LogRecord[];
}
interface Resource {
  readonly resource: { readonly attributes: readonly Attribute[] };
  readonly scopeSpans?: readonly Scope[];
  readonly scopeLogs?: readonly Scope[];
}

interface RunningCollector {
  readonly url: string;
  stop(): Promise<void>;
}

/** A collector on a free port that passes everything on to `receiver` at once, as JSON. */
async function startCollector(folder: string, receiver: Collector): Promise<RunningCollector> {
  const file = join(folder, "collector.json");
  const pipeline = { receivers: ["otlp"], exporters: ["otlphttp"] };
  writeFileSync(file, JSON.stringify({
    receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } },
    exporters: { otlphttp: { endpoint: receiver.url, encoding: "json", compression: "none", sending_queue: { enabled: false }, retry_on_failure: { enabled: false } } },
    service: { telemetry: { metrics: { level: "none" } }, pipelines: { traces: pipeline, logs: pipeline } },
  }));
  const child = spawn("otelcol", ["--config", file], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  let text = "";
  const port = await new Promise<number>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const [, found] = /Starting HTTP server.*"127\.0\.0\.1:([1-9]\d*)"/.exec(text) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
    child.once("exit", () => reject(new Error(`the collector did not start: ${text}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

const attribute = (attributes: readonly Attribute[], name: string): string | undefined => attributes.find(({ key }) => key === name)?.value.stringValue;

function received({ requests }: Collector, path: string): readonly Resource[] {
  return requests.filter((request) => request.path === path).flatMap(({ body }) => {
    const { resourceSpans = [], resourceLogs = [] } = JSON.parse(body.toString("utf8")) as { readonly resourceSpans?: readonly Resource[]; readonly resourceLogs?: readonly Resource[] };
    return [...resourceSpans, ...resourceLogs];
  });
}

const NAME = "a collector receives a span and an audit record of every call, with the caller's trace, the steps' parents and one request id";

async function receivesEverything(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-otelcol-"));
  const receiver = await startReceiver(ok);
  const otelcol = await startCollector(folder, receiver);
  try {
    const program = observedProgram({
      tracing: { exporter: "otlp", endpoint: otelcol.url, service_name: "shop", semconv: false },
      audit: { sink: "otlp", url: otelcol.url, exclude_tools: [], redact: { arg_fields: ["password"] } },
    });
    const server = await observedServer({ tools: program }, ["--log-level", "silent"]);
    await server.call("echo", { text: "a" }, { traceparent: PARENT });
    await server.call("store_down", {}, { traceparent: PARENT });
    await server.call("no_such_tool", {});
    assert.equal(await server.stop(), 0);
    const traces = received(receiver, "/v1/traces");
    const logs = received(receiver, "/v1/logs");
    assert.deepEqual([...new Set(traces.map(({ resource }) => attribute(resource.attributes, "service.name")))], ["shop"]);
    const spans = traces.flatMap(({ scopeSpans = [] }) => scopeSpans).flatMap(({ spans: inside = [] }) => inside);
    const records = logs.flatMap(({ scopeLogs = [] }) => scopeLogs).flatMap(({ logRecords = [] }) => logRecords);
    const calls = spans.filter(({ name }) => name === "toolsrv.tool.call");
    assert.deepEqual(calls.map(({ attributes, parentSpanId = "", status }) => [attribute(attributes, "tool"), parentSpanId, status.message ?? ""]), [
      ["echo", "b7ad6b7169203331", ""], ["store_down", "b7ad6b7169203331", "backend_unreachable"], ["no_such_tool", "", "invalid_arguments"],
    ]);
    assert.deepEqual(calls.slice(0, 2).map(({ traceId }) => traceId), [TRACE_ID, TRACE_ID]);
    for (const step of spans.filter((span) => !calls.includes(span))) assert.ok(calls.some(({ spanId }) => spanId === step.parentSpanId), step.name);
    const ids = calls.map(({ attributes }) => attribute(attributes, "toolsrv.request.id"));
    assert.deepEqual(records.map(({ body }) => (JSON.parse(body.stringValue) as { readonly request_id: string }).request_id), ids);
    assert.deepEqual(records.map(({ attributes }) => [attribute(attributes, "audit.tool"), attribute(attributes, "audit.request_id")]), [["echo", ids[0]], ["store_down", ids[1]], ["no_such_tool", ids[2]]]);
    assert.deepEqual(records.map(({ traceId = "", spanId = "" }) => [traceId, spanId]), [[TRACE_ID, "b7ad6b7169203331"], [TRACE_ID, "b7ad6b7169203331"], ["", ""]]);
  } finally {
    await otelcol.stop();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (spawnSync("otelcol", ["--version"], { stdio: "ignore" }).error === undefined) test(NAME, receivesEverything, { timeoutMs: 60_000 });
else test.skip(NAME, "no OpenTelemetry collector is installed; make otelcol gets it where there is Go");

test.run();
