/** Spans on their way out: batches to a collector, and what a collector that is away, slow or wrong costs. */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { createLog } from "../../runtime/observe/log.js";
import { MAX_WAITING, SpanPipeline } from "../../runtime/observe/spans/pipeline.js";
import type { Span } from "../../runtime/observe/spans/span.js";
import type { ExporterParts } from "../../runtime/observe/spans/exporters.js";
import { tracesUrl } from "../../runtime/observe/spans/exporters.js";
import { PackageError } from "../../runtime/base/optional-package.js";
import { collector as startCollector, ok, spansOf, type Collector } from "../trace/collector.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("observe/pipeline");

const receivers: Collector[] = [];
test.after(async () => void (await Promise.all(receivers.map((receiver) => receiver.close()))));

async function collector(answer: (response: ServerResponse) => void): Promise<Collector> {
  const receiver = await startCollector(answer);
  receivers.push(receiver);
  return receiver;
}

const SPAN: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", parentId: null, isRemote: false, name: "toolsrv.tool.call", kind: 1, startMs: 1_700_000_000_000, endMs: 1_700_000_000_002.5, code: "timeout",
  shared: { tool: "list" }, own: { "toolsrv.request.id": "req-1", "error.type": "tool_error", "toolsrv.error.code": "timeout" },
};

interface Piped {
  readonly pipeline: SpanPipeline;
  readonly logged: () => Promise<readonly { readonly [field: string]: unknown }[]>;
  readonly written: readonly string[];
  add(count: number): void;
  advance(ms: number): void;
}

async function piped(endpoint: string, given: Partial<ExporterParts> & { readonly closeMs?: number; readonly unstarted?: true } = {}): Promise<Piped> {
  const lines: string[] = [];
  const written: string[] = [];
  let now = 0;
  const log = createLog({ format: "json", level: "info", write: (text) => void lines.push(text) });
  const pipeline = new SpanPipeline({
    kind: "otlp", endpoint, serviceName: "shop", version: "1.2.3", base: repo(), write: (line) => void written.push(line), log, scrub: (text) => text.replaceAll("opensesame", "[REDACTED]"), now: () => now, ...given,
  });
  if (given.unstarted === undefined) await pipeline.start();
  return {
    pipeline, written,
    async logged() {
      await log.flush();
      return lines.join("").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as { readonly [field: string]: unknown });
    },
    add(count) {
      for (let n = 0; n < count; n += 1) pipeline.add([SPAN]);
    },
    advance: (ms) => void (now += ms),
  };
}

test("spans leave in batches to /v1/traces of the endpoint, with the service's name", async () => {
  const receiver = await collector(ok);
  const { pipeline, add, logged } = await piped(receiver.url);
  add(1200);
  await pipeline.close();
  const spans = spansOf(receiver);
  assert.equal(spans.length, 1200);
  assert.ok(receiver.requests.length <= 4, `${receiver.requests.length} requests`);
  assert.deepEqual([...new Set(receiver.requests.map(({ path }) => path))], ["/v1/traces"]);
  assert.deepEqual([...new Set(spans.map(({ name, scope, resource }) => JSON.stringify([name, scope, resource["service.name"], resource["service.version"]])))], ['["toolsrv.tool.call","toolsrv","shop","1.2.3"]']);
  assert.deepEqual([pipeline.dropped, await logged()], [0, []]);
});

test("an endpoint may end with /v1/traces, or with a slash", () => {
  for (const endpoint of ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces", "http://c:4318/v1/traces/"]) assert.equal(tracesUrl(endpoint), "http://c:4318/v1/traces");
  assert.equal(tracesUrl("https://c/otel"), "https://c/otel/v1/traces");
});

test("a collector that refuses costs spans, which are counted and reported once, with no credentials and nothing of its answer", async () => {
  const receiver = await collector((response) => void response.writeHead(400, "no opensesame").end("secret-answer-canary"));
  const { pipeline, add, logged } = await piped(receiver.url);
  add(2000);
  await pipeline.close();
  assert.equal(pipeline.dropped, 2000);
  const [outage, sum, ...more] = await logged();
  assert.deepEqual([outage?.["msg"], outage?.["cause"], sum?.["msg"], sum?.["dropped"], more.length], ["spans are not delivered (observability.tracing); calls go on", "no [REDACTED] (400)", "spans were dropped", 2000, 0]);
  assert.doesNotMatch(JSON.stringify(await logged()), /canary/);
});

test("a collector that is away or never answers does not keep a server from ending", async () => {
  const silent = await collector(() => undefined);
  for (const url of ["http://127.0.0.1:9", silent.url]) {
    const { pipeline, add } = await piped(url, { closeMs: 100 });
    add(700);
    const before = performance.now();
    await pipeline.close();
    assert.ok(performance.now() - before < 3000);
    assert.equal(pipeline.dropped, 700, url);
  }
});

test("answers that are garbage cost nothing: a status of success is enough", async () => {
  const receiver = await collector((response) => void response.writeHead(200, { "content-type": "application/x-protobuf" }).end(Buffer.alloc(1000, 0xff)));
  const { pipeline, add } = await piped(receiver.url);
  add(10);
  await pipeline.close();
  assert.equal(pipeline.dropped, 0);
});

test("the queue is bounded: what does not fit is dropped and counted, whatever the collector does", async () => {
  const { pipeline, add, logged } = await piped("http://127.0.0.1:9", { closeMs: 50 });
  add(MAX_WAITING + 5000);
  assert.ok(pipeline.dropped >= 4000);
  assert.equal((await logged()).length, 1);
  await pipeline.close();
  assert.equal(pipeline.dropped, MAX_WAITING + 5000);
});

test("an outage is reported once, and its end once", async () => {
  let status = 400;
  const receiver = await collector((response) => void response.writeHead(status).end());
  const { pipeline, add, advance, logged } = await piped(receiver.url);
  /** A batch whose answer has been taken. */
  const batch = async (): Promise<void> => {
    add(512);
    while (pipeline.waiting > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  await batch();
  await batch();
  status = 200;
  await batch();
  advance(11_000);
  await batch();
  await pipeline.close();
  assert.deepEqual((await logged()).map(({ msg }) => msg), ["spans are not delivered (observability.tracing); calls go on", "spans are delivered again", "spans were dropped"]);
});

test("exporter console writes one JSON object a line", async () => {
  const { pipeline, add, written } = await piped("", { kind: "console" });
  add(2);
  await pipeline.close();
  assert.equal(written.length, 2);
  const { trace_id: traceId, span_id: spanId, ts, ...rest } = JSON.parse(written[0] ?? "") as { readonly [field: string]: unknown };
  assert.match(String(traceId), /^[0-9a-f]{32}$/);
  assert.match(String(spanId), /^[0-9a-f]{16}$/);
  assert.equal(ts, "2023-11-14T22:13:20.000Z");
  assert.deepEqual(rest, {
    span: "toolsrv.tool.call", parent_span_id: null, duration_ms: 2.5, status: "timeout",
    attributes: { tool: "list", "toolsrv.request.id": "req-1", "error.type": "tool_error", "toolsrv.error.code": "timeout" },
  });
});

test("spans that end before the packages are loaded are dropped and counted, and harm no call", async () => {
  const { pipeline, add, logged } = await piped("", { kind: "console", unstarted: true });
  add(3);
  await pipeline.close();
  assert.deepEqual([pipeline.dropped, (await logged()).length], [3, 2]);
});

test("a missing package says what to install", async () => {
  const find = async (name: string): Promise<never> => {
    throw Object.assign(new Error(name), { code: "ERR_MODULE_NOT_FOUND" });
  };
  const { pipeline } = await piped("http://127.0.0.1:9", { unstarted: true, find, base: "/nonexistent" });
  await assert.rejects(pipeline.start(), (error) => error instanceof PackageError && error.isMissing && error.message === "the package @opentelemetry/api is not installed; run: npm i @opentelemetry/api");
});

test.run();
