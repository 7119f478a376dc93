import * as assert from "node:assert/strict";
import { get } from "node:http";
import { connect } from "node:net";
import { createHttpServer } from "../../runtime/transport/uws.js";
import type { HttpHandler, HttpRoute } from "../../runtime/transport/types.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { suite } from "../lib/suite.js";
import { deferred, withServer } from "./transport-server.js";

const test = suite("transport");

const echo: HttpHandler = (request, reply) => {
  const { method, path, query, params, headers, remoteAddress } = request;
  reply.send(200, [["content-type", "application/json"]], JSON.stringify({ method, path, query, params, headers, remoteAddress, body: request.body.toString() }));
};

test("a handler gets method, path, query, decoded parameters and the headers its route names", async () => {
  await withServer([{ method: "GET", pattern: "/a/:one/b/:two", headers: ["x-wanted", "x-absent"], handler: echo }], async ({ port }) => {
    const answer = await rawHttp(port, "GET /a/x%20y/b/%zz?q=1&r=%20 HTTP/1.1\r\nHost: h\r\nX-Wanted: yes\r\nX-Other: no\r\n\r\n");
    assert.deepEqual(JSON.parse(answer.body), {
      method: "GET", path: "/a/x%20y/b/%zz", query: "q=1&r=%20", params: ["x y", "%zz"],
      headers: { "x-wanted": "yes", "x-absent": "" }, remoteAddress: "127.0.0.1", body: "",
    });
  });
});

test("a header that is sent empty differs from one that is not sent; several of one name are a list", async () => {
  const route: HttpRoute = { method: "GET", pattern: "/h", headers: ["x-a", "x-b", "x-c"], handler: (request, reply) => reply.send(200, [], JSON.stringify(["x-a", "x-b", "x-c", "x-d"].map((name) => [request.has(name), request.header(name)]))) };
  await withServer([route], async ({ port }) => {
    const answer = await rawHttp(port, "GET /h HTTP/1.1\r\nHost: h\r\nX-A:\r\nX-B: one\r\nx-b: two\r\nX-D: unasked\r\n\r\n");
    assert.deepEqual(JSON.parse(answer.body), [[true, ""], [true, "one, two"], [false, ""], [false, ""]]);
  });
});

test("a transfer coding other than chunked is 501 and the end of the connection", async () => {
  await withServer([{ method: "POST", pattern: "/echo", bodyLimitBytes: 100, handler: echo }], async ({ port, errors }) => {
    const chunked = (coding: string): string => `POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: ${coding}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    assert.equal(JSON.parse((await rawHttp(port, chunked("Chunked"))).body).body, "abc");
    for (const coding of ["xchunked", "gzip, chunked", "chunked, chunked", "identity, chunked"]) {
      const answer = await rawHttp(port, chunked(coding));
      assert.ok([400, 501].includes(answer.status), `${coding}: ${answer.raw}`);
      assert.match(answer.headers["connection"] ?? "", /close/i);
    }
    assert.deepEqual(errors, []);
  });
});

test("header values come in the order of the route, and an absent one is null", async () => {
  const handler: HttpHandler = (request, reply) => reply.send(200, [], JSON.stringify([request.values, request.header("x-b"), request.header("x-other")]));
  await withServer([{ method: "GET", pattern: "/v", headers: ["x-b", "x-a", "x-c", "content-length"], handler }], async ({ port }) => {
    const answer = await rawHttp(port, "GET /v HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nX-B: 2\r\nX-A: 3\r\nX-Other: 4\r\nContent-Length: 0\r\n\r\n");
    assert.deepEqual(JSON.parse(answer.body), [["2", "1, 3", null, "0"], "2", ""]);
  });
});

test("a bug that a handler meets after it has returned is answered 500 and reported, once", async () => {
  const handler: HttpHandler = (_, reply) => {
    setImmediate(() => {
      reply.fail(new Error("late"));
      reply.send(200, [], "too late");
    });
  };
  await withServer([{ method: "GET", pattern: "/late", handler }], async ({ port, errors }) => {
    const { status, body } = await rawHttp(port, "GET /late HTTP/1.1\r\nHost: h\r\n\r\n");
    assert.deepEqual([status, JSON.parse(body), errors.map(String)], [500, { error: { code: "internal", message: "internal error" } }, ["Error: late"]]);
  });
});

test("a body in several chunks, or chunk-encoded, arrives whole and survives the library's memory", async () => {
  const text = "äöü€".repeat(5000);
  const late: HttpRoute = {
    method: "POST", pattern: "/late", bodyLimitBytes: 1 << 20,
    handler: async (request, reply) => {
      await new Promise((resolve) => setImmediate(resolve));
      reply.send(200, [], request.body);
    },
  };
  await withServer([late], async ({ port }) => {
    const raw = Buffer.from(rawPost("/late", text));
    const parts = Array.from({ length: Math.ceil(raw.length / 999) }, (_, index) => raw.subarray(index * 999, index * 999 + 999));
    assert.equal((await rawHttp(port, parts)).body, text);
    const chunked = "POST /late HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    assert.equal((await rawHttp(port, chunked)).body, "abcde");
  });
});

test("a body over the limit is answered 413, declared or not, and one at the limit is taken", async () => {
  await withServer([{ method: "POST", pattern: "/echo", bodyLimitBytes: 10, handler: echo }], async ({ port }) => {
    assert.equal((await rawHttp(port, rawPost("/echo", "x".repeat(10)))).status, 200);
    assert.equal((await rawHttp(port, rawPost("/echo", "x".repeat(11)))).status, 413);
    const chunked = `POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n${"x".repeat(11)}\r\n0\r\n\r\n`;
    assert.equal((await rawHttp(port, chunked)).status, 413);
    const huge = await rawHttp(port, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n");
    assert.equal(huge.status, 413, "answered before the body is sent");
    assert.match(huge.headers["connection"] ?? "", /close/);
  });
});

test("a route without a body limit refuses any body and runs no handler", async () => {
  let ran = 0;
  await withServer([{ method: "POST", pattern: "/none", handler: (_, reply) => { ran += 1; reply.send(200, [], "ok"); } }], async ({ port }) => {
    assert.equal((await rawHttp(port, rawPost("/none", "x"))).status, 413);
    assert.equal(ran, 0);
    assert.equal((await rawHttp(port, rawPost("/none", ""))).status, 200);
  });
});

test("what matches no route gets its answer with a body and without; a HEAD is never answered with one", async () => {
  await withServer([{ method: "GET", pattern: "/none", handler: (_, reply) => reply.send(200, [], "ok") }], async ({ port }) => {
    for (const body of ["", "x", "x".repeat(100_000)]) assert.equal((await rawHttp(port, rawPost("/nowhere", body))).status, 404, String(body.length));
    const head = await rawHttp(port, "HEAD /none HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n{}");
    assert.deepEqual([head.status, head.body], [413, ""]);
  });
});

test("two different Content-Length headers are refused, two equal ones are not", async () => {
  await withServer([{ method: "POST", pattern: "/echo", bodyLimitBytes: 100, handler: echo }], async ({ port }) => {
    const post = (first: number, second: number): string =>
      `POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: ${first}\r\nContent-Length: ${second}\r\n\r\nabcdefgh`;
    const different = await rawHttp(port, post(4, 8));
    assert.equal(different.status, 400);
    assert.match(different.headers["connection"] ?? "", /close/);
    assert.equal((await rawHttp(port, post(8, 8))).status, 200);
    assert.notEqual((await rawHttp(port, post(0, 8))).status, 200, "a zero first hides a body from whoever believes the second");
  });
});

test("a handler that throws or rejects is answered 500, reported, and the server goes on", async () => {
  const routes: HttpRoute[] = [
    { method: "GET", pattern: "/throw", handler: () => { throw new Error("thrown"); } },
    { method: "GET", pattern: "/reject", handler: () => Promise.reject(new Error("rejected")) },
    { method: "POST", pattern: "/throw", bodyLimitBytes: 10, handler: () => { throw new Error("thrown with a body"); } },
    { method: "GET", pattern: "/ok", handler: echo },
  ];
  await withServer(routes, async ({ port, errors }) => {
    for (const request of ["GET /throw HTTP/1.1\r\nHost: h\r\n\r\n", "GET /reject HTTP/1.1\r\nHost: h\r\n\r\n", rawPost("/throw", "x")]) {
      const answer = await rawHttp(port, request);
      assert.equal(answer.status, 500);
      assert.deepEqual(JSON.parse(answer.body), { error: { code: "internal", message: "internal error" } });
    }
    assert.deepEqual(errors.map(String), ["Error: thrown", "Error: rejected", "Error: thrown with a body"]);
    assert.equal((await rawHttp(port, "GET /ok HTTP/1.1\r\nHost: h\r\n\r\n")).status, 200);
  });
});

test("HEAD of a GET route has its headers and length, no body, and leaves the connection usable", async () => {
  await withServer([{ method: "GET", pattern: "/text", handler: (_, reply) => reply.send(200, [["content-type", "text/plain"]], "12345") }], async ({ port }) => {
    const answer = await rawHttp(port, "HEAD /text HTTP/1.1\r\nHost: h\r\n\r\nGET /text HTTP/1.1\r\nHost: h\r\n\r\n", { timeoutMs: 300 });
    const [head = "", get = ""] = answer.raw.split(/(?=HTTP\/1\.1 200 OK)/);
    assert.match(head, /content-length: 5/i);
    assert.ok(head.endsWith("\r\n\r\n"));
    assert.ok(get.endsWith("\r\n\r\n12345"));
  });
});

test("an unknown path and an unknown method end in notFound", async () => {
  await withServer([{ method: "GET", pattern: "/known", handler: echo }], async ({ port }) => {
    assert.equal((await rawHttp(port, "GET /unknown HTTP/1.1\r\nHost: h\r\n\r\n")).status, 404);
    assert.equal((await rawHttp(port, "BREW /known HTTP/1.1\r\nHost: h\r\n\r\n")).status, 404);
  });
});

test("a header block of 20 KB is accepted", async () => {
  await withServer([{ method: "GET", pattern: "/h", headers: ["authorization"], handler: (request, reply) => reply.send(200, [], String(request.headers["authorization"]?.length)) }], async ({ port }) => {
    assert.equal((await rawHttp(port, `GET /h HTTP/1.1\r\nHost: h\r\nAuthorization: ${"a".repeat(20_000)}\r\n\r\n`)).body, "20000");
  });
});

test("a line break in a response header is an error, not a second header", async () => {
  await withServer([{ method: "GET", pattern: "/split", handler: (_, reply) => reply.send(200, [["x-a", "1\r\nx-b: 2"]], "") }], async ({ port, errors }) => {
    const answer = await rawHttp(port, "GET /split HTTP/1.1\r\nHost: h\r\n\r\n");
    assert.equal(answer.status, 500);
    assert.equal(answer.headers["x-b"], undefined);
    assert.equal(errors.length, 1);
  });
});

test("a client that goes away is reported to the handler, and a late answer does nothing", async () => {
  const gone = deferred<boolean>();
  const arrived = deferred<void>();
  const route: HttpRoute = {
    method: "POST", pattern: "/wait", bodyLimitBytes: 10,
    handler: (_, reply) => {
      reply.onAborted(() => {
        reply.send(200, [], "too late");
        gone.resolve(reply.aborted);
      });
      arrived.resolve();
    },
  };
  await withServer([route], async ({ port, errors }) => {
    const socket = connect(port, "127.0.0.1");
    socket.write(rawPost("/wait", "x"));
    await arrived.promise;
    socket.destroy();
    assert.equal(await gone.promise, true);
    assert.deepEqual(errors, []);
  });
});

test("an upload aborted half way runs no handler", async () => {
  let ran = 0;
  await withServer([{ method: "POST", pattern: "/up", bodyLimitBytes: 1000, handler: (_, reply) => { ran += 1; reply.send(200, [], ""); } }], async ({ port }) => {
    const socket = connect(port, "127.0.0.1");
    await new Promise<void>((resolve) => socket.write("POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n\r\nhalf", () => resolve()));
    socket.destroy();
    assert.equal((await rawHttp(port, rawPost("/up", "whole"))).status, 200);
    assert.equal(ran, 1);
  });
});

test("a large answer reaches a slow client whole while the server holds little of it", async () => {
  const sizeBytes = 64 << 20;
  const routes: HttpRoute[] = [
    { method: "GET", pattern: "/send", handler: (_, reply) => reply.send(200, [], Buffer.alloc(sizeBytes, 97)) },
    {
      method: "GET", pattern: "/stream",
      handler: async (_, reply) => {
        const stream = reply.stream(200, []);
        const chunk = Buffer.alloc(1 << 20, 97);
        for (let sent = 0; sent < sizeBytes; sent += chunk.length) if (!(await stream.write(chunk))) return;
        stream.end();
      },
    },
  ];
  await withServer(routes, async ({ port }) => {
    assert.equal(await countBody(port, "/send"), sizeBytes);
    assert.equal(await countBody(port, "/stream"), sizeBytes);
  });
}, { timeoutMs: 30_000 });

test("a stream waits for its reader and ends when the reader goes", async () => {
  const ended = deferred<number>();
  const route: HttpRoute = {
    method: "GET", pattern: "/endless",
    handler: async (_, reply) => {
      const stream = reply.stream(200, []);
      const chunk = "y".repeat(1 << 16);
      let sent = 0;
      while (await stream.write(chunk)) sent += chunk.length;
      ended.resolve(sent);
    },
  };
  await withServer([route], async ({ port }) => {
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n");
    await new Promise((resolve) => socket.once("readable", resolve));
    // Nothing is read: the writer must come to rest by itself before the reader goes.
    const before = process.memoryUsage().rss;
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(process.memoryUsage().rss - before < 64 << 20);
    socket.destroy();
    assert.ok((await ended.promise) < 64 << 20);
  });
});

test("an address that can't be bound rejects with the address and the reason", async () => {
  await withServer([], async ({ port }) => {
    const second = createHttpServer({ routes: [], notFound: { handler: echo }, onError: () => undefined });
    await assert.rejects(second.listen("127.0.0.1", port), { message: `cannot listen on 127.0.0.1:${port}: another process has the port; end it, or take another port` });
    await assert.rejects(second.listen("192.0.2.1", 0), { message: "cannot listen on 192.0.2.1:0: this machine has no such address" });
    second.close();
  });
});

test("after stopListening open connections are served and new ones refused", async () => {
  await withServer([{ method: "GET", pattern: "/ok", handler: (_, reply) => reply.send(200, [], "ok") }], async ({ port, server }) => {
    const socket = connect(port, "127.0.0.1");
    await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
    socket.write("GET /ok HTTP/1.1\r\nHost: h\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    server.stopListening();
    const answered = new Promise((resolve) => socket.once("data", (data) => resolve(data.toString())));
    socket.write("GET /ok HTTP/1.1\r\nHost: h\r\n\r\n");
    assert.match(String(await answered), /200 OK/);
    assert.equal((await rawHttp(port, "GET /ok HTTP/1.1\r\nHost: h\r\n\r\n")).status, 0);
    socket.destroy();
  });
});

function countBody(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.on("end", () => resolve(bytes));
      response.on("error", reject);
    }).on("error", reject);
  });
}

test.run();
