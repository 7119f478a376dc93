/** Spans, their nesting and the rows of the outline. */
import assert from "node:assert/strict";
import { SpanStore } from "../../../runtime/trace-ui/model/spans.js";
import { ancestors, buildTree, collapsible, nextCause, type Tree, visibleRows } from "../../../runtime/trace-ui/model/tree.js";
import { overviewOf, summaryOf } from "../../../runtime/trace-ui/model/summary.js";
import type { EventType, Step } from "../../../runtime/trace-ui/model/types.js";
import { suite } from "../../lib/suite.js";

const NO_FOLDS = { collapsed: new Set<string>(), opened: new Set<string>() };

const test = suite("trace ui: spans");

const T0 = Date.parse("2026-11-20T10:00:00.000Z");

/** Steps from short lines: [event type, run, parent, milliseconds, more]. */
function steps(...lines: readonly (readonly [EventType, string, string | null, number, Partial<Step>?])[]): Step[] {
  return lines.map(([event_type, run_id, parent_run_id, ms, more], index) => ({
    event_id: `e${index}`, run_id, parent_run_id, root_run_id: "root", event_type, timestamp: new Date(T0 + ms).toISOString(),
    agent_name: event_type.startsWith("chain") ? run_id : null, tool_name: event_type.startsWith("tool") ? run_id : null, mcp_server: null, summary: "", blob_path: null,
    duration_ms: null, token_input: null, token_output: null, error_message: event_type.endsWith("_error") ? `${run_id} failed` : null,
    seq: index + 1, node: null, model: null, cost_usd: null, payload_bytes: null, attributes: null, ...more,
  }));
}

function treeOf(given: readonly Step[]): { readonly store: SpanStore; readonly tree: Tree } {
  const store = new SpanStore();
  store.add(given);
  return { store, tree: buildTree(store.spans, (id) => store.primary(id)) };
}

/** The outline as lines: two blanks a level, the name, the state. */
function outline(tree: Tree, collapsed: ReadonlySet<string> = new Set(), needle = ""): string[] {
  return visibleRows(tree, { collapsed, opened: new Set() }, needle).map((row) => `${"  ".repeat(row.depth)}${row.span.name} ${row.span.state}`);
}

const NESTED = steps(
  ["run_start", "root", null, 0, { agent_name: "root" }],
  ["chain_start", "root", null, 0],
  ["chain_start", "a", "root", 10],
  ["tool_start", "a1", "a", 20],
  ["tool_end", "a1", "a", 50],
  ["chain_end", "a", "root", 60],
  ["tool_start", "b", "root", 30],
  ["tool_error", "b", "root", 90],
  ["chain_error", "root", null, 100],
);

test("a start and its end are one span, nested below the call that made it", () => {
  const { tree, store } = treeOf(NESTED);
  assert.deepEqual(outline(tree), ["root error", "  a ok", "    a1 ok", "  b error"]);
  const root = tree.nodes[0]?.span;
  assert.equal(root?.durationMs, 100);
  assert.equal(root?.startMs, T0);
  assert.equal(store.size, 9);
});

test("steps make the same outline in whatever order they come", () => {
  const forward = outline(treeOf(NESTED).tree);
  assert.deepEqual(outline(treeOf([...NESTED].reverse()).tree), forward);
  assert.deepEqual(outline(treeOf([...NESTED.slice(5), ...NESTED.slice(0, 5)]).tree), forward);
});

test("a step that comes twice counts once", () => {
  const store = new SpanStore();
  assert.equal(store.add(NESTED), 9);
  assert.equal(store.add(NESTED), 0);
  assert.equal(store.spans.length, 4);
  assert.equal(store.version, 1);
});

test("two runs may use one event id: both steps are shown, and each is found by its key", () => {
  const { store, tree } = treeOf(steps(
    ["chain_start", "root", null, 0, { event_id: "x" }],
    ["tool_start", "a:1", "root", 10, { event_id: "x" }],
    ["tool_end", "a:1", "root", 20, { event_id: "x:y" }],
    ["tool_start", "a", "root", 30, { event_id: "1:x" }],
  ));
  assert.deepEqual(outline(tree), ["root open", "  a:1 ok", "  a open"]);
  assert.equal(store.size, 4);
  assert.deepEqual(["root:x", "a%3A1:x", "a:1:x"].map((key) => store.ofStep(key)?.name), ["root", "a:1", "a"]);
  assert.equal(store.ofStep("x:y")?.name, "a:1", "an event id alone finds the first step that has it");
  assert.equal(new Set(store.spans.map(({ id }) => id)).size, 3);
});

test("a step that is live closes the span that is open", () => {
  const store = new SpanStore();
  store.add(NESTED.slice(0, 4));
  assert.equal(store.ofStep("e3")?.state, "open");
  store.add(NESTED.slice(4, 5));
  assert.equal(store.ofStep("e3")?.state, "ok");
  assert.equal(store.ofStep("e4"), store.ofStep("e3"), "both events name one span");
  assert.equal(store.ofStep("e3")?.durationMs, 30);
});

test("the service's own duration counts before the difference of the times", () => {
  const { tree } = treeOf(steps(["tool_start", "t", null, 0], ["tool_end", "t", null, 40, { duration_ms: 37 }]));
  assert.equal(tree.nodes[0]?.span.durationMs, 37);
});

test("an end without a start begins its duration earlier", () => {
  const { tree } = treeOf(steps(["llm_end", "l", null, 500, { duration_ms: 200, agent_name: "model" }]));
  const span = tree.nodes[0]?.span;
  assert.equal(span?.startMs, T0 + 300);
  assert.equal(span?.endMs, T0 + 500);
  assert.equal(span?.name, "model");
});

test("calls one after another under one run id are spans of their own", () => {
  const { tree } = treeOf(steps(
    ["chain_start", "r", null, 0], ["tool_start", "r", null, 10], ["tool_end", "r", null, 20], ["tool_start", "r", null, 30], ["tool_end", "r", null, 45], ["chain_end", "r", null, 60],
  ));
  assert.deepEqual(outline(tree), ["r ok", "  r ok", "  r ok"]);
  assert.deepEqual(tree.nodes.map((node) => node.span.durationMs), [60, 10, 15]);
});

test("retries and actions are marks below their call", () => {
  const { tree } = treeOf(steps(["chain_start", "r", null, 0], ["retry", "r", null, 5], ["agent_action", "r", null, 6, { tool_name: "search" }], ["agent_finish", "r", null, 9]));
  assert.deepEqual(outline(tree), ["r ok", "  retry mark", "  search mark"]);
});

test("what the service calls a step decides its kind", () => {
  const { tree } = treeOf(steps(["chain_start", "planner", null, 0, { node: "agent:planner" }], ["chain_start", "parser", "planner", 1]));
  assert.deepEqual(tree.nodes.map((node) => node.span.kind), ["agent", "chain"]);
});

test("a span without its parent stands at the top and says so, until the parent comes", () => {
  const store = new SpanStore();
  store.add(steps(["tool_start", "child", "late", 10]));
  let tree = buildTree(store.spans, (id) => store.primary(id));
  assert.equal(tree.nodes[0]?.span.orphan, true);
  store.add(steps(["run_start", "x", null, 0], ["chain_start", "late", null, 5]).slice(1));
  tree = buildTree(store.spans, (id) => store.primary(id));
  assert.deepEqual(outline(tree), ["late open", "  child open"]);
  assert.equal(tree.nodes[1]?.span.orphan, false);
});

test("parents in a circle are cut once, and every span is shown", () => {
  const { tree } = treeOf(steps(["chain_start", "a", "c", 0], ["chain_start", "b", "a", 1], ["chain_start", "c", "b", 2], ["tool_start", "d", "c", 3], ["tool_start", "self", "self", 4]));
  assert.deepEqual(outline(tree), ["a open", "  b open", "    c open", "      d open", "self open"]);
  assert.equal(tree.nodes[0]?.span.orphan, true);
});

test("20,000 levels are nested without a limit of the stack", () => {
  const deep = steps(...Array.from({ length: 20_000 }, (_, level) => ["chain_start", `n${level}`, level === 0 ? null : `n${level - 1}`, level] as const));
  const { tree } = treeOf(deep);
  assert.equal(tree.nodes.at(-1)?.depth, 19_999);
  assert.equal(visibleRows(tree, NO_FOLDS, "n19999").length, 20_000);
});

test("an error is traced to where it began, and leads around", () => {
  const { tree } = treeOf(steps(
    ["chain_start", "root", null, 0], ["chain_start", "a", "root", 1], ["tool_start", "a1", "a", 2], ["tool_error", "a1", "a", 3], ["chain_error", "a", "root", 4],
    ["tool_start", "b", "root", 5], ["tool_error", "b", "root", 6], ["chain_error", "root", null, 9],
  ));
  assert.deepEqual(tree.causes.map((node) => node.span.name), ["a1", "b"]);
  assert.deepEqual(tree.nodes.map((node) => node.failedBelow), [true, true, false, false]);
  const [first, second] = tree.causes.map((node) => node.span.id);
  assert.equal(nextCause(tree, null, 1)?.span.id, first);
  assert.equal(nextCause(tree, first ?? "", 1)?.span.id, second);
  assert.equal(nextCause(tree, second ?? "", 1)?.span.id, first);
  assert.equal(nextCause(tree, first ?? "", -1)?.span.id, second);
  assert.equal(nextCause(tree, null, -1)?.span.id, second);
  assert.equal(nextCause(treeOf(NESTED.slice(0, 6)).tree, null, 1), null);
});

test("a folded span hides what is below it, and only that", () => {
  const { tree } = treeOf(NESTED);
  const a = tree.nodes.find((node) => node.span.name === "a");
  assert.deepEqual(outline(tree, new Set([a?.span.id ?? ""])), ["root error", "  a ok", "  b error"]);
  assert.deepEqual([...collapsible(tree)], [a?.span.id]);
  const a1 = tree.nodes.find((node) => node.span.name === "a1");
  assert.deepEqual(ancestors(tree, a1?.span.id ?? ""), [a?.span.id, tree.nodes[0]?.span.id]);
});

test("a filter keeps what matches and what leads there, also when it is folded", () => {
  const { tree } = treeOf(NESTED);
  const folded = new Set(tree.nodes.map((node) => node.span.id));
  assert.deepEqual(outline(tree, folded, "A1"), ["root error", "  a ok", "    a1 ok"]);
  assert.deepEqual(outline(tree, folded, "b failed"), ["root error", "  b error"]);
  assert.deepEqual(outline(tree, folded, "nowhere"), []);
});

test("siblings know their place", () => {
  const rows = visibleRows(treeOf(NESTED).tree, NO_FOLDS, "");
  assert.deepEqual(rows.map((row) => [row.position, row.siblings]), [[1, 1], [1, 2], [1, 1], [2, 2]]);
});

test("50,000 steps become an outline within a frame or two", () => {
  const many = steps(["chain_start", "root", null, 0], ...Array.from({ length: 25_000 }, (_, index) => [["tool_start", `t${index}`, "root", index], ["tool_end", `t${index}`, "root", index + 1]] as const).flat());
  const started = performance.now();
  const { tree } = treeOf(many);
  assert.equal(visibleRows(tree, NO_FOLDS, "").length, 25_001);
  // 0.1 s when nothing else runs; a quadratic step anywhere would take minutes.
  assert.ok(performance.now() - started < 3000, `${performance.now() - started} ms`);
});

/** A root with many calls of one name, some of which failed, and one of another name between them. */
function repeated(count: number, failing: readonly number[] = []): Step[] {
  return steps(
    ["chain_start", "root", null, 0],
    ...Array.from({ length: count }, (_, index) => [
      ["tool_start", `w${index}`, "root", 10 * index, { tool_name: "worker" }] as const,
      [failing.includes(index) ? "tool_error" : "tool_end", `w${index}`, "root", 10 * index + index + 1, { tool_name: "worker" }] as const,
      ...(index === 3 ? [["tool_start", "other", "root", 35] as const, ["tool_end", "other", "root", 36] as const] : []),
    ]).flat(),
    ["chain_end", "root", null, 10_000],
  );
}

test("many siblings of one name are one row with their number and durations, which opens", () => {
  const { tree } = treeOf(repeated(100));
  const rows = visibleRows(tree, NO_FOLDS, "");
  assert.deepEqual(rows.map((row) => [row.depth, row.span.name, row.group?.nodes.length ?? 0]), [[0, "root", 0], [1, "worker", 100], [1, "other", 0]]);
  const group = rows[1]?.group;
  assert.deepEqual([group?.p50, group?.p95, group?.errors, group?.startMs], [50, 95, 0, T0]);
  const open = visibleRows(tree, { collapsed: new Set(), opened: new Set([group?.id ?? ""]) }, "");
  assert.equal(open.length, 103);
  assert.deepEqual([open[2]?.depth, open[2]?.group, open.at(-1)?.span.name], [2, null, "other"]);
  assert.deepEqual(ancestors(tree, open[5]?.id ?? ""), [group?.id, rows[0]?.id]);
  assert.equal(visibleRows(treeOf(repeated(9)).tree, NO_FOLDS, "").length, 11, "a few are no group");
});

test("what failed in a closed group is shown below it, and a filter shows spans and no groups", () => {
  const { tree } = treeOf(repeated(50, [7, 20]));
  assert.deepEqual(visibleRows(tree, NO_FOLDS, "").map((row) => `${row.depth} ${row.span.runId} ${row.group === null ? row.span.state : `${row.group.errors} failed`}`), ["0 root ok", "1 w0 2 failed", "2 w7 error", "2 w20 error", "1 other ok"]);
  assert.ok(visibleRows(tree, NO_FOLDS, "w20").every((row) => row.group === null));
});

test("groups of groups stay linear", () => {
  const lines: (readonly [EventType, string, string | null, number, Partial<Step>?])[] = [["chain_start", "root", null, 0]];
  for (let index = 0; index < 25_000; index++) lines.push(["tool_start", `w${index}`, index === 0 ? "root" : `w${Math.floor((index - 1) / 12)}`, index, { tool_name: "worker" }]);
  const started = performance.now();
  const { tree } = treeOf(steps(...lines));
  assert.equal(visibleRows(tree, NO_FOLDS, "").length, 3);
  assert.ok(performance.now() - started < 3000, `${Math.round(performance.now() - started)} ms`);
});

test("tokens and cost of everything below are summed at each span", () => {
  const { tree } = treeOf(steps(
    ["chain_start", "root", null, 0], ["chain_start", "a", "root", 1],
    ["llm_start", "m1", "a", 2], ["llm_end", "m1", "a", 3, { token_input: 10, token_output: 2, cost_usd: 0.5 }],
    ["llm_start", "m2", "root", 4], ["llm_end", "m2", "root", 5, { token_input: 1, token_output: 1, cost_usd: 0.25 }],
  ));
  assert.deepEqual(tree.nodes.map((node) => [node.span.runId, node.tokensIn, node.tokensOut, node.costUsd]), [["root", 11, 3, 0.75], ["a", 10, 2, 0.5], ["m1", 10, 2, 0.5], ["m2", 1, 1, 0.25]]);
});

test("the critical path is what the end waited for", () => {
  const { tree } = treeOf(steps(
    ["chain_start", "root", null, 0],
    ["tool_start", "first", "root", 0], ["tool_end", "first", "root", 40],
    ["tool_start", "fast", "root", 40], ["tool_end", "fast", "root", 50],
    ["tool_start", "slow", "root", 40], ["tool_start", "inner", "slow", 45], ["tool_end", "inner", "slow", 88], ["tool_end", "slow", "root", 90],
    ["chain_end", "root", null, 100],
  ));
  assert.deepEqual(tree.nodes.filter((node) => node.critical).map((node) => node.span.runId), ["root", "first", "slow", "inner"]);
});

test("the failing path leads to the fatal call, not to an error that the run survived", () => {
  const { tree } = treeOf(steps(
    ["chain_start", "root", null, 0],
    ["tool_start", "early", "root", 1], ["tool_error", "early", "root", 2, { error_message: "survived" }],
    ["tool_start", "tool", "root", 3], ["chain_start", "http", "tool", 4], ["chain_error", "http", "tool", 5, { error_message: "502" }], ["tool_error", "tool", "root", 6, { error_message: "tool: 502" }],
    ["tool_start", "cleanup", "root", 7], ["tool_error", "cleanup", "root", 8, { error_message: "nothing to clean" }],
    ["chain_error", "root", null, 9, { error_message: "tool: 502" }],
  ));
  const summary = summaryOf(tree, true, false);
  assert.deepEqual(summary.failure.map((node) => node.span.runId), ["root", "tool", "http"]);
  assert.deepEqual(summaryOf(tree, false, false).failure, []);
});

test("a summary names the slowest call by its own time, retries, and what a running run waits for", () => {
  const given = steps(
    ["chain_start", "root", null, 0],
    ["chain_start", "outer", "root", 0], ["tool_start", "inner", "outer", 10], ["tool_end", "inner", "outer", 90], ["chain_end", "outer", "root", 100],
    ["retry", "root", null, 101], ["tool_start", "stuck", "root", 120], ["tool_start", "later", "root", 130],
  );
  const { tree } = treeOf(given);
  const summary = summaryOf(tree, false, true);
  assert.deepEqual([summary.slowest?.node.span.runId, summary.slowest?.ownMs, summary.retries, summary.waiting?.span.runId], ["inner", 80, 1, "stuck"]);
});

test("the overview says how busy each part of the run was, and where calls failed", () => {
  const { tree } = treeOf(steps(["chain_start", "root", null, 0], ["tool_start", "a", "root", 0], ["tool_end", "a", "root", 50], ["tool_start", "b", "root", 0], ["tool_error", "b", "root", 99], ["chain_end", "root", null, 100]));
  const { density, errors } = overviewOf(tree, T0, T0 + 100, 10);
  assert.deepEqual(density, [1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5]);
  assert.deepEqual(errors.map(Number), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test.run();
