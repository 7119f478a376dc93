/** The graphs that are drawn, without a browser: nodes once over many runs, and the calls of one run. */
import assert from "node:assert/strict";
import { callGraphOf, MAX_CALL_NODES } from "../../../runtime/trace-ui/model/call-graph.js";
import { firstPlace, type Label, nearestLine, placeLabels, samplesOf } from "../../../runtime/trace-ui/model/edge-lines.js";
import { graphOf, MAX_GRAPH_NODES, type Point } from "../../../runtime/trace-ui/model/graph.js";
import { SpanStore } from "../../../runtime/trace-ui/model/spans.js";
import { buildTree } from "../../../runtime/trace-ui/model/tree.js";
import type { Step, Topology, TopologyNode } from "../../../runtime/trace-ui/model/types.js";
import { scopeParams } from "../../../runtime/trace-ui/model/scope.js";
import { suite } from "../../lib/suite.js";

const test = suite("trace ui: graph");

const node = (id: string, more: Partial<TopologyNode> = {}): TopologyNode => ({ id, name: id.slice(id.indexOf(":") + 1), type: id.slice(0, id.indexOf(":")) as TopologyNode["type"], source: null, invocation_count: 1, error_count: 0, total_duration_ms: 1, avg_duration_ms: 1, p99_duration_ms: null, last_seen: null, p50_duration_ms: 1, p95_duration_ms: 2, ...more });
const edge = (source: string, target: string): Topology["edges"][number] => ({ source, target, count: 3, last_seen: null, error_count: 1, p50_duration_ms: 5, p95_duration_ms: 9 });
const topology = (nodes: readonly TopologyNode[], edges: Topology["edges"] = []): Topology => ({ nodes: [...nodes], edges, counted_runs: 1, total_runs: 1 });

test("servers are groups of their tools, in an order that does not depend on the answer", () => {
  const nodes = [node("tool:t", { source: "shop" }), node("mcp:shop", { source: "shop" }), node("agent:a")];
  const edges = [edge("agent:a", "tool:t"), edge("agent:a", "mcp:shop")];
  const graph = graphOf(topology(nodes, edges));
  assert.deepEqual([graph.nodes.map((item) => [item.id, item.group]), graph.groups], [[["agent:a", null], ["tool:t", "shop"]], ["shop"]]);
  assert.deepEqual(graph.edges, [{ source: "agent:a", target: "tool:t", count: 3, errors: 1, p50: 5, p95: 9 }]);
  assert.deepEqual(graphOf(topology([...nodes].reverse(), [...edges].reverse())), graph);
  const many = graphOf(topology(Array.from({ length: 5000 }, (_, index) => node(`tool:t${index}`))));
  assert.deepEqual([many.nodes.length, many.left], [MAX_GRAPH_NODES, 5000 - MAX_GRAPH_NODES]);
});

const LINE = [{ x: 0, y: 0 }, { x: 300, y: 0 }];
const label = (points: readonly Point[], more: Partial<Label> = {}): Label => ({ samples: samplesOf(points), above: "× 820 1 failed", below: "120 ms", alone: false, ...more });

test("the samples of a line are on what is drawn, from its start to its end", () => {
  for (const points of [LINE, [{ x: 0, y: 0 }, { x: 300, y: 120 }], [{ x: 0, y: 0 }, { x: 100, y: 0 }, { x: 200, y: 100 }, { x: 300, y: 100 }]]) {
    const samples = samplesOf(points);
    assert.deepEqual([samples[0], samples.at(-1)], [points[0], points.at(-1)]);
    assert.ok(samples.length >= 8);
    samples.forEach(({ x }, index) => assert.ok(index === 0 || x > (samples[index - 1]?.x ?? 0), "left to right"));
  }
  assert.deepEqual(samplesOf([{ x: 0, y: 0 }, { x: 300, y: 120 }])[6], { x: 150, y: 60 });
});

test("texts of edges cover neither each other nor a node", () => {
  const fan = Array.from({ length: 8 }, (_, index) => label([{ x: 0, y: 200 }, { x: 300, y: index * 56 }], { alone: true }));
  const hub = { left: -100, right: 0, top: 178, bottom: 222 };
  const places = placeLabels(fan, [hub]);
  const shown = places.filter((place) => place !== null);
  assert.equal(shown.length, 8, "there is room for all of them");
  for (const [index, a] of shown.entries()) for (const b of shown.slice(index + 1)) assert.ok(Math.abs(a.y - b.y) >= 32 || Math.abs(a.x - b.x) >= 80, `${JSON.stringify(a)} ${JSON.stringify(b)}`);
});

test("a text without room is left out, the less important one first", () => {
  const places = placeLabels(Array.from({ length: 40 }, () => label(LINE)), []);
  assert.notEqual(places[0], null);
  assert.ok(places.filter((place) => place === null).length > 30);
  assert.deepEqual(placeLabels([label(LINE)], [{ left: -50, right: 350, top: -50, bottom: 50 }]), [null]);
  assert.notEqual(firstPlace(label(LINE)), null, "what is chosen has its text all the same");
});

test("the line under the pointer is the nearest one, within its reach", () => {
  const lines = [samplesOf(LINE), samplesOf([{ x: 0, y: 10 }, { x: 300, y: 10 }])];
  assert.deepEqual([nearestLine(lines, { x: 150, y: 2 }, 7), nearestLine(lines, { x: 150, y: 9 }, 7), nearestLine(lines, { x: 150, y: 18 }, 7), nearestLine([], { x: 0, y: 0 }, 7)], [0, 1, -1, -1]);
});

type Call = readonly [id: string, parent: string | null, name: string, ms: number | null, failed?: boolean];

function graphOfCalls(calls: readonly Call[]) {
  const store = new SpanStore();
  let seq = 0;
  const steps = calls.flatMap(([id, parent, name, ms, failed], index) => {
    const common = { run_id: id, parent_run_id: parent, root_run_id: "r", agent_name: name, tool_name: null, mcp_server: null, summary: "", blob_path: null, token_input: null, token_output: null, node: `chain:${name}`, model: null, cost_usd: null, payload_bytes: null, attributes: null };
    const at = (offset: number): string => new Date(1_700_000_000_000 + index * 10 + offset).toISOString();
    const start = { ...common, event_id: `${id}-s`, event_type: "chain_start", timestamp: at(0), duration_ms: null, error_message: null, seq: ++seq };
    return ms === null ? [start] : [start, { ...common, event_id: `${id}-e`, event_type: failed === true ? "chain_error" : "chain_end", timestamp: at(ms), duration_ms: ms, error_message: failed === true ? "no" : null, seq: ++seq }];
  });
  store.add(steps as unknown as Step[]);
  return callGraphOf(buildTree(store.spans, (id) => store.primary(id)));
}

test("each call is a node below the one that made it, also twice the same name", () => {
  const graph = graphOfCalls([["r", null, "top", 100], ["a", "r", "work", 5], ["b", "r", "work", 7, true], ["c", "b", "deep", null]]);
  assert.deepEqual(graph.nodes.map(({ name, calls, errors, p50 }) => [name, calls, errors, p50]), [["top", 1, 0, 100], ["work", 1, 0, 5], ["work", 1, 1, 7], ["deep", 1, 0, null]]);
  const [top, , failed, deep] = graph.nodes;
  assert.deepEqual(graph.edges.map(({ source, target }) => [source, target]), [[top?.id, graph.nodes[1]?.id], [top?.id, failed?.id], [failed?.id, deep?.id]]);
});

test("many calls alike below one call are one node with their number and percentiles, and so is what they called", () => {
  const workers = Array.from({ length: 20 }, (_, index): readonly Call[] => [[`w${index}`, "r", "worker", index + 1, index === 3], [`f${index}`, `w${index}`, "fetch", 1]]).flat();
  const graph = graphOfCalls([["r", null, "top", 100], ...workers]);
  assert.deepEqual(graph.nodes.map(({ name, calls, errors, p50, p95 }) => [name, calls, errors, p50, p95]), [["top", 1, 0, 100, 100], ["worker", 20, 1, 10, 19], ["fetch", 20, 0, 1, 1]]);
  assert.deepEqual(graph.edges.map(({ count }) => count), [20, 20]);
  assert.equal(graph.calls.get(graph.nodes[1]?.id ?? "")?.length, 20);
});

test("a run with too many calls is grouped more, and cut at the deepest", () => {
  const wide = Array.from({ length: 900 }, (_, index): Call => [`n${index}`, "r", `name ${index % 450}`, 1]);
  const graph = graphOfCalls([["r", null, "top", 100], ...wide]);
  assert.equal(graph.nodes.length, MAX_CALL_NODES);
  assert.equal(graph.left, 51);
  const fits = graphOfCalls([["r", null, "top", 100], ...wide.filter((_, index) => index % 450 < 300)]);
  assert.deepEqual([fits.nodes.length, fits.left], [301, 0]);
});

test("a scope of minutes is a moment for the service, everything else is sent as it is", () => {
  assert.deepEqual(scopeParams("minutes:60", Date.UTC(2026, 0, 1, 10, 30, 59)), { scope: "all", from: "2026-01-01T09:30:00.000Z" });
  for (const scope of ["all", "run:minutes:60", "name:minutes:60", "last_n:5", "minutes:0", "minutes:x"]) assert.deepEqual(scopeParams(scope, 0), { scope });
});

test.run();
