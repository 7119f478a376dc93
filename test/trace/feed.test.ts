/** The live feeds: catch-up, each step exactly once, slow clients, and what the list hears. */
import assert from "node:assert/strict";
import { suite } from "../lib/suite.js";
import { closeCode, rawWebSocket, type RawWebSocket } from "../lib/raw-websocket.js";
import { FeedHub } from "../../runtime/trace/feed/hub.js";
import type { TraceStore } from "../../runtime/trace/store/store.js";
import type { SocketPeer } from "../../runtime/transport/types.js";
import { type Json, type RunningTrace, sampleRun, startTrace, until } from "./lib.js";

const test = suite("trace feed");

let trace: RunningTrace;
test.before(async () => {
  trace = await startTrace();
});
test.after(() => trace.dispose());

interface Message {
  readonly msg_type: string;
  readonly run_id: string;
  readonly payload: Json;
}

async function message(socket: RawWebSocket): Promise<Message> {
  for (;;) {
    const frame = await socket.next();
    if (frame === null) throw new Error("the socket has ended");
    if (frame.opcode === 1) return JSON.parse(frame.data.toString()) as Message;
    if (frame.opcode === 8) throw new Error(`closed with ${closeCode(frame)}`);
  }
}

test("a connection gets one catchup with every step so far, then each new step", async () => {
  const events = sampleRun("w1");
  await trace.ingest(events.slice(0, 3));
  const socket = await rawWebSocket(trace.port, "/ws/trace/w1");
  const caught = await message(socket);
  assert.deepEqual([caught.msg_type, caught.run_id, Object.keys(caught.payload)], ["catchup", "w1", ["steps"]]);
  assert.deepEqual((caught.payload["steps"] as Json[]).map((step) => step["event_type"]), ["run_start", "chain_start", "chat_model_start"]);
  await trace.ingest(events.slice(3));
  const live: Message[] = [];
  for (let count = 0; count < 5; count++) live.push(await message(socket));
  assert.deepEqual(live.map((entry) => [entry.msg_type, entry.run_id, entry.payload["event_type"]]), [
    ["event", "w1", "llm_end"], ["event", "w1", "tool_start"], ["event", "w1", "tool_end"], ["event", "w1", "chain_end"], ["run_update", "w1", undefined],
  ]);
  assert.equal(Object.keys(live[0]?.payload ?? {}).length, 15);
  assert.deepEqual([(live[4]?.payload["run"] as Json)["status"], Object.keys(live[4]?.payload["run"] as object).length], ["completed", 11]);
  socket.destroy();
});

test("an unknown run has an empty catchup and is followed from its first step", async () => {
  const socket = await rawWebSocket(trace.port, "/ws/trace/w2");
  assert.deepEqual((await message(socket)).payload, { steps: [] });
  await trace.ingest(sampleRun("w2").slice(0, 1));
  assert.deepEqual([(await message(socket)).msg_type, (await message(socket)).msg_type], ["run_update", "event"]);
  socket.destroy();
});

test("steps that come while the catch-up is read arrive exactly once and in order", async () => {
  await trace.ingest([{ run_id: "busy", event_type: "chain_start", agent_name: "a" }]);
  const total = 1500;
  const feed = (async () => {
    for (let from = 0; from < total; from += 30) {
      await trace.send("POST", "/api/ingest", Array.from({ length: 30 }, (_, index) => ({ run_id: "busy", event_id: `busy-${from + index}`, event_type: "retry", timestamp: 1_800_000_000_000 + from + index })));
    }
  })();
  const sockets = await Promise.all(Array.from({ length: 8 }, async (_, index) => {
    await until(async () => Number((await trace.get("/api/runs/busy")).json["total_steps"]) > index * 120);
    return rawWebSocket(trace.port, "/ws/trace/busy?extended=1");
  }));
  for (const socket of sockets) {
    const seen: number[] = [];
    const caught = await message(socket);
    assert.equal(caught.msg_type, "catchup");
    seen.push(...(caught.payload["steps"] as Json[]).map((step) => Number(step["seq"])));
    while (seen.length < total + 1) {
      const next = await message(socket);
      if (next.msg_type === "event") seen.push(Number(next.payload["seq"]));
    }
    assert.equal(new Set(seen).size, total + 1);
    assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
    socket.destroy();
  }
  await feed;
}, { timeoutMs: 60_000 });

test("since resumes after a sequence number", async () => {
  await trace.ingest(sampleRun("w3"));
  const { json } = await trace.get("/api/runs/w3/journey?extended=1");
  const seqs = (json["steps"] as Json[]).map((step) => Number(step["seq"]));
  const socket = await rawWebSocket(trace.port, `/ws/trace/w3?extended=1&since=${seqs[4]}`);
  const caught = await message(socket);
  assert.deepEqual((caught.payload["steps"] as Json[]).map((step) => step["seq"]), seqs.slice(5));
  assert.equal(caught.payload["last_seq"], json["last_seq"]);
  socket.destroy();
});

test("since of other traces, which is a number that was never given out, leaves out nothing", async () => {
  await trace.ingest(sampleRun("w3b"));
  const { json } = await trace.get("/api/runs/w3b/journey?extended=1");
  const socket = await rawWebSocket(trace.port, `/ws/trace/w3b?extended=1&since=${Number(json["last_seq"]) + 1}`);
  assert.deepEqual((await message(socket)).payload, { steps: json["steps"], last_seq: json["last_seq"] });
  socket.destroy();
});

test("a nested run is followed by its own steps alone", async () => {
  const events = sampleRun("w4");
  await trace.ingest(events.slice(0, 5));
  await trace.settle();
  const socket = await rawWebSocket(trace.port, "/ws/trace/w4-t");
  assert.deepEqual(((await message(socket)).payload["steps"] as Json[]).map((step) => step["event_type"]), ["tool_start"]);
  await trace.ingest(events.slice(5));
  assert.deepEqual([(await message(socket)).payload["event_type"], (await message(socket)).msg_type], ["tool_end", "run_update"]);
  socket.destroy();
});

test("the list hears starts, ends and what changed in the graph, with whole runs", async () => {
  const socket = await rawWebSocket(trace.port, "/ws/runs");
  await until(() => trace.service.context.hub.size > 0);
  await trace.ingest(sampleRun("w5"));
  const first = await message(socket);
  const second = await message(socket);
  assert.deepEqual([first, second].map((entry) => [entry.msg_type, entry.run_id, (entry.payload["run"] as Json)["status"]]), [["run_update", "w5", "running"], ["run_update", "w5", "completed"]]);
  let next = await message(socket);
  while (next.msg_type !== "topology_update") next = await message(socket);
  assert.deepEqual([next.run_id, next.payload["scope"]], ["", "all"]);
  assert.ok((next.payload["nodes"] as Json[]).some((node) => node["id"] === "tool:web_search"));
  assert.ok((next.payload["nodes"] as Json[]).some((node) => node["id"] === "mcp:tavily"));
  assert.ok((next.payload["edges"] as Json[]).some((edge) => edge["source"] === "agent:research_agent" && edge["target"] === "tool:web_search"));
  socket.destroy();
});

test("a bare root is announced when it starts, too", async () => {
  const socket = await rawWebSocket(trace.port, "/ws/runs");
  await until(() => trace.service.context.hub.size > 0);
  await trace.ingest([{ run_id: "bare", event_type: "tool_start", tool_name: "t" }]);
  assert.deepEqual([(await message(socket)).run_id], ["bare"]);
  socket.destroy();
});

test("with extended the list also hears running runs grow", async () => {
  const socket = await rawWebSocket(trace.port, "/ws/runs?extended=1");
  await until(() => trace.service.context.hub.size > 0);
  await trace.ingest(sampleRun("w6").slice(0, 2));
  assert.equal((await message(socket)).payload["run"] !== undefined, true);
  await trace.ingest(sampleRun("w6").slice(2, 4));
  for (;;) {
    const next = await message(socket);
    if (next.msg_type === "run_update" && (next.payload["run"] as Json)["total_steps"] === 4) break;
  }
  socket.destroy();
});

test("client frames are ignored, binary ones too", async () => {
  const socket = await rawWebSocket(trace.port, "/ws/trace/w7");
  await message(socket);
  socket.send("ping");
  socket.send(Buffer.from([1, 2, 3]), 2);
  await trace.ingest([{ run_id: "w7", event_type: "chain_start", agent_name: "a" }]);
  assert.equal((await message(socket)).run_id, "w7");
  socket.destroy();
});

test("unknown WebSocket paths are refused, and WebSocket paths answer plain requests with 404", async () => {
  assert.equal((await rawWebSocket(trace.port, "/ws/nope")).status, 404);
  assert.equal((await trace.get("/ws/runs")).status, 404);
});

test("a stop closes the feeds with 1001", async () => {
  const other = await startTrace();
  const socket = await rawWebSocket(other.port, "/ws/runs");
  await until(() => other.service.context.hub.size === 1);
  await other.stop();
  let frame = await socket.next();
  while (frame !== null && frame.opcode !== 8) frame = await socket.next();
  assert.equal(closeCode(frame), 1001);
  await other.dispose();
});

/** A socket under the test's control. */
function fakePeer(): SocketPeer & { readonly sent: string[]; readonly closes: number[]; mode: "sent" | "queued" | "dropped"; bufferedBytes: number } {
  return {
    sent: [], closes: [], mode: "sent", bufferedBytes: 0,
    send(text) {
      if (this.mode !== "dropped") this.sent.push(String(text));
      return this.mode;
    },
    cork: (work) => work(),
    close(code) {
      this.closes.push(code);
    },
  };
}

/** A store that knows no run; only what the hub asks for. */
function emptyStore(overrides: Partial<TraceStore["read"]> = {}): TraceStore {
  const read = { target: () => Promise.resolve(null), steps: () => Promise.resolve(null), ...overrides };
  return {
    read, watch: () => Promise.resolve(0), unwatch: () => undefined, listen: () => undefined, takeChanged: () => Promise.resolve({ nodes: [], edges: [] }),
  } as unknown as TraceStore;
}

const frames = (count: number, from = 1) =>
  ({ frames: Array.from({ length: count }, (_, index) => ({ rootId: "r", runId: "r", seq: from + index, plain: `{"n":${from + index}}`, extended: null })), updates: [], grown: [] }) as unknown as Parameters<FeedHub["publish"]>[0];

function hubOf(store: TraceStore, options: { outboxBytes?: number; stallMs?: number; now?: () => number } = {}): FeedHub {
  return new FeedHub({ store, outboxBytes: options.outboxBytes ?? 1000, stallMs: options.stallMs ?? 5000, pingMs: 15_000, monotonic: options.now ?? (() => 0), onError: () => undefined });
}

test("a client that does not read is closed with 1013 when its outbox overflows; the others get everything", async () => {
  const hub = hubOf(emptyStore());
  const slow = fakePeer();
  const fast = fakePeer();
  hub.openTrace(slow, "r", false, 0);
  hub.openTrace(fast, "r", false, 0);
  await until(() => slow.sent.length === 1 && fast.sent.length === 1);
  slow.mode = "dropped";
  hub.publish(frames(100));
  assert.deepEqual([slow.closes, fast.closes, fast.sent.length], [[1013], [], 101]);
  hub.stop();
});

test("a client that takes nothing for too long is closed with 1013, however little waits; one that reads stays", async () => {
  let now = 1;
  const hub = hubOf(emptyStore(), { stallMs: 5000, now: () => now });
  const stalled = fakePeer();
  const fast = fakePeer();
  for (const peer of [stalled, fast]) hub.openTrace(peer, "r", false, 0);
  await until(() => stalled.sent.length === 1 && fast.sent.length === 1);
  stalled.mode = "queued";
  stalled.bufferedBytes = 10;
  hub.publish(frames(1));
  now += 5002;
  await until(() => stalled.closes.length > 0);
  assert.deepEqual([stalled.closes, fast.closes, hub.size], [[1013], [], 1]);
  hub.stop();
});

test("the list pings clients that are silent, unless they want none", async () => {
  let now = 1;
  const hub = hubOf(emptyStore(), { now: () => now });
  const silent = fakePeer();
  const heard = fakePeer();
  const quiet = fakePeer();
  hub.openRuns(silent, false, true);
  hub.openRuns(heard, false, true);
  hub.openRuns(quiet, false, false);
  now += 15_000;
  hub.heard(heard);
  await until(() => silent.sent.length > 0);
  assert.deepEqual([silent.sent, heard.sent, quiet.sent], [['{"msg_type":"ping","run_id":"","payload":{}}'], [], []]);
  hub.stop();
});

test("a run's start and end are sent to the list and to its own followers, not to those of other runs", async () => {
  const hub = hubOf(emptyStore());
  const own = fakePeer();
  const other = fakePeer();
  const all = fakePeer();
  hub.openTrace(own, "r", false, 0);
  hub.openTrace(other, "else", false, 0);
  hub.openRuns(all, false, false);
  await until(() => own.sent.length === 1 && other.sent.length === 1);
  hub.publish({ frames: [], updates: [{ runId: "r", change: "ended", own: true, plain: '{"run_id":"r"}', extended: "{}" }], grown: [] });
  assert.deepEqual([own, other, all].map((peer) => peer.sent.map((text) => (JSON.parse(text) as Message).msg_type)), [["catchup", "run_update"], ["catchup"], ["run_update"]]);
  hub.stop();
});

test("what waited for a slow client is sent in order when it reads again", async () => {
  const hub = hubOf(emptyStore(), { outboxBytes: 100_000 });
  const peer = fakePeer();
  hub.openTrace(peer, "r", false, 0);
  await until(() => peer.sent.length === 1);
  peer.mode = "dropped";
  hub.publish(frames(20));
  assert.equal(peer.sent.length, 1);
  peer.mode = "sent";
  hub.drained(peer);
  hub.publish(frames(1, 21));
  assert.deepEqual(peer.sent.slice(1).map((text) => ((JSON.parse(text) as Message).payload["n"])), Array.from({ length: 21 }, (_, index) => index + 1));
  hub.stop();
});

test("frames of a commit are made once for all followers, and leave each socket together", async () => {
  const hub = hubOf(emptyStore());
  const raw: Uint8Array[][] = [[], []];
  let corks = 0;
  const peers = raw.map((sent) => ({
    ...fakePeer(),
    send: (bytes: string | Uint8Array) => (typeof bytes === "string" ? assert.fail("bytes are shared, text is not") : sent.push(bytes), "sent" as const),
    cork: (work: () => void) => ((corks += 1), work()),
  }));
  for (const peer of peers) hub.openTrace(peer, "r", false, 0);
  await until(() => raw.every((sent) => sent.length === 1));
  corks = 0;
  hub.publish(frames(20));
  assert.equal(corks, 2);
  assert.equal(raw[0]?.length, 21);
  assert.ok(raw[0]?.slice(1).every((bytes, index) => bytes === raw[1]?.[index + 1]));
  hub.stop();
});

test("when the journey can't be read the client gets an error frame, stays, and gets live steps", async () => {
  const hub = hubOf(emptyStore({ steps: () => Promise.reject(new Error("broken")) }));
  const peer = fakePeer();
  hub.openTrace(peer, "r", false, 0);
  await until(() => peer.sent.length === 1);
  assert.deepEqual(JSON.parse(peer.sent[0] ?? ""), { msg_type: "error", run_id: "r", payload: { detail: "catchup failed" } });
  hub.publish(frames(1));
  assert.deepEqual([peer.sent.length, peer.closes], [2, []]);
  hub.stop();
});

test.run();
