/** The tracer's way to a service over HTTP: it never harms the program that it records, and says once what is lost. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpSink, createTracer } from "../../runtime/tracer/index.js";
import type { SinkHost } from "../../runtime/tracer/host.js";
import { root } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { until } from "./lib.js";

const test = suite("tracer's HTTP sink");

const TRACER = new URL("../../runtime/tracer/index.js", import.meta.url).href;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a program that records a run, with `tracer` in scope. */
async function program(url: string, code: string): Promise<Ended> {
  const text = `import { createHttpSink, createTracer } from ${JSON.stringify(TRACER)};
    const tracer = createTracer({ sink: createHttpSink({ url: ${JSON.stringify(url)}, token: "t" }) });
    ${code}`;
  const child = spawn(process.execPath, [...process.execArgv, "--input-type=module", "-e", text], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const written = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => void (written.out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => void (written.err += chunk));
  const exit = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code: exit, ...written };
}

const RECORD = `const span = tracer.start("agent", { name: "a", input: "q" }); span.end({ output: "r" });`;

/** A service that answers every request in one way and keeps the events of those that it takes. */
async function service(answer: { status: number; body?: string } | null): Promise<{ url: string; events: unknown[]; close: () => void }> {
  const events: unknown[] = [];
  const server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => void (body += chunk)).on("end", () => {
      if (answer === null) return;
      if (answer.status < 300) events.push(...(JSON.parse(body) as unknown[]));
      response.writeHead(answer.status, { connection: "close" }).end(answer.body ?? "{}");
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, events, close: () => (server.closeAllConnections(), server.close()) };
}

async function deadUrl(): Promise<string> {
  const { url, close } = await service({ status: 200 });
  close();
  return url;
}

test("a flush at the top of a program with nobody listening ends, and the program goes on and exits 0", async () => {
  const url = await deadUrl();
  const { code, out, err } = await program(url, `${RECORD} await tracer.flush(); console.log("after", tracer.dropped);`);
  assert.deepEqual([code, out], [0, "after 3\n"]);
  assert.match(err, new RegExp(`^toolsrv trace: 3 trace events are lost: ${url}: nothing answers there \\(.*ECONNREFUSED.*\\)\\. More losses are counted and not reported\\.\\n$`));
});

test("without a flush a program sends what it recorded before it ends", async () => {
  const { url, events, close } = await service({ status: 202 });
  assert.deepEqual(await program(url, `${RECORD} console.log("end");`), { code: 0, out: "end\n", err: "" });
  assert.equal(events.length, 3);
  close();
});

test("without a flush and with nobody listening, the loss is reported once and the program exits 0", async () => {
  const { code, err } = await program(await deadUrl(), `for (let i = 0; i < 2000; i++) { ${RECORD} }`);
  assert.deepEqual([code, err.split("\n").length, err.includes("6000 trace events are lost")], [0, 2, true]);
});

test("a wrong token is reported once, with what to do", async () => {
  const { url, close } = await service({ status: 401 });
  const { code, err } = await program(url, `for (let i = 0; i < 2000; i++) { ${RECORD} } await tracer.flush(); console.error(tracer.dropped);`);
  assert.equal(code, 0);
  assert.match(err, /^toolsrv trace: 500 trace events are lost: http:\S+: the service answers 401: the token is not its auth_token\. More losses are counted and not reported\.\n6000\n$/);
  close();
});

test("process.exit() before a flush is reported", async () => {
  const { url, close } = await service({ status: 202 });
  const { code, err } = await program(url, `${RECORD} process.exit(3);`);
  assert.deepEqual([code, err.includes("3 trace events are lost"), err.includes("await flush()")], [3, true, true]);
  close();
});

test("a service that takes the request and never answers holds up the end of a program by seconds only", async () => {
  const { url, close } = await service(null);
  const started = performance.now();
  const { code, err } = await program(url, RECORD);
  assert.deepEqual([code, err.includes("3 trace events are lost"), err.includes("the service does not answer"), performance.now() - started < 9500], [0, true, true, true]);
  close();
});

test("an address that is none, and events that the service refuses, are reported and counted", async () => {
  const lines: string[] = [];
  const host: SinkHost = { report: (line) => void lines.push(line), onEnd: () => () => undefined };
  const none = createTracer({ sink: createHttpSink({ url: "not an address", host }) });
  none.start("tool", { name: "t" }).end();
  await none.flush();
  assert.deepEqual([none.dropped, lines.length, /can't be asked: Invalid URL/.test(lines[0] ?? "")], [2, 1, true]);
  const answer = { status: 202, body: '{"accepted":1,"rejected":[{"index":0,"error":"run_id must be text"}]}' };
  const { url, close } = await service(answer);
  const refused = createTracer({ sink: createHttpSink({ url, host }) });
  refused.start("tool", { name: "t" }).end();
  await refused.flush();
  assert.deepEqual([refused.dropped, lines[1]?.includes("1 trace event is lost"), lines[1]?.includes("run_id must be text")], [1, true, true]);
  close();
});

test("events wait while the service is away and are sent when it is back, in order; too large requests are divided", async () => {
  const state = { away: true, tries: 0, sent: [] as string[], largest: 0 };
  const host: SinkHost = { report: (line) => assert.fail(line), onEnd: () => () => undefined };
  const sink = createHttpSink({
    url: "http://127.0.0.1:9", host, lingerMs: 0,
    fetch: (_, init) => {
      state.tries += 1;
      if (state.away) return Promise.reject(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }));
      const events = JSON.parse(String(init?.body)) as { id: string }[];
      if (events.length > 100) return Promise.resolve(new Response("", { status: 413 }));
      state.sent.push(...events.map((event) => event.id));
      return Promise.resolve(new Response('{"rejected":[]}', { status: 202 }));
    },
  });
  const ids = Array.from({ length: 1000 }, (_, index) => `e${index}`);
  for (const id of ids) sink.emit({ id });
  await until(() => state.tries >= 2);
  state.away = false;
  await sink.flush();
  assert.deepEqual([state.sent, sink.dropped], [ids, 0]);
});

test("what does not fit the queue is dropped and counted, also in bytes, and what is no JSON too", async () => {
  const lines: string[] = [];
  const host: SinkHost = { report: (line) => void lines.push(line), onEnd: () => () => undefined };
  const sink = createHttpSink({ url: "http://127.0.0.1:9", host, maxQueue: 3, maxBytes: 1000, lingerMs: 60_000 });
  for (let index = 0; index < 5; index++) sink.emit({ index });
  sink.emit({ big: "x".repeat(2000) });
  sink.emit({ big: 1n });
  assert.deepEqual([sink.dropped, lines.length], [4, 1]);
});

test.run();
