/** What is parsed of a message: all that a client sends, and nothing that keeps the server busy for seconds. */
import assert from "node:assert/strict";
import { parseMessage, TOO_INTRICATE } from "../../runtime/mcp/parse-message.js";
import { suite } from "../lib/suite.js";

const test = suite("mcp: the text of a message");

const call = (args: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":${args}}}`;
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const names = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"name_${index}":1`).join(",")}}`;

test("a large message with more names, values or levels than any client sends is refused before it is parsed", () => {
  for (const args of [nested(1_000_000), `{"x":${nested(40_000)}}`, names(10_001), `[${"1,".repeat(100_001)}1]`, "[".repeat(4_000_000)]) {
    assert.equal(parseMessage(call(args)), TOO_INTRICATE, args.slice(0, 30));
  }
});

test("texts may hold any brackets, colons, quotes and backslashes", () => {
  for (const text of ["[{:,".repeat(100_000), '"'.repeat(100_000), "\\".repeat(100_001), '\\"[{'.repeat(100_000)]) {
    assert.deepEqual(parseMessage(call(JSON.stringify({ query: text }))), { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t", arguments: { query: text } } });
  }
});

test("a message that is large and plain is parsed, and so is a small one whatever is in it", () => {
  const rows = Array.from({ length: 90_000 }, (_, index) => index);
  assert.deepEqual((parseMessage(JSON.stringify(rows)) as readonly unknown[]).length, 90_000);
  assert.ok(Array.isArray(parseMessage(nested(1_000))));
});

test("what is not JSON has no value, however large", () => {
  for (const text of ["", "{", `"${"x".repeat(100_000)}`, `{"a": ${" ".repeat(100_000)}`]) assert.equal(parseMessage(text), undefined);
});

test.run();
