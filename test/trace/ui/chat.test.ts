/** The chat view and the data view of a call, without a browser. */
import assert from "node:assert/strict";
import type { Json } from "../../../runtime/trace/messages/message.js";
import { chatOf, isJoined } from "../../../runtime/trace-ui/model/chat.js";
import { jsonRows, searchJson, withParsedTexts } from "../../../runtime/trace-ui/model/payload.js";
import { suite } from "../../lib/suite.js";

const test = suite("trace ui: chat");

const user = (content: string): Json => ({ role: "user", content });
const calls = (id: string): Json => ({ role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }] });
const result = (id: string, content: string): Json => ({ role: "tool", tool_call_id: id, content });

test("of a turn only the new messages are open, and a call has its result by id", () => {
  const chat = chatOf({ messages: [user("one"), { role: "assistant", content: "1" }, user("two"), calls("c1"), calls("c2"), result("c2", "second"), result("c1", "first")] }, { choices: [{ message: { role: "assistant", content: "done" } }] }, "llm");
  assert.ok(chat !== null);
  assert.deepEqual(chat.earlier.map((message) => message.text || message.tool_calls[0]?.id), ["one", "1", "two", "c1"]);
  assert.equal(chat.fresh[0]?.tool_calls[0]?.id, "c2");
  assert.deepEqual([chat.results.get("c1")?.text, chat.results.get("c2")?.text], ["first", "second"]);
  assert.ok(chat.fresh.slice(1).every((message) => isJoined(message, chat)));
  assert.deepEqual(chat.output.map((message) => message.text), ["done"]);
});

test("a state that comes out again is shown once, with what was added to it", () => {
  const asked = [user("one"), { role: "assistant", content: "1" }, user("two")];
  const chat = chatOf({ messages: asked }, { outputs: { messages: [...asked, { role: "assistant", content: "2" }] } }, "chain");
  assert.deepEqual(chat?.output.map((message) => message.text), ["2"]);
});

test("a result whose call is unknown is a message of its own, and a call without messages is no chat", () => {
  const chat = chatOf({ messages: [result("lost", "x")] }, null, "llm");
  assert.ok(chat !== null && !isJoined(chat.fresh[0] ?? assert.fail(), chat));
  assert.equal(chatOf({ input: { order: 1 } }, { output: 7 }, "tool"), null);
});

test("JSON in a text is shown as what it says, and marked", () => {
  const { value, texts } = withParsedTexts(JSON.parse('{"a": "{\\"b\\": [1, \\"{}\\"]}", "__proto__": "[2]", "c": "{no"}') as Json);
  assert.equal(JSON.stringify(value), '{"a":{"b":[1,{}]},"__proto__":[2],"c":"{no"}');
  assert.deepEqual([...texts], ["\0a", "\0a\0b\x001", "\0__proto__"]);
});

test("a search in the data shows what contains the text and what leads there", () => {
  const value: Json = { orders: [{ id: 1, note: "blue bicycle" }, { id: 2, note: "red" }], bicycle: 7, other: { deep: { x: "none" } } };
  const { paths, found } = searchJson(value, "bicycle");
  assert.equal(found, 2);
  const rows = jsonRows(value, { toggled: new Set(), wide: new Set(), only: paths });
  assert.deepEqual(rows.map((row) => ("more" in row ? "more" : row.key)), [null, "orders", "0", "note", "bicycle"]);
  assert.equal(searchJson(value, "absent").found, 0);
});

test.run();
