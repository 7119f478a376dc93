import * as assert from "node:assert/strict";
import { FixedResult } from "../../runtime/mcp/answer.js";
import { bodyText } from "../../runtime/mcp/dispatch.js";
import { errorText, readMessage, resultText } from "../../runtime/mcp/jsonrpc.js";
import { suite } from "../lib/suite.js";

const test = suite("jsonrpc");

const parse = (text: string) => readMessage(JSON.parse(text));

test("requests, notifications and responses are distinguished", () => {
  const table: readonly (readonly [string, string])[] = [
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', "request"],
    ['{"jsonrpc":"2.0","id":0,"method":"ping","params":{}}', "request"],
    ['{"jsonrpc":"2.0","id":"","method":"ping"}', "request"],
    ['{"jsonrpc":"2.0","id":-9007199254740991,"method":"ping"}', "request"],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', "notification"],
    ['{"jsonrpc":"2.0","method":"notifications/x","params":[1]}', "notification"],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', "response"],
    ['{"jsonrpc":"2.0","id":1,"error":{}}', "response"],
  ];
  for (const [text, kind] of table) assert.equal(parse(text).kind, kind, text);
});

test("what is no message is refused with the id where there is a usable one", () => {
  const table: readonly (readonly [string, number, string | number | null])[] = [
    ["null", -32600, null],
    ["1", -32600, null],
    ['"x"', -32600, null],
    ["[]", -32600, null],
    ["{}", -32600, null],
    ['{"id":7,"method":"ping"}', -32600, 7],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7],
    ['{"jsonrpc":"2.0","id":7}', -32600, 7],
    ['{"jsonrpc":"2.0","id":7,"method":1}', -32600, 7],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}', -32602, "a"],
    ['{"jsonrpc":"2.0","id":"a","method":"ping","params":null}', -32602, "a"],
  ];
  for (const [text, code, id] of table) {
    const message = parse(text);
    assert.equal(message.kind, "invalid", text);
    if (message.kind === "invalid") assert.deepEqual([message.code, message.id], [code, id], text);
  }
});

test("prototype keys are data and reach no prototype", () => {
  const message = parse('{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}');
  assert.equal(message.kind, "request");
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  assert.equal(parse('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}').kind, "invalid");
});

test("answers hold the id as it was sent", () => {
  assert.equal(resultText(1, "{}"), '{"jsonrpc":"2.0","id":1,"result":{}}');
  assert.equal(resultText('a"\n', "{}"), '{"jsonrpc":"2.0","id":"a\\"\\n","result":{}}');
  assert.equal(errorText(null, -32700, "m"), '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}');
});

test("a fixed result takes ids of any kind and length, one after the other", () => {
  const fixed = new FixedResult('{"text":"ä"}');
  for (const id of [1, 9007199254740991, -1, "", "b-7", "ä€😀", "x".repeat(42), "x".repeat(43), "y".repeat(5000), 2]) {
    const answered = fixed.answer(id);
    assert.deepEqual(JSON.parse(bodyText(answered)), { jsonrpc: "2.0", id, result: { text: "ä" } });
    assert.ok(bodyText(answered).startsWith('{"jsonrpc":"2.0","id":'));
  }
});

test.run();
