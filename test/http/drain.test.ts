import * as assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { createReadiness } from "../../runtime/serve/mcp-http/readiness.js";
import { createEngine } from "../../runtime/call/engine.js";
import type { Engine } from "../../runtime/abi/call.js";
import { deafServer, fixtureServer } from "../mcp/files.js";
import { fixtureProgram } from "../mcp/program.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { Lines, start, startHttp } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("drain and readiness");

const call = (id: number, name: string, args: unknown): string =>
  rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } }), { host: "127.0.0.1", "mcp-protocol-version": "2025-11-25" });

test("on SIGTERM calls in flight are answered, new ones get 503, /readyz says draining, and the exit code is 0", async () => {
  const served = await startHttp(fixtureServer);
  try {
    const waiting = rawHttp(served.port, call(1, "wait", { ms: 800 }));
    await rawHttp(served.port, call(2, "echo", { text: "x" }));
    served.child.kill("SIGTERM");
    await served.sees(/draining/);
    const refused = await rawHttp(served.port, call(3, "echo", { text: "x" }));
    assert.deepEqual([refused.status, refused.headers["retry-after"], JSON.parse(refused.body).error.code], [503, "5", "shutting_down"]);
    const ready = await rawHttp(served.port, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert.deepEqual([ready.status, ready.headers["retry-after"]], [503, "2"]);
    assert.deepEqual([JSON.parse(ready.body).ready, JSON.parse(ready.body).draining], [false, true]);
    assert.equal((await rawHttp(served.port, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).status, 200);
    assert.deepEqual(JSON.parse((await waiting).body).result.structuredContent.rows, [{ _id: 1, waited: 800 }]);
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
  }
});

test("calls that outlast --shutdown-grace-s are cut off, said so, and the exit code is 0", async () => {
  const served = await startHttp(fixtureServer, ["--shutdown-grace-s", "0.3"]);
  try {
    const waiting = rawHttp(served.port, call(1, "wait", { ms: 60_000 }));
    await rawHttp(served.port, call(2, "echo", { text: "x" }));
    served.child.kill("SIGTERM");
    assert.equal(await served.ended, 0);
    assert.equal((await waiting).status, 0);
    assert.match(served.stderr(), /cut off at the end of the grace period/);
  } finally {
    await served.kill();
  }
});

/** Sends one call after the other on one connection until it closes; counts what came back. */
function hammer(port: number): Promise<{ readonly sent: number; readonly answered: number; readonly refused: number }> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, "127.0.0.1");
    let sent = 0;
    let answered = 0;
    let refused = 0;
    let received = "";
    const next = (): void => {
      sent += 1;
      socket.write(call(sent, "wait", { ms: 1 }));
    };
    socket.on("connect", next);
    socket.on("data", (chunk) => {
      received += chunk.toString();
      const end = received.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? Number.NaN);
      if (end < 0 || received.length < end + 4 + length) return;
      if (received.startsWith("HTTP/1.1 200")) answered += 1;
      else if (received.startsWith("HTTP/1.1 503")) refused += 1;
      received = "";
      if (refused === 0) next();
      else socket.end();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve({ sent, answered, refused }));
  });
}

test("under load every request that was sent before the end is answered, with a result or with 503", async () => {
  const served = await startHttp(fixtureServer);
  try {
    const clients = Array.from({ length: 20 }, () => hammer(served.port));
    await rawHttp(served.port, call(0, "wait", { ms: 300 }));
    served.child.kill("SIGTERM");
    for (const { sent, answered, refused } of await Promise.all(clients)) {
      assert.equal(answered + refused, sent);
      assert.equal(refused, 1);
      assert.ok(answered > 0);
    }
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
  }
});

/** A connection that is kept open: what was received, and whether the other end has closed it. */
class Kept {
  received = "";
  closed = false;
  private wake: () => void = () => undefined;
  private readonly socket: Socket;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString();
      this.wake();
    });
    this.socket.on("error", () => undefined);
    this.socket.on("close", () => {
      this.closed = true;
      this.wake();
    });
  }

  send(text: string): Promise<void> {
    return new Promise((resolve) => this.socket.write(text, () => resolve()));
  }

  async until(done: (kept: Kept) => boolean): Promise<void> {
    while (!done(this)) {
      if (this.closed) throw new Error(`closed after ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  async end(): Promise<void> {
    while (!this.closed) await new Promise<void>((resolve) => (this.wake = resolve));
  }
}

const listen = (id: number): string => {
  const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method: "subscriptions/listen", params: { notifications: { toolsListChanged: true }, _meta: meta } });
  return rawPost("/mcp", body, { accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" });
};

test("idle connections and listening clients hold nothing up: the ones are closed, the others end with a result, long before the grace", async () => {
  const served = await startHttp(fixtureServer, ["--shutdown-grace-s", "3600"]);
  try {
    const silent = Array.from({ length: 50 }, () => new Kept(served.port));
    const used = Array.from({ length: 20 }, () => new Kept(served.port));
    for (const [index, kept] of used.entries()) await kept.send(call(index, "echo", { text: "x" }));
    for (const kept of used) await kept.until(({ received }) => received.includes('"isError":false'));
    const listening = new Kept(served.port);
    await listening.send(listen(7));
    await listening.until(({ received }) => received.includes("subscriptions/acknowledged"));
    served.child.kill("SIGTERM");
    assert.equal(await served.ended, 0);
    await Promise.all([...silent, ...used, listening].map((kept) => kept.end()));
    assert.match(listening.received, /"id":7,"result":\{"resultType":"complete"/);
    assert.doesNotMatch(served.stderr(), /cut off/);
  } finally {
    await served.kill();
  }
});

test("calls that never end are cut off at the grace, even those that hear no signal; the ones beside them are answered; exit 0", async () => {
  const served = await startHttp(deafServer, ["--shutdown-grace-s", "1"]);
  try {
    const lost = [call(1, "deaf", {}), call(2, "wait", { ms: 60_000 })].map((request) => rawHttp(served.port, request));
    const kept = rawHttp(served.port, call(3, "wait", { ms: 300 }));
    await rawHttp(served.port, call(4, "echo", { text: "x" }));
    served.child.kill("SIGTERM");
    await served.sees(/draining/);
    assert.equal((await rawHttp(served.port, call(5, "echo", { text: "x" }))).status, 503);
    assert.deepEqual(JSON.parse((await kept).body).result.structuredContent.rows, [{ _id: 1, waited: 300 }]);
    assert.equal(await served.ended, 0);
    assert.deepEqual((await Promise.all(lost)).map(({ status }) => status), [0, 0]);
    assert.match(served.stderr(), /cut off at the end of the grace period/);
  } finally {
    await served.kill();
  }
});

test("a request whose body arrives while draining is a new one and gets 503; one that was accepted before keeps its answer", async () => {
  const served = await startHttp(fixtureServer);
  try {
    const waiting = new Kept(served.port);
    await waiting.send(call(1, "wait", { ms: 700 }));
    const half = new Kept(served.port);
    const request = call(2, "echo", { text: "x" });
    await half.send(request.slice(0, -10));
    await rawHttp(served.port, call(3, "echo", { text: "x" }));
    served.child.kill("SIGTERM");
    await served.sees(/draining/);
    await half.send(request.slice(-10));
    await half.until(({ received }) => received.includes("shutting_down"));
    assert.match(half.received, /^HTTP\/1\.1 503 [^]*connection: close/i);
    await waiting.until(({ received }) => received.includes('\\"waited\\":700'));
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
  }
});

test("an answer that its client has not read yet is delivered whole before the end", async () => {
  const served = await startHttp(fixtureServer);
  try {
    const socket = connect(served.port, "127.0.0.1");
    let receivedBytes = 0;
    let head = "";
    const begun = new Promise<void>((resolve) => {
      socket.on("data", (chunk) => {
        if (receivedBytes === 0) head = chunk.toString("latin1");
        receivedBytes += chunk.length;
        // The first bytes are enough for now.
        if (receivedBytes === chunk.length) {
          socket.pause();
          resolve();
        }
      });
    });
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    socket.write(call(1, "echo", { text: "x".repeat(100), times: 100_000 }));
    await begun;
    // Ends after the time in which a server that is done still says 503.
    const waiting = rawHttp(served.port, call(2, "wait", { ms: 900 }));
    await rawHttp(served.port, call(3, "echo", { text: "x" }));
    served.child.kill("SIGTERM");
    assert.equal((await waiting).status, 200);
    assert.equal((await rawHttp(served.port, call(4, "echo", { text: "x" }))).status, 503);
    socket.resume();
    await closed;
    const bodyBytes = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    assert.ok(bodyBytes > 20_000_000);
    assert.equal(receivedBytes, head.indexOf("\r\n\r\n") + 4 + bodyBytes);
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
  }
});

test("a client that never reads its answer holds the end up no longer than the grace", async () => {
  const served = await startHttp(fixtureServer, ["--shutdown-grace-s", "1"]);
  const socket = connect(served.port, "127.0.0.1");
  try {
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => {
      socket.once("data", () => {
        socket.pause();
        resolve();
      });
      socket.write(call(1, "echo", { text: "x".repeat(100), times: 100_000 }));
    });
    served.child.kill("SIGTERM");
    assert.equal(await served.ended, 0);
    assert.match(served.stderr(), /cut off at the end of the grace period/);
  } finally {
    socket.destroy();
    await served.kill();
  }
});

test("a second signal ends the server at once", async () => {
  const served = await startHttp(deafServer, ["--shutdown-grace-s", "3600"]);
  try {
    const lost = rawHttp(served.port, call(1, "deaf", {}));
    await rawHttp(served.port, call(2, "echo", { text: "x" }));
    served.child.kill("SIGTERM");
    await served.sees(/draining/);
    served.child.kill("SIGTERM");
    assert.notEqual(await served.ended, 0);
    assert.equal((await lost).status, 0);
  } finally {
    await served.kill();
  }
});

test("on stdio a call that never ends is cut off at the grace, the others are answered, and the exit code is 0", async () => {
  const served = start(deafServer, ["--shutdown-grace-s", "0.5"]);
  try {
    const lines = new Lines(served);
    await lines.initialize();
    lines.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "deaf" } });
    lines.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "wait", arguments: { ms: 100 } } });
    assert.equal((await lines.ask("sure", "ping"))["id"], "sure");
    served.child.kill("SIGTERM");
    assert.equal((await lines.next())?.["id"], 2);
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
  }
});

test("on stdio a client that reads nothing holds the end up no longer than the grace", async () => {
  const served = start(fixtureServer, ["--shutdown-grace-s", "0.5"]);
  try {
    const lines = new Lines(served);
    await lines.initialize();
    served.child.stdout.pause();
    lines.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "x".repeat(100), times: 100_000 } } });
    lines.end();
    served.child.kill("SIGTERM");
    // `ended` would wait for somebody to read.
    const code = await new Promise((resolve) => served.child.once("exit", resolve));
    assert.equal(code, 0);
  } finally {
    served.child.stdout.resume();
    await served.kill();
  }
});

// ---- readiness ---------------------------------------------------------------------------------------------------

function engineWith(parts: Partial<Engine>): Engine {
  return { ...createEngine(fixtureProgram(), { env: new Map() }), ...parts };
}

test("one dead connection makes /readyz not ready and is named with its reason", async () => {
  const engine = engineWith({ health: async () => ({ a: { ok: true, detail: "ok", latency_ms: 1 }, b: { ok: false, detail: "cannot connect", latency_ms: 3000 } }) });
  const body = await createReadiness({ projects: () => [{ name: "tools", engine }], loaded: async () => true, auth: null, draining: () => false, liveEmbed: false, now: () => 0 }).ask();
  assert.equal(body.ready, false);
  assert.deepEqual(body.connections["b"], { ok: false, detail: "cannot connect", latency_ms: 3000 });
  assert.equal("embed" in body, false);
});

test("a server whose tools have no code that loads is not ready", async () => {
  const engine = engineWith({ health: async () => ({}), embedHealth: async () => ({}) });
  const ready = async (loads: boolean): Promise<boolean> => (await createReadiness({ projects: () => [{ name: "tools", engine }], loaded: async () => loads, auth: null, draining: () => false, liveEmbed: false, now: () => 0 }).ask()).ready;
  assert.deepEqual([await ready(true), await ready(false)], [true, false]);
});

test("stores are asked at most every 2 s and embedders every 60 s, however often /readyz is asked", async () => {
  let now = 0;
  const asked = { stores: 0, embedders: 0 };
  const program = { ...fixtureProgram(), embeddings: { default: { provider: "local", model: "hashing-256" } } };
  const engine = engineWith({
    program,
    health: async () => (asked.stores++, {}),
    embedHealth: async () => (asked.embedders++, { default: { ok: asked.embedders < 2, detail: "", latency_ms: 0 } }),
  });
  const readiness = createReadiness({ projects: () => [{ name: "tools", engine }], loaded: async () => true, auth: null, draining: () => false, liveEmbed: true, now: () => now });
  for (now of [0, 500, 1999]) assert.deepEqual((await readiness.ask()).embed, { ok: true, provider: "local" });
  assert.deepEqual(asked, { stores: 1, embedders: 1 });
  now = 2000;
  await readiness.ask();
  assert.deepEqual(asked, { stores: 2, embedders: 1 });
  now = 60_000;
  const body = await readiness.ask();
  assert.deepEqual([body.ready, body.embed], [false, { ok: false, provider: "local" }]);
  assert.deepEqual(asked, { stores: 3, embedders: 2 });
});

test.run();
