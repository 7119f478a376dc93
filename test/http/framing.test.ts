/** Where one request ends and the next begins (RFC 9112): nothing that could be read in two ways runs as a request. */
import * as assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as passed } from "node:timers/promises";
import type { HttpRoute } from "../../runtime/transport/types.js";
import { rawHttp } from "../lib/raw-http.js";
import { suite } from "../lib/suite.js";
import { withServer } from "./transport-server.js";

const test = suite("HTTP framing");

const NEXT = "GET /next HTTP/1.1\r\nHost: h\r\n\r\n";
const head = (lines: string, path = "/echo"): string => `POST ${path} HTTP/1.1\r\nHost: h\r\n${lines}\r\n`;

interface Seen {
  readonly answers: readonly number[];
  /** Paths whose handlers ran. */
  readonly ran: readonly string[];
  readonly closed: boolean;
}

/** For an answer or an end that is expected; only what stays unanswered or open takes so long. */
const PATIENCE_MS = 1000;

/**
 * Sends bytes in one piece, or each piece once the one before has been answered: a piece that meets a closed connection
 * makes the kernel drop what the client has not read yet.
 */
async function exchange(pieces: readonly string[], limitBytes = 100): Promise<Seen> {
  const ran: string[] = [];
  const handler: HttpRoute["handler"] = (request, reply) => {
    ran.push(`${request.path} ${request.body.toString()}`.trim());
    reply.send(200, [], request.body);
  };
  let seen: Seen = { answers: [], ran, closed: false };
  const admit: NonNullable<HttpRoute["admit"]> = () => ({ status: 403, headers: [], body: "no" });
  const routes: readonly HttpRoute[] = [
    { method: "POST", pattern: "/echo", bodyLimitBytes: limitBytes, handler },
    { method: "POST", pattern: "/refused", bodyLimitBytes: limitBytes, admit },
    { method: "GET", pattern: "/next", handler },
  ];
  await withServer(routes, async ({ port, errors }) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    let closed = false;
    let heard = (): void => undefined;
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      heard();
    });
    socket.on("error", () => undefined);
    const end = new Promise<void>((resolve) => socket.on("close", () => {
      closed = true;
      resolve();
    }));
    for (const piece of pieces) {
      socket.write(Buffer.from(piece, "latin1"));
      await Promise.race([end, new Promise<void>((resolve) => (heard = resolve)), passed(PATIENCE_MS)]);
    }
    await Promise.race([end, passed(PATIENCE_MS)]);
    seen = { answers: [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)).filter((status) => status !== 100), ran, closed };
    socket.destroy();
    assert.deepEqual(errors, []);
  });
  return seen;
}

const CASES: readonly (readonly [name: string, request: string, status: number])[] = [
  ["two different Content-Length headers", `${head("Content-Length: 3\r\nContent-Length: 4\r\n")}abc`, 400],
  ["an empty Content-Length", head("Content-Length: \r\n"), 400],
  ["an empty Content-Length and a real one", `${head("Content-Length: \r\nContent-Length: 3\r\n")}abc`, 400],
  ["an empty Transfer-Encoding", head("Transfer-Encoding: \r\n"), 400],
  ["Transfer-Encoding twice", `${head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")}3\r\nabc\r\n0\r\n\r\n`, 400],
  ["Transfer-Encoding chunked, then identity", `${head("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n")}3\r\nabc\r\n0\r\n\r\n`, 501],
  ["Transfer-Encoding identity, then chunked", `${head("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n")}3\r\nabc\r\n0\r\n\r\n`, 501],
  ["an unknown coding", `${head("Transfer-Encoding: xchunked\r\n")}3\r\nabc\r\n0\r\n\r\n`, 501],
  ["gzip before chunked", `${head("Transfer-Encoding: gzip, chunked\r\n")}3\r\nabc\r\n0\r\n\r\n`, 501],
  ["a body over the limit", `${head("Content-Length: 101\r\n")}${"x".repeat(101)}`, 413],
  ["a body on a path that takes none", `GET /next HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc`, 413],
  ["a chunked body over the limit", `${head("Transfer-Encoding: chunked\r\n")}65\r\n${"x".repeat(101)}\r\n0\r\n\r\n`, 413],
];

test("after 400, 413 and 501 the connection is closed, and nothing behind the request runs", async () => {
  for (const [name, request, status] of CASES) {
    const together = await exchange([request + NEXT]);
    assert.deepEqual([together.ran, together.closed], [[], true], `${name}, in one packet`);
    const apart = await exchange([request, NEXT]);
    assert.deepEqual([apart.answers, apart.ran, apart.closed], [[status], [], true], `${name}, one after the other`);
  }
}, { timeoutMs: 30_000 });

test("a chunked body ends its connection: its framing can start no other request", async () => {
  const chunked = (body: string): string => `${head("Transfer-Encoding: chunked\r\n")}${body}`;
  const bodies: readonly (readonly [name: string, body: string])[] = [
    ["plain", "3\r\nabc\r\n0\r\n\r\n"],
    ["bare LF", "3\nabc\n0\n\n"],
    ["a chunk that ends with other bytes", "3\r\nabcXX0\r\n\r\n"],
    ["an extension", "3 ;a=b\r\nabc\r\n0\r\n\r\n"],
    ["a last chunk with other bytes behind it", "3\r\nabc\r\n0\r\nXX"],
    ["trailers", "3\r\nabc\r\n0\r\nX-A: b\r\n\r\n"],
  ];
  for (const [name, body] of bodies) {
    const { ran } = await exchange([chunked(body) + NEXT]);
    assert.deepEqual(ran.filter((path) => path.startsWith("/next")), [], `${name}, in one packet`);
    const apart = await exchange([chunked(body), NEXT]);
    assert.deepEqual([apart.ran.filter((path) => path.startsWith("/next")), apart.closed], [[], true], `${name}, one after the other`);
  }
  const plain = await exchange([chunked("3\r\nabc\r\n0\r\n\r\n")]);
  assert.deepEqual(plain, { answers: [200], ran: ["/echo abc"], closed: true });
  const unread = await exchange([chunked("3;a=b\r\nabc\r\n0\r\n\r\n"), NEXT]);
  assert.deepEqual([unread.answers, unread.ran], [[], []], "an extension that the library takes for digits is never answered");
}, { timeoutMs: 30_000 });

test("what the library refuses by itself closes the connection too", async () => {
  const requests: readonly (readonly [name: string, request: string])[] = [
    ["Transfer-Encoding beside Content-Length", `${head("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n")}3\r\nabc\r\n0\r\n\r\n`],
    ["a list of lengths", `${head("Content-Length: 3, 3\r\n")}abc`],
    ["a signed length", `${head("Content-Length: +3\r\n")}abc`],
    ["bare LF in the head", "GET /next HTTP/1.1\nHost: h\n\n"],
    ["bare LF after a header", "GET /next HTTP/1.1\r\nHost: h\nX-A: b\r\n\r\n"],
    ["a folded header", "GET /next HTTP/1.1\r\nHost: h\r\nX-A: a\r\n b\r\n\r\n"],
    ["white space before the colon", "GET /next HTTP/1.1\r\nHost: h\r\nX-A : a\r\n\r\n"],
    ["two Hosts", "GET /next HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n"],
    ["no Host", "GET /next HTTP/1.1\r\n\r\n"],
    ["NUL in a value", "GET /next HTTP/1.1\r\nHost: h\r\nX-A: a\0b\r\n\r\n"],
    ["headers over 32 KiB", `GET /next HTTP/1.1\r\nHost: h\r\nX-A: ${"a".repeat(40_000)}\r\n\r\n`],
  ];
  for (const [name, request] of requests) {
    const { answers, ran, closed } = await exchange([request + NEXT]);
    assert.deepEqual([ran, closed], [[], true], name);
    assert.ok(answers.length === 0 || (answers.length === 1 && (answers[0] ?? 0) >= 400), `${name}: ${answers.join()}`);
  }
}, { timeoutMs: 20_000 });

test("a request that is refused on its head leaves the connection to the next one, behind its body", async () => {
  const body = "x".repeat(90);
  assert.deepEqual(await exchange([`${head("Content-Length: 90\r\n", "/refused")}${body}${NEXT}`]), { answers: [403, 200], ran: ["/next"], closed: false });
  assert.deepEqual(await exchange([`${head("Content-Length: 90\r\n", "/refused")}${body.slice(40)}`, `${body.slice(50)}${NEXT}`]), { answers: [403, 200], ran: ["/next"], closed: false });
  const chunked = await exchange([`${head("Transfer-Encoding: chunked\r\n", "/refused")}3\r\nabc\r\n0\r\n\r\n`, NEXT]);
  assert.deepEqual(chunked, { answers: [403], ran: [], closed: true });
});

test("a HEAD that is refused is answered without a body and closed", async () => {
  await withServer([{ method: "GET", pattern: "/none", handler: (_, reply) => reply.send(200, [], "ok") }], async ({ port }) => {
    const answer = await rawHttp(port, "HEAD /none HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n");
    assert.deepEqual([answer.status, answer.body], [501, ""]);
  });
});

test.run();
