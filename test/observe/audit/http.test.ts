/** The HTTP and OTLP sinks against receivers that take records, and against those that do not. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { httpSink } from "../../../runtime/observe/audit/http.js";
import { otlpSink } from "../../../runtime/observe/audit/otlp.js";
import { createAuditQueue } from "../../../runtime/observe/audit/queue.js";
import { suite } from "../../lib/suite.js";
import { caller } from "../../call/program.js";
import { collector, ok } from "../../trace/collector.js";
import { audited, eventOf, linesOf, memoryLog } from "./world.js";

const test = suite("observe/audit/http");

const bodies = (requests: readonly { readonly body: Buffer }[]): string => requests.map(({ body }) => body.toString("utf8")).join("");
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

test("http: records are posted as lines of JSON", async () => {
  const receiver = await collector(ok);
  const { engine, ended } = audited({ audit: { sink: "http", url: `${receiver.url}/in?x=1` } });
  for (const id of ["ada", "eve"]) await engine.call("list", {}, caller({ id }));
  await ended();
  assert.deepEqual(linesOf(bodies(receiver.requests)).map(({ principal }) => principal), ["ada", "eve"]);
  const [request] = receiver.requests;
  assert.deepEqual([request?.path, request?.headers["content-type"]], ["/in?x=1", "application/x-ndjson"]);
  await receiver.close();
});

test("http: user and password of the url go into a header, and into no name and no message", async () => {
  const receiver = await collector((response) => void response.writeHead(503).end());
  const url = new URL(receiver.url.replace("//", "//user:p%40ss-canary@"));
  const sink = httpSink({ url });
  const error = await sink.deliver([eventOf(1)], 0).then(() => null, (thrown: unknown) => thrown);
  assert.equal(receiver.requests[0]?.headers.authorization, `Basic ${Buffer.from("user:p@ss-canary").toString("base64")}`);
  for (const text of [sink.name, messageOf(error), otlpSink({ url, base: "/" }).name]) assert.ok(!text.includes("canary") && !text.includes("user"), text);
  await receiver.close();
});

test("http: what can pass is tried again, what is refused for good is counted, and no redirect is followed", async () => {
  const elsewhere = await collector(ok);
  for (const [status, outcome] of [[200, 0], [204, 0], [400, 1], [413, 1], [422, 1], [302, null], [401, null], [404, null], [408, null], [429, null], [500, null]] as const) {
    const receiver = await collector((response) => void response.writeHead(status, { location: elsewhere.url }).end("x".repeat(10_000)));
    const result = await httpSink({ url: new URL(receiver.url) }).deliver([eventOf(1)], 0).catch(() => null);
    assert.equal(result, outcome, String(status));
    await receiver.close();
  }
  assert.equal(elsewhere.requests.length, 0);
  await elsewhere.close();
});

test("http: a sink that answers garbage, nothing, or never ends its answer, holds up nobody and loses only records", async () => {
  const answers: { readonly [what: string]: string | null } = { garbage: "\u0000\u0001 this is no HTTP\r\n\r\n", nothing: "", silence: null };
  for (const [what, text] of Object.entries(answers)) {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => (text === null ? undefined : socket.end(text)));
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const { port } = server.address() as { readonly port: number };
    const { lines, log } = memoryLog();
    const queue = createAuditQueue({ sink: httpSink({ url: new URL(`http://127.0.0.1:${port}`), timeoutMs: 100 }), log, explain: messageOf });
    queue.add(eventOf(1));
    await queue.close(500);
    assert.deepEqual([queue.dropped(), lines.map(({ message }) => message)], [1, ["audit records cannot be written; calls go on", "audit records were lost at the end"]], what);
    server.close();
  }
  const endless = await collector((response) => void response.writeHead(200).write("x"));
  assert.equal(await httpSink({ url: new URL(endless.url), timeoutMs: 2000 }).deliver([eventOf(1)], 0), 0, "the status is enough");
  await endless.close();
});

interface OtlpLogs {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[] };
    readonly scopeLogs: readonly {
      readonly scope: { readonly name: string };
      readonly logRecords: readonly { readonly body: { readonly stringValue: string }; readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[]; readonly traceId?: string; readonly spanId?: string; readonly severityText: string }[];
    }[];
  }[];
}

test("otlp: each record is a log record of the official exporter, with tool, request id and the caller's trace", async () => {
  const receiver = await collector((response) => void response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  const { engine, ended, log } = audited({ audit: { sink: "otlp", url: receiver.url } });
  const trace = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };
  await engine.call("list", {}, caller({ id: "ada" }, { requestId: "r1", trace: trace as never }));
  await engine.call("find", { query: "x" }, caller({ id: "ada" }, { requestId: "r2" }));
  await ended();
  assert.deepEqual(log, []);
  const scopes = receiver.requests.flatMap(({ path, headers, body }) => {
    assert.deepEqual([path, headers["content-type"]], ["/v1/logs", "application/json"]);
    const [logs] = (JSON.parse(body.toString("utf8")) as OtlpLogs).resourceLogs;
    assert.deepEqual(logs?.resource.attributes.filter(({ key }) => key === "service.name").map(({ value }) => value.stringValue), ["toolsrv"]);
    return logs?.scopeLogs ?? [];
  });
  assert.deepEqual([...new Set(scopes.map(({ scope }) => scope.name))], ["toolsrv.audit"]);
  const records = scopes.flatMap(({ logRecords }) => logRecords);
  assert.deepEqual(records.map(({ attributes }) => Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]))), [{ "audit.tool": "list", "audit.request_id": "r1" }, { "audit.tool": "find", "audit.request_id": "r2" }]);
  const [first, second] = records;
  assert.deepEqual([first?.traceId, first?.spanId, second?.traceId], [trace.traceId, trace.spanId, undefined]);
  assert.equal(JSON.parse(first?.body.stringValue ?? "").request_id, "r1");
  await receiver.close();
});

test("otlp: /v1/logs is added to the url unless it ends so", async () => {
  const { auditSettings } = await import("../../../runtime/observe/audit/settings.js");
  const target = (url: string) => auditSettings({ observability: { audit: { sink: "otlp", url } } }, null, new URL("file:///"))?.target;
  const given: readonly (readonly [string, string])[] = [["http://c:4318", "http://c:4318/v1/logs"], ["http://c:4318/", "http://c:4318/v1/logs"], ["http://c/base/", "http://c/base/v1/logs"], ["http://c/v1/logs", "http://c/v1/logs"]];
  for (const [url, wanted] of given) {
    const found = target(url);
    assert.equal(found?.kind === "otlp" ? found.url.href : null, wanted);
  }
});

test("otlp: a collector that is away or refuses costs records, which are counted, and no call", async () => {
  const refusing = await collector((response) => void response.writeHead(400).end("no"));
  for (const url of [refusing.url, "http://127.0.0.1:1"]) {
    const { lines, log } = memoryLog();
    const queue = createAuditQueue({ sink: otlpSink({ url: new URL(`${url}/v1/logs`), base: "/", timeoutMs: 300 }), log, explain: messageOf });
    for (let n = 0; n < 700; n += 1) queue.add(eventOf(n));
    await queue.close(1500);
    assert.deepEqual([queue.dropped(), lines.map(({ message }) => message)], [700, ["audit records cannot be written; calls go on", "audit records were lost at the end"]], url);
  }
  await refusing.close();
});

test.run();
