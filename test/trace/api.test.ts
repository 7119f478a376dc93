/** The REST interface over a real socket: what is read, parameter rules, errors and headers. */
import assert from "node:assert/strict";
import { suite } from "../lib/suite.js";
import { rawHttp } from "../lib/raw-http.js";
import { type Json, type RunningTrace, sampleRun, startTrace } from "./lib.js";

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
    ["/api/topology?scope=run:", [["scope", "string_pattern_mismatch", { pattern: "^(all|run:.*\\S.*|last_n:[0-9]+|name:.*\\S.*)$" }]]],
    ["/api/topology?scope=run:%20", [["scope", "string_pattern_mismatch", { pattern: "^(all|run:.*\\S.*|last_n:[0-9]+|name:.*\\S.*)$" }]]],
    ["/api/tools?scope=last_n:-1", [["scope", "string_pattern_mismatch", { pattern: "^(all|run:.*\\S.*|last_n:[0-9]+|name:.*\\S.*)$" }]]],
    ["/api/tools?scope=last_n:abc", [["scope", "string_pattern_mismatch", { pattern: "^(all|run:.*\\S.*|last_n:[0-9]+|name:.*\\S.*)$" }]]],
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

test("a cursor that no list gave is refused", async () => {
  for (const path of ["runs?extended=1&cursor=first", "runs?cursor=WzEsInIxIl0", "runs?cursor=1.", "runs/r1/journey?limit=1&cursor=WzEsMV0", "runs/r1/journey?cursor=1.r1"]) {
    const { status, json } = await trace.get(`/api/${path}`);
    assert.deepEqual([status, JSON.stringify(json).includes("cursor")], [422, true], `${path}: ${JSON.stringify(json)}`);
  }
});

test("lists page over the longest ids", async () => {
  const other = await startTrace({});
  try {
    const ids = ["1", "2", "3"].map((last) => "\u{1F600}".repeat(199) + last);
    await other.ingest(ids.flatMap((id) => sampleRun(id)));
    const found: unknown[] = [];
    for (let cursor: unknown = null; cursor !== undefined; ) {
      const { status, json } = await other.get(`/api/runs?extended=1&limit=1${cursor === null ? "" : `&cursor=${String(cursor)}`}`);
      assert.equal(status, 200);
      found.push(...(json["runs"] as Json[]).map((run) => run["run_id"]));
      cursor = json["next_cursor"];
    }
    assert.deepEqual(found.sort(), ids);
  } finally {
    await other.dispose();
  }
});

test("a run has the first 1,000 of its tags, however many its steps give", async () => {
  const other = await startTrace({});
  try {
    const tags = (step: number): readonly string[] => Array.from({ length: 100 }, (_, index) => `t${100 * step + index}`);
    const steps = Array.from({ length: 15 }, (_, step) => ({ run_id: "r", event_type: step === 0 ? "chain_start" : "tool_start", tool_name: step === 0 ? null : "find", tags: tags(step) }));
    await other.ingest(steps);
    const { json } = await other.get("/api/runs/r");
    assert.deepEqual(json["tags"], Array.from({ length: 1000 }, (_, index) => `t${index}`));
  } finally {
    await other.dispose();
  }
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

test("tools by source: servers by name with all their tools, the local bucket last, and their counts are those of the calls", async () => {
  const own = await startTrace();
  const call = (server: string | null, tool: string, end: string): Json[] => ["tool_start", end].map((event_type) => ({ run_id: `${server ?? "local"}-${tool}-${end}`, parent_run_id: "r", root_run_id: "r", event_type, tool_name: tool, mcp_server: server }));
  await own.send("POST", "/api/tools", { server: "zeta", tools: ["idle"] });
  await own.ingest([
    { run_id: "r", event_type: "chain_start", agent_name: "a" }, ...call("zeta", "fetch", "tool_end"), ...call("zeta", "fetch", "tool_error"), ...call("Alpha", "send", "tool_error"), ...call("beta", "fetch", "tool_end"), ...call(null, "clock", "tool_end"),
    // Says what the agent decided; the call is counted by its start.
    { run_id: "r", event_type: "agent_action", tool_name: "clock" },
  ]);
  const entry = (source: string, kind: string, invocations: number, errors: number, ...tools: readonly (readonly [string, number, number])[]): Json => ({
    source, kind, tool_count: tools.length, invocation_count: invocations, error_count: errors, tools: tools.map(([name, calls, failed]) => ({ name, invocations: calls, errors: failed })),
  });
  assert.deepEqual((await own.get("/api/tools")).json, {
    sources: [entry("Alpha", "mcp", 1, 1, ["send", 1, 1]), entry("beta", "mcp", 1, 0, ["fetch", 1, 0]), entry("zeta", "mcp", 2, 1, ["fetch", 2, 1], ["idle", 0, 0]), entry("local", "local", 1, 0, ["clock", 1, 0])],
  });
  await own.dispose();
});

test("p99 of a node is the nearest rank of its durations: of two the longer, of 200 the 198th, never below the average", async () => {
  const own = await startTrace();
  const T0 = Date.UTC(2026, 10, 20);
  // In no order, so that the order of arrival can't stand in for the order of size.
  const calls = (tool: string, durations: readonly number[]): Json[] => durations.flatMap((ms, index) => [0, ms].map((at) => ({ run_id: `${tool}-${index}`, parent_run_id: "r", root_run_id: "r", event_type: at === 0 ? "tool_start" : "tool_end", tool_name: tool, timestamp: T0 + at })));
  const many = Array.from({ length: 200 }, (_, index) => ((index * 77) % 200) + 1);
  await own.ingest([{ run_id: "r", event_type: "chain_start", agent_name: "a", timestamp: T0 }, ...calls("two", [90_001, 10]), ...calls("one", [7]), ...calls("many", many), ...calls("spread", [1, 2, 3, 70_000])]);
  for (const scope of ["all", "run:r", "last_n:5"]) {
    const nodes = (await own.get(`/api/topology?scope=${scope}`)).json["nodes"] as Json[];
    const found = Object.fromEntries(nodes.map((node) => [String(node["name"]), [node["p99_duration_ms"], node["avg_duration_ms"]]]));
    assert.deepEqual([found["two"], found["one"], found["many"], found["spread"], found["a"]], [[90_001, 45_005.5], [7, 7], [198, 100.5], [70_000, 17_501.5], [null, 0]], scope);
  }
  await own.dispose();
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

test.run();
