/** What is parsed of a message: all that a client sends, and nothing that keeps the server busy for seconds. */
import assert from "node:assert/strict";
import { parseJson, TOO_INTRICATE } from "../../runtime/base/parse-json.js";
import { resolveTarget, RUN_TOOL } from "../../runtime/call/meta-tools.js";
import { suite } from "../lib/suite.js";

const test = suite("base: text of a client as JSON");

const call = (args: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":${args}}}`;
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const names = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"name_${index}":1`).join(",")}}`;

test("a large message with more names, values or levels than any client sends is refused before it is parsed", () => {
  for (const args of [nested(1_000_000), `{"x":${nested(40_000)}}`, names(10_001), `[${"1,".repeat(100_001)}1]`, "[".repeat(4_000_000)]) {
    assert.equal(parseJson(call(args)), TOO_INTRICATE, args.slice(0, 30));
  }
});

test("texts may hold any brackets, colons, quotes and backslashes", () => {
  for (const text of ["[{:,".repeat(100_000), '"'.repeat(100_000), "\\".repeat(100_001), '\\"[{'.repeat(100_000)]) {
    assert.deepEqual(parseJson(call(JSON.stringify({ query: text }))), { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t", arguments: { query: text } } });
  }
});

test("a message that is large and plain is parsed, and so is a small one whatever is in it", () => {
  const rows = Array.from({ length: 90_000 }, (_, index) => index);
  assert.deepEqual((parseJson(JSON.stringify(rows)) as readonly unknown[]).length, 90_000);
  assert.ok(Array.isArray(parseJson(nested(1_000))));
});

test("the text in which run_tool takes arguments is looked over, too", () => {
  assert.equal(resolveTarget(RUN_TOOL, { name: "t", arguments: names(10) }).name, "t");
  assert.equal(resolveTarget(RUN_TOOL, { name: "t", arguments: names(10_001) }).name, RUN_TOOL, "no call of the tool");
});

test("what is not JSON has no value, however large", () => {
  for (const text of ["", "{", `"${"x".repeat(100_000)}`, `{"a": ${" ".repeat(100_000)}`]) assert.equal(parseJson(text), undefined);
});

test.run();
