/** Differences of texts and of runs, and the graph that is drawn, without a browser. */
import assert from "node:assert/strict";
import { deltasOf, mismatchOf, onlyIn } from "../../../runtime/trace-ui/model/comparison.js";
import { diffLines, diffWords } from "../../../runtime/trace-ui/model/diff.js";
import { graphOf, MAX_GRAPH_NODES } from "../../../runtime/trace-ui/model/graph.js";
import type { ComparedRow, Comparison, Run, TopologyNode } from "../../../runtime/trace-ui/model/types.js";
import { suite } from "../../lib/suite.js";

const test = suite("trace ui: compare");

const show = (parts: ReturnType<typeof diffWords>): string => parts.map(({ kind, text }) => (kind === "same" ? text : kind === "added" ? `{+${text}+}` : `[-${text}-]`)).join("");

test("texts differ by words, data by lines, and unlike texts are shown one after the other", () => {
  assert.equal(show(diffWords("the red bicycle is here", "the blue bicycle is here")), "the [-red-]{+blue+} bicycle is here");
  assert.equal(show(diffLines("a\nb\nc\n", "a\nx\nc\nd\n")), "a\n[-b\n-]{+x\n+}c\n{+d\n+}");
  assert.equal(show(diffWords("one two three four", "alpha two beta gamma delta")), "[-one two three four-]\n{+alpha two beta gamma delta+}");
  assert.equal(show(diffWords("", "new")), "{+new+}");
  assert.equal(show(diffWords("same", "same")), "same");
  const long = Array.from({ length: 60_000 }, (_, index) => `${index % 7}`).join("\n");
  const started = performance.now();
  diffLines(long, `x\n${long}\ny`);
  diffLines(long, long.replaceAll("3", "4"));
  assert.ok(performance.now() - started < 2000, `${Math.round(performance.now() - started)} ms`);
});

const run = (more: Partial<Run>): Run => ({ run_id: "a", root_run_id: "a", name: "agent", status: "completed", duration_ms: 10, errors: 0, cost_usd: null, total_steps: 2, total_tokens_input: 1, total_tokens_output: 1, ...more }) as Run;
const row = (a: string | null, b: string | null): ComparedRow => ({ change: a === null ? "only_b" : b === null ? "only_a" : "same", depth: 0, a: a === null ? null : ({ node: a } as ComparedRow["a"]), b: b === null ? null : ({ node: b } as ComparedRow["b"]) });
const comparison = (more: Partial<Comparison>): Comparison => ({ a: run({}), b: run({ run_id: "b" }), rows: [], truncated: false, ...more });

test("runs that should not be compared are said so", () => {
  assert.equal(mismatchOf(comparison({})), null);
  assert.match(mismatchOf(comparison({ b: run({ run_id: "b", name: "other" }) })) ?? "", /different names \(agent and other\)/);
  assert.match(mismatchOf(comparison({ b: run({}) })) ?? "", /same run/);
  assert.match(mismatchOf(comparison({ b: run({ run_id: "b", status: "running" }) })) ?? "", /still running/);
  assert.match(mismatchOf(comparison({ rows: [row("x", null), row("y", null), row(null, "z"), row(null, "w"), row(null, "v")] })) ?? "", /few calls in common/);
  assert.match(mismatchOf(comparison({ truncated: true })) ?? "", /first 2,000 calls/);
});

test("tools that only one run called are named with their number", () => {
  const rows = [row("tool:a", "tool:a"), row("tool:b", null), row("tool:b", null), row(null, "tool:c")];
  assert.deepEqual([onlyIn(comparison({ rows }), "a"), onlyIn(comparison({ rows }), "b")], [[["tool:b", 2]], [["tool:c", 1]]]);
  assert.deepEqual(deltasOf(comparison({})).map((delta) => delta.term), ["Duration", "Calls", "Errors", "Tokens in", "Tokens out", "Cost"]);
});

test("servers are groups of their tools, in an order that does not depend on the answer", () => {
  const node = (id: string, more: Partial<TopologyNode> = {}): TopologyNode => ({ id, name: id.slice(id.indexOf(":") + 1), type: id.slice(0, id.indexOf(":")) as TopologyNode["type"], source: null, invocation_count: 1, error_count: 0, total_duration_ms: 1, avg_duration_ms: 1, p99_duration_ms: null, last_seen: null, ...more });
  const nodes = [node("tool:t", { source: "shop" }), node("mcp:shop", { source: "shop" }), node("agent:a")];
  const edges = [{ source: "agent:a", target: "tool:t", count: 3, last_seen: null }, { source: "agent:a", target: "mcp:shop", count: 3, last_seen: null }];
  const graph = graphOf({ nodes, edges });
  assert.deepEqual([graph.nodes.map((item) => [item.node.id, item.group]), graph.edges.length, graph.groups], [[["agent:a", null], ["tool:t", "shop"]], 1, ["shop"]]);
  assert.deepEqual(graphOf({ nodes: [...nodes].reverse(), edges: [...edges].reverse() }), graph);
  assert.equal(graphOf({ nodes: Array.from({ length: 5000 }, (_, index) => node(`tool:t${index}`)), edges: [] }).nodes.length, MAX_GRAPH_NODES);
});

test.run();
