/** Pure rules of the pages: addresses, formats, the time axis, the list of runs, payloads, reconnecting. */
import assert from "node:assert/strict";
import { apiUrl, bearer, socketAddress } from "../../../runtime/trace-ui/data/address.js";
import { type FeedState, openFeed, type Socket, UNAUTHORIZED } from "../../../runtime/trace-ui/data/feed.js";
import { backoffMs } from "../../../runtime/trace-ui/model/backoff.js";
import * as format from "../../../runtime/trace-ui/model/format.js";
import { copyText, foldedText, type Json, jsonRows, LEVEL_LIMIT } from "../../../runtime/trace-ui/model/payload.js";
import { type Filters, NO_FILTERS, parseRoute, printRoute, type Route } from "../../../runtime/trace-ui/model/route.js";
import { appendPage, compareRuns, mergeRuns, passes, previewOf, titleOf, withoutMarks } from "../../../runtime/trace-ui/model/run-list.js";
import { groupHits, rowsWithin } from "../../../runtime/trace-ui/model/search-groups.js";
import { snippetParts } from "../../../runtime/trace-ui/model/snippet.js";
import type { Span } from "../../../runtime/trace-ui/model/spans.js";
import { axisOf, barOf, panAxis, QUIET_MS, ticksOf, zoomAxis } from "../../../runtime/trace-ui/model/timeline.js";
import type { Run, SearchHit } from "../../../runtime/trace-ui/model/types.js";
import { scrollFor, windowOf } from "../../../runtime/trace-ui/model/window.js";
import { suite } from "../../lib/suite.js";

const test = suite("trace ui: model");

function run(id: string, more: Partial<Run> = {}): Run {
  return {
    run_id: id, root_run_id: id, tags: [], status: "completed", started_at: "2026-11-20T10:00:00Z", completed_at: null, total_steps: 1, total_tokens_input: 0, total_tokens_output: 0,
    graph_definition: null, error_message: null, name: null, session_id: null, user_id: null, models: [], tools: [], servers: [], duration_ms: null, call_count: null, errors: 0, cost_usd: null, preview: null, answer: null, last_seq: 1, ...more,
  };
}
const ids = (runs: readonly Run[]): string => runs.map((entry) => entry.run_id).join(" ");

test("addresses are relative to the page, under any prefix", () => {
  assert.equal(apiUrl("http://h:1/ui/#/runs/x?status=failed", "runs", { limit: 5, q: "", cursor: null }), "http://h:1/api/runs?limit=5");
  assert.equal(apiUrl("https://h/a/b/ui/index.html", "runs/x%2Fy/journey"), "https://h/a/b/api/runs/x%2Fy/journey");
  assert.deepEqual(socketAddress("https://h/a/ui/", "trace/x", { since: 0 }, null), { url: "wss://h/a/ws/trace/x?since=0", protocols: [] });
  assert.deepEqual(socketAddress("http://h/ui/", "runs", {}, "abc-1"), { url: "ws://h/ws/runs", protocols: ["toolsrv", "abc-1"] });
});

test("a token that is no sub-protocol goes by the query, and as bytes in the header", () => {
  assert.deepEqual(socketAddress("http://h/ui/", "runs", {}, "a b/é"), { url: "ws://h/ws/runs?token=a+b%2F%C3%A9", protocols: [] });
  assert.deepEqual(socketAddress("http://h/ui/", "runs", {}, "toolsrv").protocols, [], "two equal sub-protocols are an error of the browser");
  assert.equal(bearer("é"), "Bearer Ã©");
});

const NOWHERE: Route = { view: "runs", filters: NO_FILTERS, runId: null, stepId: null, pair: null, steps: null, scope: "all", expanded: false };

test("what is shown is read back from the address", () => {
  const table: readonly Route[] = [
    NOWHERE,
    { ...NOWHERE, filters: { status: "failed", q: "a&b #?", tag: "x/y", session: "s 1", name: "a=b", model: "m/1", user: "ü", tool: "t &", server: "s/1", minutes: 60, sort: "cost", inSteps: true }, runId: "r/1?x#é", stepId: "e%1" },
    { ...NOWHERE, filters: { ...NO_FILTERS, tag: "%_[" }, runId: "r" },
    { ...NOWHERE, view: "compare", pair: ["a&b", "c d"] },
    { ...NOWHERE, view: "compare", pair: ["r 1", "r 1"], steps: ["r%25:x&y", "r:z"] },
    { ...NOWHERE, view: "topology", scope: "last_n:20" },
    { ...NOWHERE, view: "topology", scope: "run:a&b", expanded: true },
  ];
  for (const route of table) assert.deepEqual(parseRoute(printRoute(route)), route);
});

test("links of the system before open the same run", () => {
  assert.deepEqual(parseRoute("#run=a%2Fb&status=failed"), { ...NOWHERE, runId: "a/b", filters: { ...NO_FILTERS, status: "failed" } });
  assert.deepEqual(parseRoute("#run=&status="), NOWHERE);
});

test("an address that makes no sense shows the list", () => {
  for (const hash of ["", "#", "#/", "#/runs/", "#/nothing/x", "#/runs//step", "#/?status=odd"]) {
    assert.deepEqual(parseRoute(hash), NOWHERE, hash);
  }
  assert.deepEqual(parseRoute("#/?minutes=-5&sort=colour"), NOWHERE);
  assert.equal(parseRoute("#/?sort=steps").filters.sort, "calls", "links of earlier releases");
  assert.equal(parseRoute("#/runs/%zz").runId, "%zz");
  assert.equal(parseRoute(`#/?q=${"x".repeat(900)}`).filters.q.length, 200, "the service takes no more");
});

test("durations, counts and sizes are short and never lie by a unit", () => {
  const durations: readonly (readonly [number, string])[] = [
    [0, "0 ms"], [999, "999 ms"], [999.6, "1.00 s"], [1240, "1.24 s"], [9994, "9.99 s"], [9999, "10.0 s"], [59_940, "59.9 s"], [59_960, "1 m 00 s"], [185_000, "3 m 05 s"],
    [3_599_600, "1 h 00 m"], [7_620_000, "2 h 07 m"], [273_600_000, "3 d 4 h"], [-1, "–"], [Number.NaN, "–"],
  ];
  for (const [ms, text] of durations) assert.equal(format.formatDuration(ms), text, String(ms));
  const counts: readonly (readonly [number, string])[] = [[0, "0"], [999, "999"], [1240, "1.2 k"], [9960, "10 k"], [34_400, "34 k"], [999_600, "1.0 M"], [12_000_000, "12 M"], [999_400_000, "999 M"], [2_140_000_000, "2.1 G"], [9_007_199_254_740_991, "9,007,199 G"]];
  for (const [value, text] of counts) assert.equal(format.formatCount(value), text, String(value));
  assert.equal(format.formatNumber(1_234_567), "1,234,567");
  assert.deepEqual([312, 4100, 250_000, 2_300_000].map(format.formatBytes), ["312 B", "4.1 KB", "250 KB", "2.3 MB"]);
  assert.deepEqual([0, 0.00001, 0.0042, 1.3].map(format.formatCost), ["$0", "<$0.0001", "$0.0042", "$1.30"]);
  assert.deepEqual([0, 12, 300, 7200, 200_000].map((s) => format.formatAgo(0, s * 1000)), ["now", "12 s", "5 m", "2 h", "2 d"]);
  assert.equal(format.formatAgo(Date.UTC(2026, 0, 5, 12), Date.UTC(2026, 5, 1)), "2026-01-05");
  assert.equal(format.formatClock(Number.NaN), "–");
  const evening = Date.UTC(2026, 10, 23, 23, 30);
  assert.deepEqual(format.formatTicks([0, 20, 40].map((minutes) => evening + minutes * 60_000), true), ["23:30\n2026-11-23", "23:50", "00:10\n2026-11-24"]);
  assert.deepEqual(format.formatTicks([evening, evening + 5000], true), ["23:30:00\n2026-11-23", "23:30:05"]);
  assert.deepEqual([format.shortId("short"), format.shortId("019f0ced-7a51-0001-aaaa")], ["short", "…001-aaaa"]);
});

const SPAN: Span = {
  id: "s", runId: "r", parentRunId: null, kind: "tool", name: "t", server: null, model: null, startMs: 1250, endMs: 1500, durationMs: 250, state: "ok", error: null,
  tokensIn: null, tokensOut: null, costUsd: null, seq: 1, start: null, end: null, orphan: false,
};

test("a bar lies where its time lies", () => {
  const axis = { startMs: 1000, endMs: 2000 };
  assert.deepEqual(barOf(SPAN, axis, 0), { left: 0.25, width: 0.25, open: false });
  assert.deepEqual(barOf({ ...SPAN, endMs: null }, axis, 2000), { left: 0.25, width: 0.75, open: true });
  assert.deepEqual(barOf(SPAN, { startMs: 1400, endMs: 1600 }, 0), { left: 0, width: 0.5, open: false });
  assert.equal(barOf(SPAN, { startMs: 1600, endMs: 1700 }, 0), null);
});

test("the axis ends at the last end, or goes with the time while steps arrive", () => {
  assert.deepEqual(axisOf(1000, 2000, 2000, false, 9e9), { startMs: 1000, endMs: 2000 });
  assert.deepEqual(axisOf(1000, 1000, 1000, false, 0), { startMs: 1000, endMs: 1001 }, "never empty");
  assert.deepEqual(axisOf(1000, 2000, 2000, true, 6000), { startMs: 1000, endMs: 6000 });
  assert.deepEqual(axisOf(1000, 2000, 2000, true, 2001 + QUIET_MS), { startMs: 1000, endMs: 2001 + QUIET_MS }, "a call that hangs grows");
});

test("ticks are round, counted from the run's start, and few", () => {
  assert.deepEqual(ticksOf({ startMs: 1000, endMs: 9600 }, 1000, 6).map(({ label }) => label), ["0", "2 s", "4 s", "6 s", "8 s"]);
  assert.deepEqual(ticksOf({ startMs: 0, endMs: 90 }, 0, 6).map(({ label }) => label), ["0", "20 ms", "40 ms", "60 ms", "80 ms"]);
  assert.deepEqual(ticksOf({ startMs: 65_000, endMs: 95_000 }, 0, 4).map(({ label }) => label), ["1:10", "1:20", "1:30"]);
  for (const extent of [1, 3, 700, 5e4, 9e6, 4e8, 9e10]) assert.ok(ticksOf({ startMs: 5, endMs: 5 + extent }, 5, 6).length <= 7, String(extent));
});

test("zooming keeps what it points at, and never leaves the run", () => {
  const bounds = { startMs: 0, endMs: 1000 };
  assert.deepEqual(zoomAxis(bounds, bounds, 0.5, 0.5), { startMs: 250, endMs: 750 });
  assert.deepEqual(zoomAxis({ startMs: 250, endMs: 750 }, bounds, 0.5, 4), bounds);
  assert.deepEqual(panAxis({ startMs: 0, endMs: 500 }, bounds, 9), { startMs: 500, endMs: 1000 });
  assert.deepEqual(panAxis({ startMs: 100, endMs: 600 }, bounds, -1), { startMs: 0, endMs: 500 });
});

test("filters of live runs are those of the service", () => {
  const subject = run("ABC-1", { tags: ["Prod", "50%"], name: "Größe", status: "failed", error_message: "Timeout", session_id: "s1", user_id: "mira" });
  const table: readonly (readonly [Partial<Filters>, boolean])[] = [
    [{}, true], [{ status: "failed" }, true], [{ status: "running" }, false], [{ q: "abc" }, true], [{ q: "GRÖSSE" }, false], [{ q: "größe" }, true], [{ q: "timeout" }, true], [{ q: "MIRA" }, true],
    [{ q: "nothing" }, false], [{ q: "nothing", inSteps: true }, true], [{ tag: "prod" }, true], [{ tag: "50%" }, true], [{ tag: "%" }, true], [{ tag: "p_od" }, false], [{ session: "s1" }, true], [{ session: "s" }, false],
    [{ name: "Größe" }, true], [{ name: "Gr" }, false], [{ user: "mira" }, true], [{ user: "mi" }, false], [{ model: "m" }, false], [{ minutes: 61 }, true], [{ minutes: 59 }, false],
  ];
  for (const [filters, wanted] of table) assert.equal(passes(subject, { ...NO_FILTERS, ...filters }, Date.parse(subject.started_at) + 3_600_000), wanted, JSON.stringify(filters));
});

test("live runs come in at their place, once, and leave when they no longer pass", () => {
  const at = (minute: number): { started_at: string } => ({ started_at: `2026-11-20T10:${String(minute).padStart(2, "0")}:00Z` });
  const list = { runs: [run("c", at(3)), run("b", at(2))], total: 9 };
  assert.equal(ids(mergeRuns(list, [run("d", at(4))], NO_FILTERS, false, 0).runs), "d c b");
  assert.equal(mergeRuns(list, [run("d", at(4))], NO_FILTERS, false, 0).total, 10);
  assert.equal(ids(mergeRuns(list, [run("a", at(1))], NO_FILTERS, false, 0).runs), "c b", "it belongs to a page that is not loaded");
  assert.equal(ids(mergeRuns(list, [run("a", at(1))], NO_FILTERS, true, 0).runs), "c b a");
  assert.equal(ids(mergeRuns(list, [run("bb", at(2))], NO_FILTERS, false, 0).runs), "c bb b", "the id decides between equal starts");
  const running = { ...NO_FILTERS, status: "running" as const };
  const left = mergeRuns({ runs: [run("c", { ...at(3), status: "running" })], total: 1 }, [run("c", { ...at(3), last_seq: 2 })], running, true, 0);
  assert.deepEqual([ids(left.runs), left.total], ["", 0]);
  assert.equal(ids(mergeRuns(list, [run("child", { ...at(5), root_run_id: "c" })], NO_FILTERS, false, 0).runs), "c b", "nested runs are not listed");
  assert.equal(mergeRuns({ runs: [run("c", { last_seq: 7 })], total: 1 }, [run("c", { last_seq: 5, status: "running" })], NO_FILTERS, true, 0).runs[0]?.status, "completed", "an update that was overtaken changes nothing");
  assert.equal(ids(appendPage(list, [run("b", at(2)), run("a", at(1))], 9).runs), "c b a");
  assert.ok(compareRuns(run("a", { started_at: "2026-11-20T10:00:00.000002Z" }), run("b", { started_at: "2026-11-20T10:00:00.000001Z" })) < 0, "microseconds count");
});

test("a run is called by its name and what it was asked", () => {
  assert.equal(titleOf(run("id", { name: " " })), "id");
  for (const [preview, wanted] of [[null, ""], [" Where is it? ", "Where is it?"], [`{"n":1}`, `{"n":1}`]] as const) assert.equal(previewOf(run("id", { name: "agent", preview })), wanted, preview ?? "null");
});

test("only rows in view are drawn, and a row is brought into view by the least scrolling", () => {
  assert.deepEqual(windowOf(0, 100, 10, 1000, 2), { from: 0, to: 12 });
  assert.deepEqual(windowOf(500, 100, 10, 1000, 2), { from: 48, to: 62 });
  assert.deepEqual(windowOf(9950, 100, 10, 1000, 2), { from: 993, to: 1000 });
  assert.deepEqual(windowOf(9950, 100, 10, 0, 2), { from: 0, to: 0 }, "a list that became empty while it was scrolled");
  assert.equal(scrollFor(3, 0, 100, 10, 0), 0);
  assert.equal(scrollFor(3, 50, 100, 10, 0), 30);
  assert.equal(scrollFor(20, 50, 100, 10, 20), 130);
});

test("a payload is an outline of what is unfolded", () => {
  const value: Json = { inputs: { q: "x", list: [1, null, true] }, deep: { a: { b: { c: { d: 1 } } } } };
  const shown = (toggled: readonly string[] = []): string[] =>
    jsonRows(value, { toggled: new Set(toggled), wide: new Set() }).map((row) => ("more" in row ? "more" : `${" ".repeat(row.depth)}${row.key ?? ""}${row.size === null ? `=${String(row.value)}` : foldedText(row.value)}`));
  assert.deepEqual(shown(), ["{2}", " inputs{2}", "  q=x", "  list[3]", "   0=1", "   1=null", "   2=true", " deep{1}", "  a{1}", "   b{1}", "    c{1}"]);
  assert.deepEqual(shown(["\u0000inputs", "\u0000deep"]), ["{2}", " inputs{2}", " deep{1}"]);
  const hostile = JSON.parse(`{"__proto__":{"x":1},"constructor":2}`) as Json;
  assert.deepEqual(jsonRows(hostile, { toggled: new Set(), wide: new Set() }).map((row) => ("more" in row ? "" : row.key)), [null, "__proto__", "x", "constructor"]);
});

test("a long level is cut until it is asked for; a deep one is no limit", () => {
  const long: Json = { items: Array.from({ length: 1000 }, (_, index) => index) };
  const open = new Set(["\u0000items"]);
  assert.equal(jsonRows(long, { toggled: open, wide: new Set() }).length, 2 + LEVEL_LIMIT + 1);
  assert.equal(jsonRows(long, { toggled: open, wide: new Set(["\u0000items"]) }).length, 1002);
  let deep: Json = 1;
  for (let level = 0; level < 5000; level++) deep = [deep];
  assert.ok(jsonRows(deep, { toggled: new Set(), wide: new Set() }).length < 10);
  assert.equal(copyText("plain"), "plain");
  assert.equal(copyText({ a: [1] }), `{\n  "a": [\n    1\n  ]\n}`);
});

test("matches of a search are parts of the text, never markup", () => {
  assert.deepEqual(snippetParts("a \u0002<b>\u0003 c"), [{ text: "a ", match: false }, { text: "<b>", match: true }, { text: " c", match: false }]);
  assert.deepEqual(snippetParts("\u0002cut"), [{ text: "cut", match: true }]);
  assert.deepEqual(snippetParts(""), []);
});

test("hits are grouped by the run that holds them, and a run shows a few until more are wanted", () => {
  const hit = (run: string, id: string): SearchHit => ({ run_id: run, run: { name: run, status: "completed", started_at: "2026-01-01T00:00:00Z" }, snippet: id, step: { run_id: run, event_id: id } as SearchHit["step"] });
  const hits = [hit("a", "1"), hit("b", "2"), hit("a", "3"), hit("a", "4"), hit("a", "5"), hit("a", "6")];
  const shown = (opened: readonly string[]) => groupHits(hits, new Set(opened)).rows.map((row) => `${row.top} ${row.kind} ${row.kind === "hit" ? row.hit.snippet : `${row.runId} ${row.count}`}`);
  assert.deepEqual(shown([]), ["0 run a 5", "1 hit 1", "3 hit 3", "5 hit 4", "7 more a 2", "8 run b 1", "9 hit 2"]);
  assert.deepEqual(shown(["a"]), ["0 run a 5", "1 hit 1", "3 hit 3", "5 hit 4", "7 hit 5", "9 hit 6", "11 more a 2", "12 run b 1", "13 hit 2"]);
  const found = groupHits(hits, new Set());
  assert.equal(found.height, 11);
  assert.deepEqual(rowsWithin(found, 4, 8).map((row) => row.top), [3, 5, 7]);
  assert.deepEqual(groupHits([], new Set()), { rows: [], height: 0 });
});

test("marks of markdown around words are left out of a line, other signs are not", () => {
  const table: readonly (readonly [string, string])[] = [["on **Monday**.", "on Monday."], ["`a b` and __c__", "a b and __c__"], ["2 ** 3 ** 4", "2 ** 3 ** 4"], ["**cut", "**cut"], ["snake_case_name", "snake_case_name"]];
  for (const [line, wanted] of table) assert.equal(withoutMarks(line), wanted, line);
});

test("waiting doubles up to 15 s", () => {
  assert.deepEqual([1, 2, 3, 6, 50].map((failures) => backoffMs(failures, 0)), [500, 1000, 2000, 15_000, 15_000]);
  assert.equal(backoffMs(1, 1), 375);
});

/** A feed whose sockets and timers the test holds in its hands. */
function feedWorld(silenceMs = 0): { readonly sockets: (Socket & { closed: boolean })[]; readonly states: string[]; readonly frames: unknown[]; readonly timers: { ms: number; run: () => void }[]; readonly feed: ReturnType<typeof openFeed> } {
  const world = { sockets: [] as (Socket & { closed: boolean })[], states: [] as string[], frames: [] as unknown[], timers: [] as { ms: number; run: () => void }[] };
  const feed = openFeed({
    connect: () => {
      const socket = { onopen: null, onmessage: null, onclose: null, closed: false, close: () => void (socket.closed = true) } as Socket & { closed: boolean };
      world.sockets.push(socket);
      return socket;
    },
    onFrame: (frame) => world.frames.push(frame),
    onState: (state: FeedState) => world.states.push(state.kind === "waiting" ? `waiting ${state.atMs}` : state.kind),
    silenceMs, now: () => 1000, random: () => 0,
    after: (ms, callback) => {
      const timer = { ms, run: callback };
      world.timers.push(timer);
      return () => void world.timers.splice(world.timers.indexOf(timer), world.timers.includes(timer) ? 1 : 0);
    },
  });
  return { ...world, feed };
}

test("a feed that was cut comes back, later each time, until it is live again", () => {
  const { sockets, states, frames, timers, feed } = feedWorld();
  sockets[0]?.onopen?.();
  sockets[0]?.onmessage?.({ data: `{"a":1}` });
  sockets[0]?.onclose?.({ code: 1006 });
  timers.shift()?.run();
  sockets[1]?.onclose?.({ code: 1006 });
  assert.deepEqual(states, ["connecting", "live", "waiting 1500", "connecting", "waiting 2000"]);
  timers.shift()?.run();
  sockets[2]?.onopen?.();
  sockets[2]?.onmessage?.({ data: `{"b":2}` });
  sockets[2]?.onclose?.({ code: 1013 });
  assert.equal(states.at(-1), "waiting 1500", "a frame shows that all is well again");
  assert.deepEqual(frames, [{ a: 1 }, { b: 2 }]);
  feed.close();
  assert.deepEqual([timers.length, states.at(-1)], [0, "closed"]);
});

test("a feed that is refused waits for a token, not for a time", () => {
  const { sockets, states, timers, feed } = feedWorld();
  sockets[0]?.onopen?.();
  sockets[0]?.onclose?.({ code: UNAUTHORIZED });
  assert.deepEqual([states.at(-1), timers.length], ["refused", 0]);
  feed.retry();
  assert.equal(sockets.length, 2);
});

test("a connection that falls silent is given up", () => {
  const { sockets, states, timers } = feedWorld(45_000);
  sockets[0]?.onopen?.();
  assert.deepEqual(timers.map(({ ms }) => ms), [45_000]);
  timers.shift()?.run();
  assert.deepEqual([sockets[0]?.closed, states.at(-1)], [true, "waiting 1500"]);
});

test.run();
