/** Bytes that no client should send, on both transports: always an answer or a close, never a crash, never another's data. */
import * as assert from "node:assert/strict";
import { connect } from "node:net";
import fc from "fast-check";
import { Lines, start, startHttp, type Json, type Served } from "../lib/served.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { suite } from "../lib/suite.js";
import { fixtureServer } from "./files.js";

const test = suite("fuzz");

const RUNS = 300;

const TRICKY_KEYS = ["__proto__", "constructor", "prototype", "toString", "jsonrpc", "id", "method", "params", "name", "arguments", "_meta", "progressToken"];
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -0, 1e308, 12345678901234567890, "", "2.0", "ping", "tools/call", "tools/list", "initialize", "echo", "run_tool"),
    fc.string(), fc.integer(), fc.double(),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...TRICKY_KEYS), fc.string()), tie("any"), { maxKeys: 5 }),
  ),
})).any;

/** Messages that are nearly right: each member may be missing or anything. */
const nearly = fc.record(
  {
    jsonrpc: fc.oneof(fc.constant("2.0"), value),
    id: fc.oneof(fc.integer(), fc.string(), value),
    method: fc.oneof(fc.constantFrom("ping", "tools/list", "tools/call", "initialize", "notifications/cancelled", "__proto__"), value),
    params: fc.oneof(
      fc.record({ name: fc.oneof(fc.constantFrom("echo", "run_tool", "list_available_tools", "__proto__"), value), arguments: fc.oneof(fc.constant({ text: "x" }), fc.constant({ name: "echo", arguments: { text: "x" } }), value) }, { requiredKeys: [] }),
      value,
    ),
  },
  { requiredKeys: [] },
);

/** Texts whose trouble is their size or form. */
const LARGE: readonly string[] = [
  "[".repeat(200_000),
  `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_tool","arguments":{"name":"echo","arguments":${'{"text":'.repeat(5_000)}1${"}".repeat(5_000)}}}}`,
  `[${"1,".repeat(1_000_000)}1]`,
  `{"jsonrpc":"2.0","id":"${"i".repeat(500_000)}","method":"ping"}`,
  `{"jsonrpc":"2.0","id":${"9".repeat(100_000)},"method":"ping"}`,
  `{"jsonrpc":"2.0","id":1,"method":"${"m".repeat(500_000)}"}`,
  `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/list"}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"bug","arguments":{"text":"a","text":"b"}}}`,
  `{"jsonrpc":"2.0","id":1,"method":"ping"}${" ".repeat(100_000)}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${"n".repeat(200_000)}"}}`,
  '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
  "\uFEFF{}",
];

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((part) => Buffer.from(part)),
  fc.json().map((text) => Buffer.from(text)),
  nearly.map((message) => Buffer.from(JSON.stringify(message) ?? "")),
  fc.array(nearly, { maxLength: 5 }).map((batch) => Buffer.from(JSON.stringify(batch))),
  fc.tuple(nearly, fc.nat(), fc.nat({ max: 255 })).map(([message, at, byte]) => {
    const whole = Buffer.from(JSON.stringify(message));
    whole[at % whole.length] = byte;
    return whole;
  }),
);

/** The ids that an answer to these bytes may have, beside null. */
function idsIn(bytes: Uint8Array): ReadonlySet<unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf8", { fatal: true, ignoreBOM: true }).decode(bytes));
    return new Set((Array.isArray(value) ? value : [value]).map((message: Json | null) => message?.["id"]));
  } catch {
    return new Set();
  }
}

/** Asserts that a message is an answer of JSON-RPC to one of these ids, a batch of them, or a notification. */
function assertAnswer(message: unknown, ids: ReadonlySet<unknown>): void {
  if (Array.isArray(message)) {
    assert.ok(message.length > 0);
    for (const one of message) assertAnswer(one, ids);
    return;
  }
  const { jsonrpc, id, method, result, error } = message as Json;
  assert.equal(jsonrpc, "2.0");
  // What was asked for may have a token of progress.
  if (method === "notifications/progress" || method === "notifications/message") return;
  assert.ok(id === null || ids.has(id), `an answer to ${JSON.stringify(id)}, which was not asked`);
  assert.equal((result === undefined) !== (error === undefined), true);
}

/** A client with a secret, which keeps asking for it while others misbehave; it must get its own, and nobody else. */
class Neighbour {
  static readonly secret = "secret-of-the-neighbour";
  private asking = true;
  private readonly ended: Promise<number>;

  constructor(private readonly port: number) {
    this.ended = this.ask();
  }

  private async ask(): Promise<number> {
    let turns = 0;
    for (; this.asking; turns++) {
      const id = `neighbour-${turns}`;
      const text = `${Neighbour.secret} ${turns}`;
      const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "echo", arguments: { text } } });
      const answer = JSON.parse((await rawHttp(this.port, rawPost("/mcp", body, { "mcp-protocol-version": "2025-11-25" }))).body);
      // Every key is looked at: a polluted prototype would show.
      assert.deepEqual(answer.result.structuredContent.rows, [{ text, _id: 1 }]);
      assert.deepEqual([Object.keys(answer), answer.id], [["jsonrpc", "id", "result"], id]);
    }
    return turns;
  }

  /** @throws when it got anything but its own answers. */
  async leave(): Promise<void> {
    this.asking = false;
    assert.ok((await this.ended) > 0);
  }
}

class StdioProbe {
  private count = 0;
  /** Ids sent so far: answers to calls and batches may come after the next pong. */
  private readonly asked = new Set<unknown>();
  readonly lines: Lines;

  constructor(served: Served) {
    this.lines = new Lines(served);
  }

  /** Sends bytes as one or more lines, then a ping; every line until the pong must be an answer to them. */
  async survives(parts: readonly Uint8Array[]): Promise<void> {
    for (const id of [...idsIn(Buffer.concat(parts)), `probe-${this.count}`]) this.asked.add(id);
    for (const part of parts) this.lines.write(part);
    const id = `probe-${this.count++}`;
    this.lines.write("\n");
    this.lines.send({ jsonrpc: "2.0", id, method: "ping" });
    for (;;) {
      const message = await this.lines.next();
      assert.ok(message !== null, "the server ended");
      assertAnswer(message, this.asked);
      if (message["id"] === id) return;
    }
  }
}

test("stdio: any bytes, cut anywhere, leave the server answering", async () => {
  const served = start(fixtureServer);
  const probe = new StdioProbe(served);
  try {
    await probe.lines.initialize("2025-03-26");
    await fc.assert(
      fc.asyncProperty(bytes, fc.nat({ max: 50 }), (whole, cut) => {
        // A line break ends a message: without it the whole sample is one.
        const line = Buffer.from(whole.map((byte) => (byte === 10 ? 32 : byte)));
        return probe.survives([line.subarray(0, cut), line.subarray(cut)]);
      }),
      { numRuns: RUNS },
    );
    for (const text of LARGE) await probe.survives([Buffer.from(text)]);
  } finally {
    await served.kill();
  }
}, { timeoutMs: 60_000 });

test("HTTP: any body is answered, with the id that it had, and never with another's data", async () => {
  const served = await startHttp(fixtureServer);
  const neighbour = new Neighbour(served.port);
  const send = async (body: Uint8Array): Promise<void> => {
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const answer = await rawHttp(served.port, [head, body]);
    assert.ok([200, 202, 400, 403, 404, 429].includes(answer.status), `${answer.status}: ${answer.raw.slice(0, 200)}`);
    if (answer.status !== 202) assertAnswer(JSON.parse(answer.body), idsIn(body));
    assert.doesNotMatch(answer.raw, /neighbour/);
  };
  try {
    await fc.assert(fc.asyncProperty(bytes, send), { numRuns: RUNS });
    for (const text of LARGE) await send(Buffer.from(text));
    await neighbour.leave();
    assert.equal((await rawHttp(served.port, rawPost("/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}'))).status, 200);
  } finally {
    await served.kill();
  }
}, { timeoutMs: 60_000 });

test("HTTP: any request head is answered or the connection closed", async () => {
  const served = await startHttp(fixtureServer);
  const token = fc.constantFrom("GET", "POST", "PUT", "OPTIONS", "HEAD", "TRACE", "X", "get", "PRI");
  const target = fc.oneof(fc.constantFrom("/mcp", "/", "*", "/readyz", "/mcp?x=1", "//", "/%00", "http://evil/mcp", ""), fc.string({ maxLength: 40 }));
  const header = fc.tuple(
    fc.oneof(fc.constantFrom("Host", "Content-Length", "Transfer-Encoding", "Content-Type", "Accept", "Origin", "MCP-Protocol-Version", "Connection", "Expect", "Upgrade"), fc.string({ maxLength: 20 })),
    fc.oneof(fc.constantFrom("127.0.0.1", "0", "5", "-1", "1e3", "99999999999999999999", "chunked", "identity", "application/json", "*/*", "close", "websocket", "100-continue"), fc.string({ maxLength: 40 })),
  );
  const head = fc.tuple(token, target, fc.array(header, { maxLength: 6 }), fc.string({ maxLength: 30 }))
    .map(([method, path, headers, body]) => `${method} ${path} HTTP/1.1\r\n${headers.map(([name, text]) => `${name}: ${text}\r\n`).join("")}\r\n${body}`);
  try {
    await fc.assert(fc.asyncProperty(fc.oneof(head.map((text) => Buffer.from(text)), fc.uint8Array({ maxLength: 200 }).map((part) => Buffer.from(part))), async (request) => {
      // Many of these wait for more bytes; the client is the one that hangs up.
      const answer = await rawHttp(served.port, request, { timeoutMs: 20 });
      assert.ok(answer.status === 0 || (answer.status >= 100 && answer.status < 600));
    }), { numRuns: RUNS });
    assert.equal((await rawHttp(served.port, rawPost("/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}'))).status, 200);
  } finally {
    await served.kill();
  }
}, { timeoutMs: 60_000 });

test("HTTP: a body in any pieces, with a length or chunked, is answered as the whole is", async () => {
  const served = await startHttp(fixtureServer);
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "cut", method: "tools/call", params: { name: "echo", arguments: { text: "h\u00e9 \u{1F3AC}" } } }));
  const head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\n";
  const cuts = fc.uniqueArray(fc.nat({ max: body.length }), { maxLength: 8 });
  try {
    await fc.assert(fc.asyncProperty(cuts, fc.boolean(), async (at, chunked) => {
      const ends = [...at, body.length].sort((a, b) => a - b);
      const pieces = ends.map((end, index) => body.subarray(ends[index - 1] ?? 0, end)).filter(({ length }) => length > 0);
      const framed = chunked ? [...pieces.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, "\r\n"]), "0\r\n\r\n"] : pieces;
      const answer = await rawHttp(served.port, [`${head}${chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`}\r\n\r\n`, ...framed]);
      const { id, result } = JSON.parse(answer.body);
      assert.deepEqual([id, result.structuredContent.rows[0].text], ["cut", "h\u00e9 \u{1F3AC}"]);
    }), { numRuns: RUNS });
  } finally {
    await served.kill();
  }
}, { timeoutMs: 60_000 });

test("HTTP: bodies that come slowly hold up nobody, and each gets its own answer when it is complete", async () => {
  const served = await startHttp(fixtureServer);
  const neighbour = new Neighbour(served.port);
  const bodyOf = (index: number): string => JSON.stringify({ jsonrpc: "2.0", id: `slow-${index}`, method: "tools/call", params: { name: "echo", arguments: { text: `of ${index}` } } });
  const slow = Array.from({ length: 200 }, (_, index) => {
    const socket = connect(served.port, "127.0.0.1");
    const bytes = rawPost("/mcp", bodyOf(index), { "mcp-protocol-version": "2025-11-25" });
    const half = bytes.length - 1 - (index % 40);
    const answered = new Promise<string>((resolve) => {
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk.toString();
        if (/\}$/.test(received)) resolve(received);
      });
      socket.on("close", () => resolve(received));
      socket.on("error", () => undefined);
    });
    const begun = new Promise<void>((resolve) => socket.write(bytes.slice(0, half), () => resolve()));
    return { index, socket, answered, begun, rest: bytes.slice(half) };
  });
  try {
    await Promise.all(slow.map(({ begun }) => begun));
    assert.equal((await rawHttp(served.port, rawPost("/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}'))).status, 200);
    // Every third one never sends the rest; of the others each byte is a write of its own.
    for (const { index, socket, rest } of slow) {
      if (index % 3 === 0) socket.resetAndDestroy();
      else for (const byte of rest) await new Promise<void>((resolve) => socket.write(byte, () => resolve()));
    }
    for (const { index, answered } of slow.filter((one) => one.index % 3 !== 0)) {
      const received = await answered;
      assert.match(received, new RegExp(`"id":"slow-${index}".*"text":"of ${index}"`));
      assert.doesNotMatch(received, /neighbour/);
    }
    await neighbour.leave();
  } finally {
    for (const { socket } of slow) socket.destroy();
    await served.kill();
  }
}, { timeoutMs: 60_000 });

test("HTTP: uploads and answers that are cut off anywhere hurt nobody", async () => {
  const served = await startHttp(fixtureServer);
  const neighbour = new Neighbour(served.port);
  const whole = rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "x", times: 100_000 } } }));
  try {
    await fc.assert(fc.asyncProperty(fc.nat({ max: whole.length }), (cut) => new Promise<void>((resolve) => {
      const socket = connect(served.port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
      socket.write(whole.slice(0, cut), () => socket.resetAndDestroy());
    })), { numRuns: RUNS });
    await neighbour.leave();
    assert.equal((await rawHttp(served.port, rawPost("/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}'))).status, 200);
    assert.doesNotMatch(served.stderr(), /ERROR/);
  } finally {
    await served.kill();
  }
}, { timeoutMs: 60_000 });

test("HTTP: answers to many clients at once hold the id and the text of their own request", async () => {
  const served = await startHttp(fixtureServer);
  try {
    await Promise.all(Array.from({ length: 50 }, async (_, client) => {
      for (let turn = 0; turn < 10; turn++) {
        const id = `c${client}-${turn}`;
        const list = turn % 2 === 0;
        const message = list ? { jsonrpc: "2.0", id, method: "tools/list" } : { jsonrpc: "2.0", id, method: "tools/call", params: { name: "echo", arguments: { text: id } } };
        const answer = JSON.parse((await rawHttp(served.port, rawPost("/mcp", JSON.stringify(message), { "mcp-protocol-version": "2025-11-25" }))).body);
        assert.equal(answer.id, id);
        if (!list) assert.equal(answer.result.structuredContent.rows[0].text, id);
      }
    }));
  } finally {
    await served.kill();
  }
}, { timeoutMs: 60_000 });

test.run();
