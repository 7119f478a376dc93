/** The REST interface over a real socket: endpoints, parameter rules, errors and headers. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { suite } from "../lib/suite.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { EVENT_KINDS } from "../../runtime/trace/model.js";
import { type Json, OVER_DATABASE, type RunningTrace, sampleRun, startTrace, until } from "./lib.js";

const test = suite("trace api");

let trace: RunningTrace;
test.before(async () => {
  trace = await startTrace({ project_name: "shop" });
  await trace.ingest([...sampleRun("r1"), ...sampleRun("r2", { failed: true, at: Date.UTC(2026, 10, 21), tags: ["other"] })]);
});
test.after(() => trace.dispose());

const keys = (value: unknown): readonly string[] => Object.keys(value as object);
const RUN = ["run_id", "root_run_id", "tags", "status", "started_at", "completed_at", "total_steps", "total_tokens_input", "total_tokens_output", "graph_definition", "error_message"];
const STEP = [
  "event_id", "run_id", "parent_run_id", "root_run_id", "event_type", "timestamp", "agent_name", "tool_name", "mcp_server", "summary", "blob_path", "duration_ms", "token_input", "token_output", "error_message",
];

test("health has status, version and project name", async () => {
  const { status, json } = await trace.get("/api/health");
  assert.deepEqual([status, json], [200, { status: "ok", version: "0.0.0-test", project_name: "shop" }]);
});

test("the list has its envelope, runs have exactly their 11 fields in order", async () => {
  const { json } = await trace.get("/api/runs");
  assert.deepEqual(keys(json), ["runs", "total", "limit", "offset"]);
  const runs = json["runs"] as Json[];
  assert.deepEqual(runs.map((run) => run["run_id"]), ["r2", "r1"]);
  for (const run of runs) assert.deepEqual(keys(run), RUN);
  assert.deepEqual([json["total"], json["limit"], json["offset"]], [2, 50, 0]);
});

test("filters compose with paging and with the total", async () => {
  const table: readonly (readonly [string, number, readonly string[]])[] = [
    ["status=failed", 1, ["r2"]], ["status=completed&tag=DEM", 1, ["r1"]], ["status=running", 0, []], ["status=all&limit=1&offset=1", 2, ["r1"]], ["tag=nothing", 0, []],
    ["q=no%20answer", 1, ["r2"]], ["unknown=1", 2, ["r2", "r1"]], ["limit=%2B2", 2, ["r2", "r1"]],
  ];
  for (const [query, total, ids] of table) {
    const { json } = await trace.get(`/api/runs?${query}`);
    assert.deepEqual([json["total"], (json["runs"] as Json[]).map((run) => run["run_id"])], [total, ids], query);
  }
});

test("parameters that break their rule are answered 422, all of them, in the order of the document", async () => {
  const table: readonly (readonly [string, readonly (readonly [string, string, Json | undefined])[]])[] = [
    ["/api/runs?status=&limit=0&offset=-1&tag=", [
      ["status", "string_pattern_mismatch", { pattern: "^(running|completed|failed|all)$" }], ["limit", "greater_than_equal", { ge: 1 }], ["offset", "greater_than_equal", { ge: 0 }], ["tag", "string_too_short", { min_length: 1 }],
    ]],
    ["/api/runs?limit=201", [["limit", "less_than_equal", { le: 200 }]]],
    ["/api/runs?limit=abc", [["limit", "int_parsing", undefined]]],
    ["/api/runs?limit=1.5", [["limit", "int_parsing", undefined]]],
    ["/api/runs?limit=", [["limit", "int_parsing", undefined]]],
    [`/api/runs?tag=${"x".repeat(201)}`, [["tag", "string_too_long", { max_length: 200 }]]],
    ["/api/runs?status=Running", [["status", "string_pattern_mismatch", { pattern: "^(running|completed|failed|all)$" }]]],
    ["/api/topology?scope=", [["scope", "string_too_short", { min_length: 1 }]]],
    ["/api/topology?scope=run:", [["scope", "string_pattern_mismatch", { pattern: "^(all|run:.*\\S.*|last_n:[0-9]+)$" }]]],
    ["/api/topology?scope=run:%20", [["scope", "string_pattern_mismatch", { pattern: "^(all|run:.*\\S.*|last_n:[0-9]+)$" }]]],
    ["/api/tools?scope=last_n:-1", [["scope", "string_pattern_mismatch", { pattern: "^(all|run:.*\\S.*|last_n:[0-9]+)$" }]]],
    ["/api/tools?scope=last_n:abc", [["scope", "string_pattern_mismatch", { pattern: "^(all|run:.*\\S.*|last_n:[0-9]+)$" }]]],
    [`/api/tools?scope=run:${"x".repeat(200)}`, [["scope", "string_too_long", { max_length: 200 }]]],
    ["/api/runs/r1/export?format=csv", [["format", "string_pattern_mismatch", { pattern: "^jsonl$" }]]],
    ["/api/runs/unknown/export?format=", [["format", "string_pattern_mismatch", { pattern: "^jsonl$" }]]],
    ["/api/search", [["q", "missing", undefined]]],
    ["/api/runs/r1/journey?limit=5001", [["limit", "less_than_equal", { le: 5000 }]]],
  ];
  for (const [path, expected] of table) {
    const { status, json } = await trace.get(path);
    assert.equal(status, 422, path);
    const found = json["detail"] as Json[];
    assert.deepEqual(found.map((entry) => [(entry["loc"] as string[])[1], entry["type"], entry["ctx"]]), expected, path);
    for (const entry of found) assert.equal((entry["loc"] as string[])[0], "query");
  }
});

test("the input of a 422 is the text that was sent", async () => {
  const { json } = await trace.get("/api/runs?limit=0&limit=900");
  assert.deepEqual((json["detail"] as Json[]).map((entry) => entry["input"]), ["900"]);
});

test("one run, its journey and its export; unknown ones are 404", async () => {
  const run = await trace.get("/api/runs/r1");
  assert.deepEqual(keys(run.json), RUN);
  const journey = await trace.get("/api/runs/r1/journey");
  assert.deepEqual([journey.json["run_id"], keys(journey.json)], ["r1", ["run_id", "steps"]]);
  for (const step of journey.json["steps"] as Json[]) assert.deepEqual(keys(step), STEP);
  const exported = await trace.get("/api/runs/r1/export");
  assert.deepEqual([exported.status, exported.headers.get("content-type"), exported.headers.get("content-disposition")], [200, "application/x-ndjson", 'attachment; filename="r1.jsonl"']);
  assert.deepEqual(exported.text.trimEnd().split("\n").map((line) => JSON.parse(line) as unknown), [run.json, ...(journey.json["steps"] as Json[])]);
  for (const path of ["", "/journey", "/export"]) {
    const { status, json } = await trace.get(`/api/runs/unknown${path}`);
    assert.deepEqual([status, json], [404, { detail: "Run not found" }], path);
  }
});

test("extended=1 adds fields and nothing else", async () => {
  const run = await trace.get("/api/runs/r1?extended=1");
  assert.deepEqual(keys(run.json).slice(0, 11), RUN);
  assert.deepEqual([run.json["name"], run.json["duration_ms"], run.json["models"], run.json["errors"]], ["research_agent", 620, ["gpt-4o-mini"], 0]);
  const page = await trace.get("/api/runs/r1/journey?extended=1&limit=3");
  const steps = page.json["steps"] as Json[];
  assert.deepEqual(steps.map((step) => step["node"]), [null, "agent:research_agent", "llm:ChatModel"]);
  const rest = await trace.get(`/api/runs/r1/journey?extended=1&limit=50&cursor=${String(page.json["next_cursor"])}`);
  assert.deepEqual([(rest.json["steps"] as Json[]).length, rest.json["next_cursor"]], [4, undefined]);
});

test("/full returns the payload of a step through its run or its root, and says why when it can't", async () => {
  const { json } = await trace.get("/api/runs/r1/journey");
  const steps = json["steps"] as Json[];
  const tool = steps.find((step) => step["event_type"] === "tool_end");
  const runStart = steps.find((step) => step["event_type"] === "run_start");
  const id = String(tool?.["event_id"]);
  assert.equal(tool?.["blob_path"], `r1-t/${id}.json.gz`);
  for (const run of ["r1", "r1-t"]) {
    const full = await trace.get(`/api/runs/${run}/steps/${id}/full`);
    assert.deepEqual(full.json, { event_id: id, run_id: "r1-t", event_type: "tool_end", full_payload: { output: "18 degrees" } });
  }
  const table: readonly (readonly [string, string])[] = [
    ["/api/runs/r1/steps/nope/full", "Step not found"], ["/api/runs/unknown/steps/nope/full", "Step not found"], [`/api/runs/r2/steps/${id}/full`, "Step not found for this run"],
    [`/api/runs/r1/steps/${String(runStart?.["event_id"])}/full`, "Step has no full blob (not a blob-eligible event)"],
    ["/api/runs/r1/steps/..%2F..%2Fetc%2Fpasswd/full", "Not Found"], ["/api/runs/..%2f/steps/x/full", "Not Found"],
  ];
  for (const [path, detail] of table) assert.deepEqual([(await trace.get(path)).status, (await trace.get(path)).json], [404, { detail }], path);
});

test("stats is flat, has its fields in order and counts what is there", async () => {
  const { json } = await trace.get("/api/stats");
  assert.deepEqual(keys(json), [
    "total_runs", "running", "completed", "failed", "avg_duration_ms", "total_tokens_input", "total_tokens_output", "db_size_bytes", "queue_depth", "queue_max", "events_dropped", "events_processed",
    "events_sampled_out", "runs_throttled", "last_write_latency_ms", "p99_write_latency_ms", "blob_size_bytes",
  ]);
  assert.deepEqual([json["total_runs"], json["completed"], json["failed"], json["total_tokens_input"], json["queue_max"], json["events_dropped"]], [2, 1, 1, 84, 50_000, 0]);
  assert.equal(json["avg_duration_ms"], (210 + 350 + 620) / 3);
  assert.ok((json["db_size_bytes"] as number) > 0 && (json["blob_size_bytes"] as number) > 0);
});

test("stats show what sampling, the cap and the queue's bound did", async () => {
  const none = await startTrace({ sample_rate: 0, queue_maxsize: 700 });
  assert.deepEqual([(await none.get("/api/stats")).json["last_write_latency_ms"], (await none.get("/api/stats")).json["p99_write_latency_ms"], (await none.get("/api/health")).json["project_name"]], [null, null, null]);
  await none.ingest(sampleRun("s"));
  const skipped = (await none.get("/api/stats")).json;
  assert.deepEqual([skipped["events_sampled_out"], skipped["events_processed"], skipped["total_runs"], skipped["queue_max"], typeof skipped["p99_write_latency_ms"]], [7, 0, 0, 700, "number"]);
  await none.dispose();
  const capped = await startTrace({ per_run_event_cap: 3 });
  await capped.ingest([...sampleRun("a"), ...sampleRun("b")]);
  const { json } = await capped.get("/api/stats");
  assert.deepEqual([json["runs_throttled"], json["events_dropped"], json["completed"]], [2, 0, 2]);
  await capped.dispose();
});

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

test("topology and tools answer every scope; an unknown run is empty, not 404", async () => {
  const all = await trace.get("/api/topology");
  const nodes = all.json["nodes"] as Json[];
  assert.deepEqual(keys(nodes[0]), ["id", "name", "type", "source", "invocation_count", "error_count", "total_duration_ms", "avg_duration_ms", "p99_duration_ms", "last_seen"]);
  assert.deepEqual(nodes.map((node) => [node["id"], node["invocation_count"]]), [["agent:research_agent", 2], ["llm:ChatModel", 2], ["mcp:tavily", 2], ["tool:web_search", 2]]);
  assert.deepEqual((all.json["edges"] as Json[]).map((edge) => [edge["source"], edge["target"], edge["count"]]), [
    ["agent:research_agent", "llm:ChatModel", 2], ["agent:research_agent", "mcp:tavily", 2], ["agent:research_agent", "tool:web_search", 2], ["mcp:tavily", "tool:web_search", 2],
  ]);
  assert.deepEqual((await trace.get("/api/topology?scope=run:unknown")).json, { nodes: [], edges: [] });
  assert.deepEqual((await trace.get("/api/tools?scope=run:unknown")).json, { sources: [] });
  assert.deepEqual((await trace.get("/api/tools?scope=last_n:1")).json, { sources: [{ source: "tavily", kind: "mcp", tool_count: 1, invocation_count: 1, error_count: 0, tools: [{ name: "web_search", invocations: 1, errors: 0 }] }] });
});

test("search, compare and sessions answer over HTTP", async () => {
  await trace.settle();
  const found = await trace.get("/api/search?q=degrees");
  assert.deepEqual([found.json["total"], (found.json["hits"] as Json[]).map((hit) => hit["run_id"]).sort()], [3, ["r1", "r1", "r2"]]);
  assert.equal((await trace.get("/api/compare?a=r1&b=r2")).status, 200);
  assert.deepEqual([(await trace.get("/api/compare?a=r1&b=zzz")).status, (await trace.get("/api/sessions")).json["total"]], [404, 0]);
});

test("texts that stores and query languages stumble over are ordinary text", async () => {
  const odd = await startTrace();
  await odd.ingest([{ run_id: "h", event_id: "h1", event_type: "chain_start", agent_name: "a\ud800", summary: "nul\u0000byte", session_id: "half \ud83d", tags: ["\udc00"], error_message: "\u0000" }, { run_id: "😀".repeat(200), event_type: "chain_start" }]);
  await odd.settle();
  assert.deepEqual(((await odd.get("/api/sessions")).json["sessions"] as Json[]).map((session) => [session["session_id"], session["run_count"]]), [["half \ufffd", 1]]);
  for (const q of ["a%00b", "%00", "%22", "AND", "NEAR(", "a%22b*", "*", "%ff"]) assert.equal((await odd.get(`/api/search?q=${q}`)).status, 200, q);
  assert.equal((await odd.get(`/api/runs?tag=${encodeURIComponent("😀".repeat(200))}`)).status, 200);
  assert.equal((await odd.get(`/api/runs/${encodeURIComponent("😀".repeat(200))}`)).status, 200);
  const refused = await odd.send("POST", "/api/ingest", [{ run_id: "\ud800", event_type: "retry" }, { run_id: "x", event_type: "retry", is_agent: 5 }]);
  assert.deepEqual((refused.json["rejected"] as Json[]).map((entry) => entry["index"]), [0, 1]);
  await odd.dispose();
});

test("unknown paths are 404, other methods 405 with Allow, a slash too many is redirected", async () => {
  assert.deepEqual((await trace.get("/api/nope")).json, { detail: "Not Found" });
  const wrong = await trace.send("POST", "/api/runs", "");
  assert.deepEqual([wrong.status, wrong.json, wrong.headers.get("allow")], [405, { detail: "Method Not Allowed" }, "GET, HEAD"]);
  assert.equal((await trace.send("PUT", "/api/runs/r1", "")).headers.get("allow"), "GET, DELETE, HEAD");
  const slash = await trace.get("/api/runs/?limit=2");
  assert.deepEqual([slash.status, new URL(slash.headers.get("location") ?? "", `${trace.url}/api/runs/`).pathname], [307, "/api/runs"]);
  assert.deepEqual([(await trace.get("/")).status, (await trace.get("/")).headers.get("location")], [307, "ui/"]);
  assert.equal((await rawHttp(trace.port, "HEAD /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", { timeoutMs: 300 })).status, 200);
});

test("every answer carries the security headers", async () => {
  for (const path of ["/api/runs", "/api/nope", "/docs", "/openapi.json", "/ui/x"]) {
    const { headers } = await trace.get(path);
    assert.deepEqual([headers.get("x-content-type-options"), headers.get("referrer-policy"), headers.get("vary")], ["nosniff", "no-referrer", "Origin"], path);
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/, path);
  }
});

test("/docs and /openapi.json load nothing from elsewhere and need no inline code", async () => {
  const docs = await trace.get("/docs");
  assert.equal(docs.headers.get("content-type"), "text/html");
  assert.doesNotMatch(docs.text, /(src|href)="(https?:)?\/\//);
  assert.doesNotMatch(docs.text, /<script>|<style|style="|onclick/);
  for (const path of ["/docs.css", "/docs.js"]) assert.equal((await trace.get(path)).status, 200);
  const document = await trace.get("/openapi.json");
  assert.equal(document.json["openapi"], "3.1.0");
  assert.ok(docs.text.includes("/api/runs/{run_id}/steps/{event_id}/full"));
});

test("large answers are compressed for clients that take gzip", async () => {
  const many = Array.from({ length: 200 }, (_, index) => ({ run_id: "big", event_type: "retry", summary: `step ${index} ${"word ".repeat(30)}` }));
  await trace.ingest([{ run_id: "big", event_type: "chain_start", agent_name: "a" }, ...many, { run_id: "big", event_type: "chain_end" }]);
  const packed = await trace.get("/api/runs/big/journey", { "accept-encoding": "gzip" });
  const plain = await trace.get("/api/runs/big/journey", { "accept-encoding": "identity" });
  assert.deepEqual([packed.headers.get("content-encoding"), plain.headers.get("content-encoding")], ["gzip", null]);
  assert.equal(packed.text, plain.text);
  await trace.send("DELETE", "/api/runs/big");
});

test("a journey longer than one page is streamed whole and in order", async () => {
  const many = Array.from({ length: 1700 }, (_, index) => ({ run_id: "long", event_type: "retry", summary: String(index), timestamp: 1_700_000_000_000 + index }));
  await trace.ingest([{ run_id: "long", event_type: "chain_start", agent_name: "a", timestamp: 1_699_999_999_999 }, ...many]);
  const { json } = await trace.get("/api/runs/long/journey");
  const steps = json["steps"] as Json[];
  assert.deepEqual(steps.slice(1).map((step) => step["summary"]), many.map((event) => event.summary));
  const lines = (await trace.get("/api/runs/long/export")).text.trimEnd().split("\n");
  assert.equal(lines.length, 1702);
  await trace.send("DELETE", "/api/runs/long");
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
  assert.deepEqual(keys(array.json), ["accepted", "rejected", "queue_depth"]);
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

test("the built user interface is served with types, etags and no way out of its folder", async () => {
  const { mkdir, writeFile } = await import("node:fs/promises");
  const first = await startTrace();
  await first.stop();
  await mkdir(`${first.directory}/ui/assets`, { recursive: true });
  await writeFile(`${first.directory}/ui/index.html`, "<!doctype html>");
  await writeFile(`${first.directory}/ui/assets/app.js`, "1");
  const again = await startTrace({}, first.directory);
  const page = await again.get("/ui/");
  assert.deepEqual([page.status, page.headers.get("content-type"), page.headers.get("cache-control"), page.text], [200, "text/html; charset=utf-8", "no-cache", "<!doctype html>"]);
  assert.equal((await again.get("/ui/", { "if-none-match": page.headers.get("etag") ?? "" })).status, 304);
  assert.equal((await again.get("/ui/assets/app.js")).headers.get("content-type"), "text/javascript; charset=utf-8");
  for (const path of ["/ui/../traces.db", "/ui/%2e%2e/traces.db", "/ui/..%2ftraces.db", "/ui/nope"]) {
    assert.equal((await rawHttp(again.port, `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)).status, 404, path);
  }
  await again.dispose();
});

if (OVER_DATABASE) test.skip("two services do not share a directory", "a database is there to be shared");
else {
  test("two services do not share a directory: the second is told why", async () => {
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
  await assert.rejects(startTrace({ port: trace.port, port_auto: false }), /in use/);
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
