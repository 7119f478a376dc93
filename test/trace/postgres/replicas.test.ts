/** Two services over one database: they serve the same traces and the same feeds, and one may die at any time. */
import assert from "node:assert/strict";
import { suite } from "../../lib/suite.js";
import { rawWebSocket, type RawWebSocket } from "../../lib/raw-websocket.js";
import { collector, ok, spansOf } from "../collector.js";
import { type Json, sampleRun, until } from "../lib.js";
import { ended, type ServiceProcess, startProcess } from "../processes.js";
import { DATABASE, dropSchema, newSchema, NO_DATABASE } from "./database.js";

const test = suite("trace replicas");

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
  }
}

async function post(service: ServiceProcess, events: readonly Json[], wait = true): Promise<number> {
  const answer = await fetch(`${service.url}/api/ingest${wait ? "?wait=1" : ""}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(events) });
  await answer.arrayBuffer();
  return answer.status;
}

async function get(service: ServiceProcess, path: string): Promise<Json> {
  return (await (await fetch(service.url + path)).json()) as Json;
}

async function journey(service: ServiceProcess, run: string): Promise<Json[]> {
  return (await get(service, `/api/runs/${run}/journey?extended=1`))["steps"] as Json[];
}

/** Sequence numbers of the steps that a socket is sent, until there are `count`. */
async function collect(socket: RawWebSocket, count: number, seqs: number[] = []): Promise<number[]> {
  while (seqs.length < count) {
    const { msg_type: type, payload } = await message(socket);
    if (type === "catchup") seqs.push(...(payload["steps"] as Json[]).map((step) => Number(step["seq"])));
    if (type === "event") seqs.push(Number(payload["seq"]));
  }
  return seqs;
}

async function stop({ child }: ServiceProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = ended(child);
  child.kill("SIGTERM");
  await exit;
}

async function withServices(count: number, work: (services: ServiceProcess[], start: () => Promise<ServiceProcess>) => Promise<void>, flags: readonly string[] = []): Promise<void> {
  const schema = newSchema();
  const start = (): Promise<ServiceProcess> => startProcess(["--store", "postgres", "--store-schema", schema, ...flags], { TRACE_SERVICE_STORE_URL: DATABASE ?? "" });
  const services: ServiceProcess[] = [];
  try {
    // At the same time: they make the tables once.
    services.push(...(await Promise.all(Array.from({ length: count }, start))));
    await work(services, async () => {
      const service = await start();
      services.push(service);
      return service;
    });
  } finally {
    await Promise.all(services.map(stop));
    await dropSchema(DATABASE ?? "", schema);
  }
}

if (DATABASE === undefined) test.skip("two services over one database", NO_DATABASE);
else {
  test(
    "every socket gets each step once and in order, whichever service took it",
    () => withServices(2, async ([a, b]) => {
      assert.ok(a !== undefined && b !== undefined);
      await post(a, [{ run_id: "busy", event_type: "chain_start", agent_name: "a" }]);
      const total = 1200;
      const early = await Promise.all([a, b].map((service) => rawWebSocket(service.port, "/ws/trace/busy?extended=1")));
      const feed = async (service: ServiceProcess, from: number): Promise<void> => {
        for (let at = from; at < from + total / 2; at += 30) {
          await post(service, Array.from({ length: 30 }, (_, index) => ({ run_id: "busy", event_id: `e${at + index}`, event_type: "retry", timestamp: 1_800_000_000_000 })), false);
        }
      };
      const feeds = Promise.all([feed(a, 0), feed(b, total / 2)]);
      // Some come while it goes on.
      await until(async () => Number((await get(b, "/api/runs/busy"))["total_steps"]) > 300);
      const late = await Promise.all([a, b, a, b].map((service) => rawWebSocket(service.port, "/ws/trace/busy?extended=1")));
      await feeds;
      for (const socket of [...early, ...late]) {
        const seqs = await collect(socket, total + 1);
        assert.equal(new Set(seqs).size, total + 1);
        assert.deepEqual(seqs, [...seqs].sort((x, y) => x - y));
        socket.destroy();
      }
      assert.deepEqual((await journey(a, "busy")).map((step) => step["seq"]), (await journey(b, "busy")).map((step) => step["seq"]));
    }),
    { timeoutMs: 60_000 },
  );

  test("a run whose steps come to both services is exported whole, by the one that took its end, and once", async () => {
    const spans = await collector(ok);
    try {
      await withServices(2, async (services) => {
        const [a, b] = services;
        assert.ok(a !== undefined && b !== undefined);
        const ends = [a, b, b, a];
        for (const [run, last] of ends.entries()) {
          const events = sampleRun(`x${run}`);
          for (const [index, event] of events.entries()) assert.equal(await post(index === events.length - 1 ? last : index % 2 === 0 ? a : b, [event]), 200);
        }
        await until(() => spansOf(spans).length >= ends.length * 3);
        for (const [index, service] of [a, b].entries()) assert.equal((await get(service, "/api/stats?extended=1"))["spans_exported"], 6, `service ${index}`);
        // What waits is sent before a service ends.
        await Promise.all(services.map(stop));
        const ids = spansOf(spans).map(({ traceId, spanId }) => `${traceId} ${spanId}`);
        assert.deepEqual([ids.length, new Set(ids).size], [ends.length * 3, ends.length * 3]);
      }, ["--otlp-endpoint", spans.url]);
    } finally {
      await spans.close();
    }
  }, { timeoutMs: 60_000 });

  test(
    "a run whose steps come to both services is what it is in one",
    () => withServices(2, async ([a, b]) => {
      assert.ok(a !== undefined && b !== undefined);
      await post(a, sampleRun("one"));
      for (const [index, event] of sampleRun("two").entries()) assert.equal(await post(index % 2 === 0 ? a : b, [event]), 200);
      const shape = (step: Json) => ["event_type", "duration_ms", "agent_name", "tool_name", "mcp_server", "node", "summary"].map((field) => step[field]);
      assert.deepEqual((await journey(b, "two")).map(shape), (await journey(a, "one")).map(shape));
      const run = (value: Json) => ({ ...value, run_id: "", root_run_id: "", last_seq: 0 });
      assert.deepEqual(run(await get(a, "/api/runs/two?extended=1")), run(await get(b, "/api/runs/one?extended=1")));
      assert.deepEqual(await get(a, "/api/topology?scope=run:two"), await get(b, "/api/topology?scope=run:one"));
      assert.deepEqual(await get(a, "/api/topology"), await get(b, "/api/topology"));
      assert.equal(((await get(b, "/api/topology"))["edges"] as Json[]).find((edge) => edge["target"] === "tool:web_search")?.["count"], 2);
    }),
    { timeoutMs: 30_000 },
  );

  test(
    "a child that comes to one service before its parent comes to the other ends up in its run",
    () => withServices(2, async ([a, b]) => {
      assert.ok(a !== undefined && b !== undefined);
      await post(a, [{ run_id: "low", parent_run_id: "mid", event_type: "tool_start", tool_name: "t" }]);
      await post(b, [{ run_id: "low", parent_run_id: "mid", event_type: "tool_end" }]);
      await post(b, [{ run_id: "mid", parent_run_id: "root", event_type: "chain_start", agent_name: "middle" }]);
      await post(a, [{ run_id: "root", event_type: "chain_start", agent_name: "top" }, { run_id: "mid", parent_run_id: "root", event_type: "chain_end" }]);
      await post(b, [{ run_id: "root", event_type: "chain_end" }]);
      for (const service of [a, b]) {
        const runs = (await get(service, "/api/runs"))["runs"] as Json[];
        assert.deepEqual(runs.map((run) => [run["run_id"], run["total_steps"], run["status"]]), [["root", 6, "completed"]]);
      }
      assert.deepEqual(((await get(a, "/api/topology"))["edges"] as Json[]).map((edge) => [edge["source"], edge["target"], edge["count"]]), [["agent:middle", "tool:t", 1], ["agent:top", "agent:middle", 1]]);
    }),
    { timeoutMs: 30_000 },
  );

  test(
    "the list of one service hears of runs of the other, and of the graph",
    () => withServices(2, async ([a, b]) => {
      assert.ok(a !== undefined && b !== undefined);
      const socket = await rawWebSocket(b.port, "/ws/runs");
      await until(async () => Number((await get(b, "/api/stats?extended=1"))["sockets"]) === 1);
      await post(a, sampleRun("r1"));
      const seen: [string, unknown][] = [];
      let graph: Message | null = null;
      while (seen.length < 2 || graph === null) {
        const next = await message(socket);
        if (next.msg_type === "run_update") seen.push([next.run_id, (next.payload["run"] as Json)["status"]]);
        if (next.msg_type === "topology_update") graph = next;
      }
      assert.deepEqual(seen, [["r1", "running"], ["r1", "completed"]]);
      assert.ok((graph.payload["nodes"] as Json[]).some((node) => node["id"] === "tool:web_search"));
      await fetch(`${a.url}/api/runs/r1`, { method: "DELETE" });
      assert.equal((await get(b, "/api/runs"))["total"], 0);
      assert.equal(await post(b, sampleRun("r1")), 200);
      assert.equal((await get(a, "/api/runs/r1"))["total_steps"], 7);
      socket.destroy();
    }),
    { timeoutMs: 30_000 },
  );

  test(
    "an event that both services are sent is stored once",
    () => withServices(2, async ([a, b]) => {
      assert.ok(a !== undefined && b !== undefined);
      const events = Array.from({ length: 200 }, (_, index) => ({ run_id: "same", event_id: `e${index}`, event_type: index === 0 ? "chain_start" : "retry" }));
      await Promise.all([a, b, a, b].map((service) => post(service, events)));
      assert.equal((await get(a, "/api/runs/same"))["total_steps"], 200);
      assert.equal((await get(b, "/api/stats?extended=1"))["total_events"], 200);
    }),
    { timeoutMs: 30_000 },
  );

  test(
    "kill -9 of one service loses nothing that was confirmed; the other goes on, and who followed there resumes",
    () => withServices(2, async ([a, b], start) => {
      assert.ok(a !== undefined && b !== undefined);
      const confirmed: string[] = [];
      const exit = ended(a.child);
      let killed = false;
      const send = async (service: ServiceProcess, name: string): Promise<void> => {
        for (let batch = 0; batch < 60; batch++) {
          const events = Array.from({ length: 20 }, (_, index) => ({ run_id: "shared", event_id: `${name}-${batch}-${index}`, event_type: "tool_end", tool_name: "t", payload: { text: "x".repeat(200) } }));
          if ((await post(service, events)) !== 200) throw new Error("not stored");
          confirmed.push(...events.map((event) => event.event_id));
          if (!killed && confirmed.length > 800) {
            killed = true;
            a.child.kill("SIGKILL");
          }
        }
      };
      await post(b, [{ run_id: "shared", event_type: "chain_start", agent_name: "a" }]);
      const onA = await rawWebSocket(a.port, "/ws/trace/shared?extended=1");
      const onB = await rawWebSocket(b.port, "/ws/trace/shared?extended=1");
      const seenOnA: number[] = [];
      const listening = collect(onA, Number.MAX_SAFE_INTEGER, seenOnA).catch(() => undefined);
      const [first, second] = await Promise.allSettled([send(a, "a0"), send(b, "b0"), send(a, "a1")]);
      assert.deepEqual([first?.status, second?.status], ["rejected", "fulfilled"]);
      await exit;
      await listening;
      const steps = await journey(b, "shared");
      const stored = new Set(steps.map((step) => String(step["event_id"])));
      assert.deepEqual(confirmed.filter((id) => !stored.has(id)), []);
      const seqs = steps.map((step) => Number(step["seq"])).sort((x, y) => x - y);
      assert.deepEqual(await collect(onB, seqs.length), seqs, "the feed of the one that lives has no gap and no double");
      // What the dead one sent last is where its client goes on elsewhere.
      const since = seenOnA.at(-1) ?? 0;
      assert.deepEqual(seenOnA, seqs.filter((seq) => seq <= since));
      const again = await start();
      const resumed = await rawWebSocket(again.port, `/ws/trace/shared?extended=1&since=${since}`);
      assert.deepEqual(await collect(resumed, seqs.filter((seq) => seq > since).length), seqs.filter((seq) => seq > since));
      assert.equal(await post(again, [{ run_id: "shared", event_type: "chain_end" }]), 200);
      assert.equal((await get(b, "/api/runs/shared"))["status"], "completed");
      for (const socket of [onA, onB, resumed]) socket.destroy();
    }),
    { timeoutMs: 60_000 },
  );
}

test.run();
