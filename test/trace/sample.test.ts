/** The sample that ships: what `make sample` would record now, moved to now, and nothing of the machine that recorded it. */
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { readEvent } from "../../runtime/trace/ingest/event.js";
import { type Sample, sampleEvents } from "../../runtime/trace/sample.js";
import { planOf } from "../../runtime/trace-ui/model/plan.js";
import { loadMovies } from "../e2e/quickstart.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { type Json, startTrace, temporaryDirectory } from "./lib.js";
import { playSample } from "./sample/agent.js";
import { compactSample, shapeOf } from "./sample/compact.js";
import { withPlans } from "./sample/plans.js";

const test = suite("trace/sample");
const TEXT = readFileSync(repo("runtime/trace-ui/public/sample.json"), "utf8");
const SAMPLE = JSON.parse(TEXT) as Sample;

test("what the agent does now has the shape of the sample that ships", async () => {
  const folder = await temporaryDirectory();
  try {
    const played = await playSample({ server: repo("out/server.js"), envFile: await loadMovies(folder), pace: 0 });
    assert.deepEqual(shapeOf(compactSample(await withPlans(played))), shapeOf(SAMPLE));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, { timeoutMs: 120_000 });

test("it is five runs: two answered in one session, two failed for different reasons, and one that hangs in a tool", async () => {
  const trace = await startTrace();
  try {
    await trace.ingest(sampleEvents(SAMPLE, Date.now(), "sample") as readonly Json[]);
    const { runs } = (await trace.get("/api/runs?extended=1")).json as { readonly runs: readonly { readonly [field: string]: unknown }[] };
    assert.deepEqual(runs.map((run) => [run["run_id"], run["name"], run["status"], run["session_id"]]), [
      ["sample-5", "nightly_report", "running", "sample-nightly"], ["sample-4", "film_expert", "failed", "sample-linus"], ["sample-3", "film_expert", "failed", "sample-grace"],
      ["sample-2", "film_expert", "completed", "sample-ada"], ["sample-1", "film_expert", "completed", "sample-ada"],
    ]);
    assert.deepEqual(runs.slice(1, 3).map((run) => run["error_message"]), ["MCP error -32000: Connection closed", "429 Rate limit reached for gpt-4o-mini: requests per minute. Limit 500, used 500. Try again in 120 ms."]);
    for (const run of runs) assert.ok(Number(run["total_tokens_input"]) > 100 && Number(run["cost_usd"]) > 0, JSON.stringify(run));
    assert.match(String(runs[4]?.["preview"]), /Steven Spielberg/);
    assert.match(String(runs[4]?.["answer"]), /Saving Private Ryan/);
    const { steps } = (await trace.get("/api/runs/sample-5/journey?extended=1&limit=200")).json as { readonly steps: readonly Json[] };
    assert.deepEqual([steps.at(-1)?.["event_type"], steps.at(-1)?.["tool_name"], steps.at(-1)?.["mcp_server"]], ["tool_start", "list_movies", "movies"]);
  } finally {
    await trace.dispose();
  }
}, { timeoutMs: 60_000 });

test("the service takes every event as it is, at its time before now", () => {
  const now = Date.UTC(2026, 5, 1);
  const events = sampleEvents(SAMPLE, now, "x");
  for (const event of events) {
    assert.equal(typeof readEvent(event, { summaryChars: 200, newId: () => "id", nowUs: () => 0 }), "object", JSON.stringify(event));
    assert.ok(Date.parse(String(event["timestamp"])) < now);
  }
  assert.equal(new Set(events.map((event) => event["root_run_id"])).size, 5);
});

test("each call of the quickstart's tools has the plan that its server records", () => {
  const calls = SAMPLE.runs.flatMap(({ events }) => events).filter((event) => event["event_type"] === "tool_start" && event["mcp_server"] === "movies");
  assert.ok(calls.length >= 8);
  for (const call of calls) {
    const plan = planOf(call["attributes"] as { readonly [name: string]: unknown } | undefined);
    assert.ok(plan !== null, String(call["tool_name"]));
    assert.match(`${plan.source} ${plan.printed ?? ""} ${plan.certificate ?? ""} ${plan.catalogHash ?? ""}`, /^tools\.yaml:\d+ plans\.ts:\d+ sha256:[0-9a-f]{64} \S+$/);
    assert.ok(plan.queries.length > 0);
  }
});

test("it names no path of a machine", () => assert.doesNotMatch(TEXT, /file:\/\/|"\/|\(\/|\/(?:home|root|tmp|work|Users)\//));

test.run();
