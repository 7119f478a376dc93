/** REST requests that change what is stored, the bounds on them, and what a start and a stop do. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { suite } from "../lib/suite.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { EVENT_KINDS } from "../../runtime/trace/model.js";
import { type Json, OVER_DATABASE, type RunningTrace, sampleRun, startTrace, until } from "./lib.js";

const test = suite("trace api: changes");

let trace: RunningTrace;
test.before(async () => {
  trace = await startTrace();
});
test.after(() => trace.dispose());

test("each of the 18 event types is taken, and its payload kept where the type has one", async () => {
  const without = ["run_start", "run_end", "agent_action", "retry"];
  await trace.ingest(EVENT_KINDS.map(({ name }) => ({ run_id: "kinds", event_id: `k-${name}`, event_type: name, payload: { of: name } })));
  const steps = (await trace.get("/api/runs/kinds/journey")).json["steps"] as Json[];
  assert.deepEqual([EVENT_KINDS.length, steps.length], [18, 18]);
  for (const step of steps) {
    const type = String(step["event_type"]);
    assert.equal(step["blob_path"] === null, without.includes(type), type);
    assert.equal((await trace.get(`/api/runs/kinds/steps/k-${type}/full`)).status, without.includes(type) ? 404 : 200, type);
  }
  await trace.send("DELETE", "/api/runs/kinds");
});

test("DELETE answers what it deleted and the run is gone", async () => {
  await trace.ingest(sampleRun("doomed"));
  assert.deepEqual([(await trace.send("DELETE", "/api/runs/doomed")).json, (await trace.send("DELETE", "/api/runs/doomed")).status], [{ deleted: true, run_id: "doomed" }, 404]);
  assert.equal((await trace.get("/api/runs/doomed")).status, 404);
});

test("ingest takes arrays and NDJSON, gzip or not, names what it rejects and takes the rest", async () => {
  const events = [{ run_id: "i1", event_type: "chain_start", agent_name: "a" }, { run_id: "i1", event_type: "nope" }, { event_type: "chain_end" }, "text", { run_id: "a/b", event_type: "chain_end" }, { run_id: "i1", event_type: "chain_end", timestamp: "yesterday" }];
  const array = await trace.send("POST", "/api/ingest", events);
  assert.equal(array.status, 202);
  assert.deepEqual(Object.keys(array.json), ["accepted", "rejected", "queue_depth"]);
  assert.deepEqual([array.json["accepted"], (array.json["rejected"] as Json[]).map((entry) => entry["index"])], [1, [1, 2, 3, 4, 5]]);
  for (const entry of array.json["rejected"] as Json[]) assert.equal(typeof entry["error"], "string");
  const lines = `${JSON.stringify({ run_id: "i2", event_type: "chain_start" })}\n\nnot json\n${JSON.stringify({ run_id: "i2", event_type: "chain_end" })}\n`;
  const ndjson = await trace.send("POST", "/api/ingest?wait=1", lines, { "content-type": "application/x-ndjson; charset=utf-8" });
  assert.deepEqual([ndjson.status, ndjson.json["accepted"], (ndjson.json["rejected"] as Json[]).length], [200, 2, 1]);
  const packed = await trace.send("POST", "/api/ingest?wait=1", new Uint8Array(gzipSync(JSON.stringify(sampleRun("i3")))), { "content-type": "application/json", "content-encoding": "gzip" });
  assert.deepEqual([packed.status, packed.json["accepted"]], [200, 7]);
  for (const id of ["i1", "i2", "i3"]) await trace.send("DELETE", `/api/runs/${id}`);
});

test("bodies that can't be read are refused with the right status and a detail", async () => {
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, 32));
  const json = { "content-type": "application/json" };
  const table: readonly (readonly [number, string | Uint8Array, { readonly [name: string]: string }])[] = [
    [400, "{", json], [400, "{}", json], [400, "null", json], [400, "", json], [400, new Uint8Array([0x5b, 0xff, 0x5d]), json], [415, "[]", { "content-type": "text/csv" }],
    [415, "[]", { ...json, "content-encoding": "br" }], [400, "[]", { ...json, "content-encoding": "gzip" }], [413, new Uint8Array(bomb), { ...json, "content-encoding": "gzip" }],
  ];
  for (const [status, body, headers] of table) {
    const answer = await trace.send("POST", "/api/ingest", body, headers);
    assert.deepEqual([answer.status, typeof answer.json["detail"]], [status, "string"], `${status} ${String(body).slice(0, 10)}`);
  }
  const huge = await rawHttp(trace.port, `POST /api/ingest HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 999999999\r\n\r\n[`);
  assert.equal(huge.status, 413);
  assert.equal(typeof (JSON.parse(huge.body) as Json)["detail"], "string");
  assert.equal((await rawHttp(trace.port, `GET /api/runs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n{}`)).status, 413);
  for (const [path, status] of [["/api/runs", 405], ["/api/nope", 404]] as const) assert.equal((await rawHttp(trace.port, rawPost(path, "{}"))).status, status, "a body hides no wrong path");
}, { timeoutMs: 30_000 });

test("payloads of any shape come back: deep, array, text, with hostile keys", async () => {
  let deep: unknown = "bottom";
  for (let level = 0; level < 200; level++) deep = { inner: deep };
  const hostile = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as Json;
  const table: readonly unknown[] = [deep, [1, 2, { a: null }], "text", 5, hostile];
  await trace.ingest(table.map((payload, index) => ({ run_id: "p", event_id: `p${index}`, event_type: "tool_end", payload })));
  for (const [index, payload] of table.entries()) {
    const { status, json } = await trace.get(`/api/runs/p/steps/p${index}/full`);
    const isObject = typeof payload === "object" && payload !== null && !Array.isArray(payload);
    assert.deepEqual([status, JSON.stringify(json["full_payload"])], [200, JSON.stringify(isObject ? payload : { value: payload })]);
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  await trace.send("DELETE", "/api/runs/p");
});

test("registering tools answers how many are known, and lists what is wrong", async () => {
  assert.deepEqual((await trace.send("POST", "/api/tools", { server: "files", tools: ["read", "write", "read"] })).json, { server: "files", registered: 2 });
  const wrong = await trace.send("POST", "/api/tools", { server: "", tools: ["x", 5] });
  assert.deepEqual([wrong.status, (wrong.json["detail"] as Json[]).map((entry) => entry["loc"])], [422, [["body", "server"], ["body", "tools", 1]]]);
  assert.equal((await trace.send("POST", "/api/tools", "nope", { "content-type": "application/json" })).status, 400);
});

test("a summary is cut at its limit in characters, never inside one", async () => {
  await trace.ingest([{ run_id: "s", event_id: "s1", event_type: "chain_start", summary: "😀".repeat(700) }]);
  const steps = (await trace.get("/api/runs/s/journey")).json["steps"] as Json[];
  assert.equal(steps[0]?.["summary"], "😀".repeat(500));
  await trace.send("DELETE", "/api/runs/s");
});

test("the graph that a root reports is kept as it was sent, through later steps, a restart and an export; that of a nested step is not its run's", async () => {
  const first = await startTrace();
  const graph = JSON.stringify({ nodes: [{ id: "a" }, { id: "b é 😀" }], edges: [["a", "b"]] });
  await first.ingest([
    { run_id: "g", event_type: "run_start", graph_definition: graph }, { run_id: "g", event_type: "chain_start", agent_name: "a" },
    { run_id: "g1", parent_run_id: "g", event_type: "chain_start", agent_name: "inner", graph_definition: "the inner one" },
    { run_id: "late", event_type: "chain_start" }, { run_id: "late", event_type: "chain_end", graph_definition: graph }, { run_id: "none", event_type: "chain_start" },
  ]);
  await first.stop();
  const again = await startTrace({}, first.directory);
  await again.ingest([{ run_id: "g1", parent_run_id: "g", event_type: "chain_end" }, { run_id: "g", event_type: "chain_end" }]);
  const kept = async (id: string): Promise<unknown> => (await again.get(`/api/runs/${id}`)).json["graph_definition"];
  assert.deepEqual([await kept("g"), await kept("late"), await kept("none")], [graph, graph, null]);
  assert.deepEqual(((await again.get("/api/runs")).json["runs"] as Json[]).map((run) => run["graph_definition"]).sort(), [graph, graph, null].sort());
  const [line = ""] = (await again.get("/api/runs/g/export")).text.split("\n");
  assert.equal((JSON.parse(line) as Json)["graph_definition"], graph);
  await again.dispose();
});

test("a full queue refuses the request whole with 429 and counts its events", async () => {
  const small = await startTrace({ queue_maxsize: 10, worker_batch_timeout: 5 });
  const events = (count: number): Json[] => Array.from({ length: count }, () => ({ run_id: "q", event_type: "retry" }));
  assert.equal((await small.send("POST", "/api/ingest", events(8))).status, 202);
  const answer = await small.send("POST", "/api/ingest", events(3));
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [429, "1"]);
  assert.deepEqual([(await small.get("/api/stats")).json["events_dropped"], (await small.get("/api/stats")).json["queue_depth"]], [3, 8]);
  await small.stop();
  const again = await startTrace({}, small.directory);
  assert.equal((await again.get("/api/runs/q")).json["total_steps"], 8);
  await again.dispose();
});

test("a request that could never be queued is 413, says why, and counts its events", async () => {
  const small = await startTrace({ queue_maxsize: 10 });
  const answer = await small.send("POST", "/api/ingest", Array.from({ length: 11 }, () => ({ run_id: "q", event_type: "retry" })));
  assert.deepEqual([answer.status, answer.json], [413, { detail: "the body has 11 events; one request may have 10" }]);
  const { json } = await small.get("/api/stats");
  assert.deepEqual([json["events_dropped"], json["total_runs"]], [11, 0]);
  await small.dispose();
});

if (OVER_DATABASE) test.skip("two services do not share a directory", "a database is there to be shared");
else {
  test("two services do not share a directory: the second one's error says why", async () => {
    await assert.rejects(startTrace({}, trace.directory), { name: "StoreOpenError", message: /in use by another trace service/ });
  });
}

test("a read-only service shows everything, and takes, deletes, ends and retires nothing", async () => {
  const first = await startTrace();
  await first.ingest([...sampleRun("old"), { run_id: "hung", event_type: "chain_start" }]);
  await first.stop();
  const shown = await startTrace({ read_only: true, max_age_days: 1, stale_run_timeout_s: 0.001, settle_run_timeout_s: 0.001 }, first.directory);
  const changes: readonly (readonly [string, string, unknown])[] = [["DELETE", "/api/runs/old", undefined], ["POST", "/api/ingest", []], ["POST", "/v1/traces", {}], ["POST", "/api/tools", { server: "s", tools: [] }]];
  for (const [method, path, body] of changes) assert.deepEqual([(await shown.send(method, path, body)).status, (await shown.send(method, path, body)).json], [403, { detail: "This instance is read-only" }], path);
  assert.deepEqual([(await shown.get("/api/runs/old/journey")).status, (await shown.get("/api/runs")).json["total"], (await shown.get("/api/runs/hung")).json["status"]], [200, 2, "running"]);
  await shown.dispose();
});

test("a taken port is stepped over, or refused when that is off", async () => {
  const next = await startTrace({ port: trace.port });
  assert.notEqual(next.port, trace.port);
  await next.dispose();
  await assert.rejects(startTrace({ port: trace.port, port_auto: false }), /another process has the port/);
});

test("what was queued before a stop is there after it", async () => {
  const first = await startTrace();
  await first.send("POST", "/api/ingest", sampleRun("late"));
  await first.stop();
  const again = await startTrace({}, first.directory);
  assert.equal((await again.get("/api/runs/late")).json["status"], "completed");
  await again.dispose();
});

test("retention and the end of stale runs go on in the background", async () => {
  const directory = (await startTrace().then(async (first) => (await first.ingest([...sampleRun("old"), { run_id: "hung", event_type: "chain_start" }]), await first.stop(), first))).directory;
  const again = await startTrace({ max_age_days: 1, stale_run_timeout_s: 0.001 }, directory);
  await until(async () => (await again.get("/api/runs?status=failed")).json["total"] === 1);
  await until(async () => (await again.get("/api/runs/old")).status === 404);
  assert.equal((await again.get("/api/runs/hung")).json["error_message"], "interrupted");
  await again.dispose();
});

test.run();
