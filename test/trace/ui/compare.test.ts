/** Differences of texts and of runs, without a browser. */
import assert from "node:assert/strict";
import { deltasOf, mismatchOf, onlyIn } from "../../../runtime/trace-ui/model/comparison.js";
import { diffLines, diffWords } from "../../../runtime/trace-ui/model/diff.js";
import { stepDeltas, type StepSide, stepWarnings, textChanges, toolSetChange, toolSetOf } from "../../../runtime/trace-ui/model/step-comparison.js";
import type { Span } from "../../../runtime/trace-ui/model/spans.js";
import type { Json } from "../../../runtime/trace/messages/message.js";
import type { ComparedRow, Comparison, Run } from "../../../runtime/trace-ui/model/types.js";
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

const side = (more: Partial<Span>, input: Json = null, output: Json = null): StepSide => ({ span: { id: "a", name: "m", kind: "llm", server: null, model: "x", state: "ok", error: null, durationMs: 5, tokensIn: 1, tokensOut: null, costUsd: null, ...more } as Span, input, output });

test("steps that should not be compared are said so", () => {
  const warned = (a: Partial<Span>, b: Partial<Span>): string => stepWarnings(side(a), side({ id: "b", ...b })).join(" | ");
  assert.equal(warned({}, {}), "");
  assert.match(warned({}, { id: "a" }), /same step/);
  assert.match(warned({}, { kind: "tool", name: "find" }), /can't be compared: one is a call of a model \(m\), the other of a tool \(find\)/);
  assert.match(warned({ kind: "tool", server: "s1" }, { kind: "tool", server: "s2" }), /different things \(s1\/m and s2\/m\)/);
  assert.match(warned({}, { model: "y" }), /models differ \(x and y\)/);
  assert.equal(warned({}, { model: null }), "");
  assert.match(warned({ state: "open" }, {}), /without an end/);
});

test("sums of steps are shown where one of them has them", () => {
  assert.deepEqual(stepDeltas(side({}), side({ tokensOut: 3 })).map(({ term, a, b }) => [term, a, b]), [["Duration", 5, 5], ["Tokens in", 1, 1], ["Tokens out", null, 3]]);
});

test("chats are compared as prompt and answer, everything else as data, and errors beside", () => {
  const ask = (text: string): Json => ({ messages: [{ role: "user", content: text }] });
  const titles = (a: StepSide, b: StepSide): readonly string[] => textChanges(a, b).map((change) => `${change.title}${change.same ? " =" : ""}`);
  assert.deepEqual(titles(side({}, ask("one")), side({}, ask("two"))), ["Prompt"]);
  assert.deepEqual(titles(side({ kind: "tool" }, { x: 1 }, { y: 1 }), side({ kind: "tool", error: "no" }, { x: 1 }, { y: 2 })), ["Input =", "Output", "Error"]);
  assert.deepEqual(titles(side({}), side({})), []);
  const long = Array.from({ length: 100_000 }, (_, index) => `word${index}`).join(" ");
  assert.deepEqual(textChanges(side({}, ask(long)), side({}, ask(`x ${long}`))).map(({ parts }) => parts.map((part) => part.kind)), [["same", "removed", "added"]], "by lines: words would take too long");
});

test("offered tools are found wherever a framework puts them, and deep or wide payloads end the search", () => {
  const table: readonly (readonly [Json, readonly string[]])[] = [
    [{ tools: [{ type: "function", function: { name: "b" } }, { name: "a", input_schema: {} }] }, ["a", "b"]],
    [{ kwargs: { invocation_params: { functions: [{ name: "f" }, "plain"] } } }, ["f", "plain"]],
    [{ config: { tools: [{ functionDeclarations: [{ name: "g" }] }] } }, ["g"]],
    [{ tools: "none", messages: [{ tools: [null, 1, [], { name: 5 }] }] }, []], [null, []], ["tools", []],
  ];
  for (const [input, wanted] of table) assert.deepEqual(toolSetOf(input), wanted);
  let deep: Json = { tools: [{ name: "x" }] };
  for (let level = 0; level < 10_000; level++) deep = [deep];
  assert.deepEqual(toolSetOf(deep), []);
  assert.deepEqual(toolSetOf(Array.from({ length: 200_000 }, (_, index) => ({ index }))), []);
  assert.deepEqual(toolSetChange(side({}, { tools: ["a", "b"] }), side({}, { tools: ["b", "c"] })), { both: ["b"], onlyA: ["a"], onlyB: ["c"] });
  assert.equal(toolSetChange(side({}), side({})), null);
});

test.run();
