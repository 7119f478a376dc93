import * as assert from "node:assert/strict";
import type { HttpHead, SocketPeer, SocketRoute } from "../../runtime/transport/types.js";
import { rawHttp } from "../lib/raw-http.js";
import { closeCode, rawWebSocket } from "../lib/raw-websocket.js";
import { suite } from "../lib/suite.js";
import { deferred, withServer, type Deferred, type Running } from "./transport-server.js";

const test = suite("transport: sockets");

interface SocketLog {
  readonly events: string[];
  readonly closed: Deferred<void>;
  peer: SocketPeer | null;
}

function socketRoute(log: SocketLog): SocketRoute<never> {
  const route: SocketRoute<{ readonly user: string }> = {
    pattern: "/ws/:room",
    headers: ["sec-websocket-protocol", "x-user"],
    maxMessageBytes: 1024,
    maxBufferedBytes: 1 << 20,
    upgrade: (request: HttpHead) =>
      request.query.includes("refuse") ? { status: 403, body: "{}" } : { state: { user: request.params[0] ?? "" }, protocol: "chat" },
    open: (peer, state) => {
      log.peer = peer;
      log.events.push(`open ${state.user}`);
    },
    message: (peer, _, data) => {
      if (data === "throw") throw new Error("listener");
      peer.send(`echo ${data}`);
    },
    close: (peer) => {
      log.events.push(`close ${peer.send("after close")}`);
      log.closed.resolve();
    },
  };
  return route as unknown as SocketRoute<never>;
}

async function withSockets(body: (port: number, log: SocketLog, running: Running) => Promise<void>, change: Partial<SocketRoute<never>> = {}): Promise<void> {
  const log: SocketLog = { events: [], peer: null, closed: deferred<void>() };
  await withServer([], (running) => body(running.port, log, running), [{ ...socketRoute(log), ...change }]);
}

test("a WebSocket is opened with its state and sub-protocol, echoes, and closes once", async () => {
  await withSockets(async (port, log) => {
    const socket = await rawWebSocket(port, "/ws/blue", { "sec-websocket-protocol": "other, chat" });
    assert.equal(socket.status, 101);
    assert.equal(socket.headers["sec-websocket-protocol"], "chat");
    socket.send("hällo");
    assert.equal((await socket.next())?.data.toString(), "echo hällo");
    socket.destroy();
    await log.closed.promise;
    assert.deepEqual(log.events, ["open blue", "close dropped"]);
  });
});

test("an upgrade can be refused with a status, and a plain GET of a socket path is not found", async () => {
  await withSockets(async (port, log) => {
    assert.equal((await rawWebSocket(port, "/ws/blue?refuse")).status, 403);
    assert.equal((await rawHttp(port, "GET /ws/blue HTTP/1.1\r\nHost: h\r\n\r\n")).status, 404);
    assert.deepEqual(log.events, []);
  });
});

test("a listener that throws closes its socket 1011, is reported, and hurts no other socket", async () => {
  await withSockets(async (port, _, { errors }) => {
    const [bad, good] = [await rawWebSocket(port, "/ws/a"), await rawWebSocket(port, "/ws/b")];
    bad.send("throw");
    assert.equal(closeCode(await bad.next()), 1011);
    good.send("still here");
    assert.equal((await good.next())?.data.toString(), "echo still here");
    assert.deepEqual(errors.map(String), ["Error: listener"]);
    good.destroy();
  });
});

test("a frame over the limit closes 1009, a binary one 1003, invalid UTF-8 ends the connection", async () => {
  await withSockets(async (port) => {
    const [large, binary, invalid] = [await rawWebSocket(port, "/ws/a"), await rawWebSocket(port, "/ws/b"), await rawWebSocket(port, "/ws/c")];
    large.send("x".repeat(1025));
    assert.equal(closeCode(await large.next()), 1009);
    binary.send(Buffer.from([1, 2, 3]), 2);
    assert.equal(closeCode(await binary.next()), 1003);
    invalid.send(Buffer.from([0xff, 0xfe]));
    assert.notEqual((await invalid.next())?.opcode, 1);
  });
});

test("a socket that does not read gets \"dropped\" at its outbox bound, and \"drain\" when it reads again", async () => {
  const drained = deferred<void>();
  await withSockets(async (port, log) => {
    const socket = await rawWebSocket(port, "/ws/a");
    socket.pause();
    const chunk = "z".repeat(64 << 10);
    const results = new Set<string>();
    const peer = log.peer;
    assert.ok(peer !== null);
    for (let sent = 0; sent < 4000 && !results.has("dropped"); sent += 1) results.add(peer.send(chunk));
    assert.ok(results.has("dropped"));
    assert.ok(peer.bufferedBytes <= (1 << 20) + chunk.length);
    socket.resume();
    await drained.promise;
    socket.destroy();
    await log.closed.promise;
    assert.equal(peer.bufferedBytes, 0);
  }, { drain: () => drained.resolve() });
});

/** Body bytes that a client which asks with node:http receives. */

test.run();
