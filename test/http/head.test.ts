/** The head of a request decides before its body is read: refusals keep nothing, waiting keeps little, all is bounded. */
import * as assert from "node:assert/strict";
import { connect } from "node:net";
import { createHttpServer } from "../../runtime/transport/uws.js";
import type { Admission, HttpRoute } from "../../runtime/transport/types.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { suite } from "../lib/suite.js";
import { deferred, withServer } from "./transport-server.js";

const test = suite("HTTP heads");

const REFUSED: Admission = { status: 401, headers: [["www-authenticate", "Bearer"]], body: "who are you" };
const echo: Extract<Admission, (...args: never[]) => unknown> = (request, reply) => reply.send(200, [], request.body);

test("a request that its head refuses is answered before its body is sent", async () => {
  const route: HttpRoute = { method: "POST", pattern: "/in", bodyLimitBytes: 64 << 20, admit: () => REFUSED };
  await withServer([route], async ({ port }) => {
    for (const lines of ["Content-Length: 60000000\r\n", "Content-Length: 60000000\r\nExpect: 100-continue\r\n", "Content-Length: 1000\r\nExpect: 100-continue\r\n"]) {
      const answer = await rawHttp(port, `POST /in HTTP/1.1\r\nHost: h\r\n${lines}\r\n`, { timeoutMs: 3000, all: lines.includes("60000000") });
      assert.match(answer.raw, /HTTP\/1\.1 401 [\s\S]*who are you$/, lines);
    }
  });
});

test("nothing of a refused body is kept, whether it is declared or chunked", async () => {
  const route: HttpRoute = { method: "POST", pattern: "/in", bodyLimitBytes: 64 << 20, admit: () => REFUSED };
  await withServer([route], async ({ port }) => {
    const size = 8 << 20;
    const body = Buffer.alloc(size - 1, 97);
    const before = process.memoryUsage();
    const sockets = await Promise.all(Array.from({ length: 20 }, async (_, index) => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      const head = index % 2 === 0 ? `Content-Length: ${size}\r\n\r\n` : `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`;
      await new Promise<void>((resolve) => socket.write(`POST /in HTTP/1.1\r\nHost: h\r\n${head}`, () => resolve()));
      await new Promise<void>((resolve) => socket.write(body, () => resolve()));
      return socket;
    }));
    const grown = process.memoryUsage().arrayBuffers - before.arrayBuffers;
    assert.ok(grown < 32 << 20, `${grown} bytes more`);
    for (const socket of sockets) socket.destroy();
  });
}, { timeoutMs: 20_000 });

test("a decision may be a promise: the body waits in the socket, and is whole afterwards", async () => {
  const text = "x".repeat(3 << 20);
  const decision = deferred<Admission>();
  const asked = deferred<void>();
  const route: HttpRoute = {
    method: "POST", pattern: "/in", bodyLimitBytes: 4 << 20,
    admit: () => {
      asked.resolve();
      return decision.promise;
    },
  };
  await withServer([route], async ({ port }) => {
    const before = process.memoryUsage().arrayBuffers;
    const answer = rawHttp(port, rawPost("/in", text), { timeoutMs: 5000 });
    await asked.promise;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(process.memoryUsage().arrayBuffers - before < (3 << 20) + (1 << 20), "the socket is not read meanwhile");
    decision.resolve(echo);
    assert.equal((await answer).body, text);
  });
});

test("a refusal that had to wait is sent before the body has come, which is skipped, and the next request is served", async () => {
  const routes: readonly HttpRoute[] = [
    { method: "POST", pattern: "/in", bodyLimitBytes: 4 << 20, admit: async () => REFUSED },
    { method: "GET", pattern: "/next", handler: (_, reply) => reply.send(200, [], "next") },
  ];
  await withServer(routes, async ({ port }) => {
    const body = "x".repeat(1 << 20);
    const early = rawPost("/in", body).slice(0, -body.length);
    assert.equal((await rawHttp(port, early, { timeoutMs: 3000 })).status, 401);
    const both = await rawHttp(port, [early, body.slice(0, 1000), body.slice(1000), "GET /next HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"], { all: true });
    assert.deepEqual([...both.raw.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status), ["401", "200"]);
    assert.match(both.raw, /next$/);
  });
});

test("a promise may refuse, fail, or come when the client has gone", async () => {
  const decisions: { readonly [path: string]: () => Promise<Admission> } = {
    "/refuse": async () => REFUSED,
    "/fail": async () => { throw new Error("no directory"); },
    "/late": () => new Promise((resolve) => setTimeout(() => resolve(echo), 150)),
  };
  const routes = Object.entries(decisions).map(([pattern, admit]): HttpRoute => ({ method: "ANY", pattern, bodyLimitBytes: 1000, admit }));
  await withServer(routes, async ({ port, errors }) => {
    assert.equal((await rawHttp(port, rawPost("/refuse", "body"))).status, 401);
    assert.equal((await rawHttp(port, "GET /refuse HTTP/1.1\r\nHost: h\r\n\r\n")).status, 401);
    assert.equal((await rawHttp(port, rawPost("/fail", "body"))).status, 500);
    assert.deepEqual(errors.splice(0).map(String), ["Error: no directory"]);
    assert.equal((await rawHttp(port, rawPost("/late", "x".repeat(1001)))).status, 413);
    const socket = connect(port, "127.0.0.1");
    socket.write(rawPost("/late", "half").slice(0, -2));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.equal((await rawHttp(port, rawPost("/late", "whole"))).body, "whole");
    assert.deepEqual(errors, []);
  });
});

test("all bodies in memory share one budget; a request beyond it is 503 with Retry-After, and answers give it back", async () => {
  const waiting: (() => void)[] = [];
  const route: HttpRoute = {
    method: "POST", pattern: "/in", bodyLimitBytes: 1 << 20,
    handler: async (request, reply) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      reply.send(200, [], String(request.body.length));
    },
  };
  const server = createHttpServer({ routes: [route], notFound: { handler: (_, reply) => reply.send(404, [], "") }, bodyBudgetBytes: 2_500_000, onError: () => undefined });
  const { port } = await server.listen("127.0.0.1", 0);
  const body = "x".repeat(1 << 20);
  const until = async (count: number): Promise<void> => {
    while (waiting.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  try {
    for (let round = 0; round < 3; round++) {
      const first = rawHttp(port, rawPost("/in", body), { timeoutMs: 10_000 });
      const second = rawHttp(port, rawPost("/in", body), { timeoutMs: 10_000 });
      await until(2);
      const third = await rawHttp(port, rawPost("/in", body));
      assert.deepEqual([third.status, third.headers["retry-after"], JSON.parse(third.body).error.code], [503, "1", "busy"]);
      const gone = connect(port, "127.0.0.1");
      gone.on("error", () => undefined);
      await new Promise<void>((resolve) => gone.write(rawPost("/in", body).slice(0, 200_000), () => resolve()));
      gone.destroy();
      for (const go of waiting.splice(0)) go();
      assert.deepEqual([(await first).body, (await second).body], [String(1 << 20), String(1 << 20)]);
    }
  } finally {
    server.close();
  }
}, { timeoutMs: 20_000 });

test.run();
