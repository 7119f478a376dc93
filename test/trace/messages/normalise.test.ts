/**
 * The message normaliser over payloads that SDKs made: each file of corpus/ says which SDK and call, the payload as the
 * service stores it, and the messages that must come of it. UPDATE=1 writes `messages` and `preview` anew: read the diff.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Json, Message } from "../../../runtime/trace/messages/message.js";
import { conversation, type Hints, normalise } from "../../../runtime/trace/messages/normalise.js";
import { answerOf, questionOf, readableText } from "../../../runtime/trace/messages/preview.js";
import { repo } from "../../lib/repo.js";
import { suite } from "../../lib/suite.js";

const test = suite("trace: messages");
const CORPUS = repo("test", "trace", "messages", "corpus");

interface Case extends Hints {
  readonly source: string;
  readonly payload: Json;
  readonly preview?: string | null;
  readonly messages?: readonly Partial<Message>[];
}

/** A message without its empty fields, so that the files stay readable. */
function brief(message: Message): Partial<Message> {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0)));
}

const files = readdirSync(CORPUS).filter((file) => file.endsWith(".json"));

for (const file of files) {
  const path = `${CORPUS}/${file}`;
  const given = JSON.parse(readFileSync(path, "utf8")) as Case;
  test(`${file}: ${given.source}`, () => {
    const messages = normalise(given.payload, given).map(brief);
    const preview = (given.side === "input" ? questionOf : answerOf)(JSON.stringify(given.payload), given.kind);
    if (process.env["UPDATE"] === "1") {
      writeFileSync(path, `${JSON.stringify({ source: given.source, side: given.side, kind: given.kind, payload: given.payload, preview, messages }, null, 1)}\n`);
      return;
    }
    assert.deepEqual(messages, given.messages);
    assert.equal(preview, given.preview);
  });
}

test("the corpus holds 25 shapes or more of 8 frameworks or more", () => {
  const packages = new Set(files.map((file) => (JSON.parse(readFileSync(`${CORPUS}/${file}`, "utf8")) as Case).source.split(" ")[0]));
  assert.ok(files.length >= 25 && packages.size >= 8, `${files.length} shapes of ${packages.size} packages`);
});

test("no message keeps a wrapper of its framework", () => {
  for (const file of files) {
    const given = JSON.parse(readFileSync(`${CORPUS}/${file}`, "utf8")) as Case;
    const text = JSON.stringify(normalise(given.payload, given));
    assert.doesNotMatch(text, /"(lc|kwargs|constructor|message_content|additional_kwargs|part_kind)"/, file);
    assert.doesNotMatch(text, /"role":"unknown"/, file);
  }
});

const LLM_IN: Hints = { side: "input", kind: "llm" };

test("what no table knows stays as it came", () => {
  const strange = { type: "hologram", data: [1, 2] };
  const [message] = normalise({ messages: [{ role: "user", content: [{ type: "text", text: "look" }, strange] }] }, LLM_IN);
  assert.equal(message?.text, "look");
  assert.deepEqual(message?.other, [strange]);
  for (const payload of [{ order: 4711 }, [1, 2, 3], "plain", 7, null, { messages: 3 }, { messages: [] }, { messages: [{ a: 1 }] }]) {
    assert.deepEqual(conversation(payload, { side: "output", kind: "tool" }), { messages: [], rest: payload });
  }
});

test("arguments of a tool are never messages", () => {
  assert.deepEqual(normalise({ input: { messages: [{ role: "user", content: "hi" }] } }, { side: "input", kind: "tool" }), []);
});

test("a message that isn't what its shape claims breaks nothing", () => {
  const hostile: readonly Json[] = [
    { messages: [{ role: "user", content: 7 }, { role: 5, content: {} }, null, [], "text", { role: "assistant", tool_calls: "none" }, { role: "assistant", content: null, tool_calls: [null, 4, {}, { function: null }] }] },
    { choices: [{ message: null }, { message: [] }, 4] },
    { lc: 1, type: "constructor", id: [], kwargs: {} },
    { lc: 1, type: "constructor", id: [null], kwargs: { content: { lc: 1 } } },
    { messages: [{ role: "user", content: [{ type: "image_url" }, { type: "tool_use" }, { type: "tool_result" }, { type: "thinking" }, { type: "__proto__" }, { type: "constructor", text: "x" }] }] },
    JSON.parse('{"__proto__": {"messages": [{"role": "user", "content": "x"}]}, "constructor": {"messages": []}}') as Json,
    { contents: [{ parts: [{ functionCall: 3 }, { functionResponse: [] }, { inlineData: null }] }] },
    { generations: [[[[[[[[[[[{ text: "deep" }]]]]]]]]]]] },
  ];
  for (const payload of hostile) {
    for (const side of ["input", "output"] as const) for (const kind of ["llm", "chain", "tool", "retriever"] as const) {
      for (const message of normalise(payload, { side, kind })) {
        assert.equal(typeof message.role, "string");
        assert.equal(typeof message.text, "string");
        assert.ok(message.tool_calls.every((call) => typeof call.name === "string"));
      }
      readableText(payload, { side, kind });
    }
  }
});

test("nesting without end and megabytes of text end soon", () => {
  let nested: Json = { role: "user", content: "x" };
  for (let level = 0; level < 20_000; level++) nested = level % 2 === 0 ? { messages: [nested] } : { outputs: nested };
  const started = performance.now();
  normalise(nested, LLM_IN);
  readableText(nested, LLM_IN);
  let content: Json = "x";
  for (let level = 0; level < 20_000; level++) content = [content];
  normalise({ messages: [{ role: "user", content }] }, LLM_IN);
  const long = "a".repeat(5_000_000);
  assert.equal(normalise({ messages: [{ role: "user", content: long }] }, LLM_IN)[0]?.text.length, long.length);
  assert.equal(questionOf(JSON.stringify({ question: long }), "chain"), null);
  assert.ok(performance.now() - started < 1000, `${Math.round(performance.now() - started)} ms`);
});

test("a preview is the last thing the user said, the final answer, or the value under a known key, on one line", () => {
  const question = (payload: Json): string | null => questionOf(JSON.stringify(payload), "chain");
  const answer = (payload: Json): string | null => answerOf(JSON.stringify(payload), "chain");
  assert.equal(question({ messages: [{ role: "user", content: "first" }, { role: "assistant", content: "ok" }, { role: "user", content: "second\n\tline" }] }), "second line");
  assert.equal(question({ inputs: { question: "Where is my order?", depth: 3 } }), "Where is my order?");
  assert.equal(question({ input: "plain" }), "plain");
  assert.equal(question({ inputs: '{"topic": "cats"}' }), "cats");
  assert.equal(question({ order: 4711 }), null);
  assert.equal(answer({ outputs: { answer: "In Oslo.", score: 1 } }), "In Oslo.");
  assert.equal(answer({ output: { messages: [{ role: "assistant", content: "checking", tool_calls: [{ name: "x", args: {} }] }, { role: "tool", content: "4" }, { role: "assistant", content: "It is 4." }] } }), "It is 4.");
  assert.equal([...(question({ question: "😀".repeat(500) }) ?? "")].length, 200);
});

test("JSON in a call's arguments is parsed, text that is no JSON stays", () => {
  const calls = (args: string): Json => normalise({ messages: [{ role: "assistant", content: null, tool_calls: [{ id: "1", function: { name: "f", arguments: args } }] }] }, LLM_IN)[0]?.tool_calls[0]?.arguments ?? null;
  assert.deepEqual(calls('{"a": 1}'), { a: 1 });
  assert.equal(calls('{"a": 1'), '{"a": 1');
});

test("readable text has the words of a payload and none of its wrappers", () => {
  const given = JSON.parse(readFileSync(`${CORPUS}/langchain-constructors.json`, "utf8")) as Case;
  const text = readableText(given.payload, given);
  assert.match(text, /user: What is the weather in Oslo\?[^]*get_weather\(\{"city":"Oslo"\}\)[^]*get_weather: 4 °C, rain/);
  assert.doesNotMatch(text, /constructor|kwargs|schema/);
});

test.run();
