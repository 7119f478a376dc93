/** What a run was asked and answered, as a whole: which payload it is in, and that it is the text of the line. */
import assert from "node:assert/strict";
import { answerOf, questionOf } from "../../../runtime/trace/messages/preview.js";
import type { Json } from "../../../runtime/trace-ui/model/payload.js";
import { isCutShort, saidSources, wholeText } from "../../../runtime/trace-ui/model/said.js";
import { SpanStore } from "../../../runtime/trace-ui/model/spans.js";
import { buildTree } from "../../../runtime/trace-ui/model/tree.js";
import type { EventType, Step } from "../../../runtime/trace-ui/model/types.js";
import { suite } from "../../lib/suite.js";

const test = suite("trace ui: said");

const LONG = `Where is **my order**?\n\n1. It was due on Monday.\n2. ${"Nobody answers. ".repeat(30)}`;

for (const [name, payload] of [
  ["messages", { messages: [{ role: "system", content: "be kind" }, { role: "user", content: LONG }] }],
  ["a known key", { inputs: { question: LONG } }],
] as const satisfies readonly (readonly [string, Json])[]) {
  test(`the line of a long question in ${name} opens to all of it`, () => {
    const line = questionOf(JSON.stringify(payload), "chain");
    assert.ok(line !== null && isCutShort(line) && line.length <= 200);
    assert.equal(wholeText(payload, "input", "chain", line), LONG);
  });
}

test("the line of a long answer opens to all of it", () => {
  const payload = { choices: [{ message: { role: "assistant", content: LONG } }] };
  const line = answerOf(JSON.stringify(payload), "llm");
  assert.ok(line !== null);
  assert.equal(wholeText(payload, "output", "llm", line), LONG);
});

test("a payload with another text is not taken for it", () => {
  const line = questionOf(JSON.stringify({ question: LONG }), "chain");
  assert.ok(line !== null);
  for (const other of [{ question: "another" }, {}, null, [], "text", 5]) assert.equal(wholeText(other, "input", "chain", line), null);
});

test("a short line has nothing more to show", () => assert.deepEqual(["hello", "x".repeat(101), "x…"].map(isCutShort), [false, true, true]));

function step(seq: number, event_type: EventType, run_id: string, blob: boolean): Step {
  return {
    event_id: `e${seq}`, run_id, parent_run_id: run_id === "r" ? null : "r", root_run_id: "r", event_type, timestamp: new Date(1_700_000_000_000 + seq).toISOString(), agent_name: run_id, tool_name: null, mcp_server: null, summary: "",
    blob_path: blob ? "x" : null, duration_ms: null, token_input: null, token_output: null, error_message: null, seq, node: null, model: null, cost_usd: null, payload_bytes: null, attributes: null,
  };
}

test("it is looked for where the service found it: in the root, then in the first model that was asked and the last that answered", () => {
  const store = new SpanStore();
  store.add([
    step(1, "chain_start", "r", true), step(2, "chat_model_start", "m1", true), step(3, "llm_end", "m1", true), step(4, "chat_model_start", "m2", true), step(5, "llm_end", "m2", true), step(6, "chat_model_start", "m3", false), step(7, "chain_end", "r", false),
  ]);
  const tree = buildTree(store.spans, (id) => store.primary(id));
  assert.deepEqual(saidSources(tree, "input").map(({ step: { event_id }, kind }) => [event_id, kind]), [["e1", "chain"], ["e2", "llm"], ["e4", "llm"]]);
  assert.deepEqual(saidSources(tree, "output").map(({ step: { event_id }, kind }) => [event_id, kind]), [["e5", "llm"], ["e3", "llm"]]);
});

test.run();
