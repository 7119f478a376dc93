/** JSON text that is written piece by piece. */
import assert from "node:assert/strict";
import { JsonWriter } from "../../runtime/base/json-writer.js";
import { suite } from "../lib/suite.js";

const test = suite("base/json-writer");

const TEXTS = [
  "", "plain", 'a "quoted" one', "back\\slash", "line\nfeed \u0000 \u001f \u007f", "é", "日本", "😀", "\ud800 half", "half \udc00", "\u2028\u2029",
  "x".repeat(128), "x".repeat(129), `${"x".repeat(127)}"`, "é".repeat(200), `${"x".repeat(5000)}😀"`,
];

test("every text is quoted as JSON.stringify quotes it", () => {
  const writer = new JsonWriter();
  for (const text of TEXTS) {
    writer.clear();
    writer.quoted(text);
    assert.equal(writer.text(), JSON.stringify(text), JSON.stringify(text).slice(0, 40));
  }
});

test("texts that follow each other are each whole, whatever was before", () => {
  const writer = new JsonWriter();
  for (const first of TEXTS) {
    for (const second of TEXTS) {
      writer.clear();
      writer.json("[");
      writer.quoted(first);
      writer.json(",");
      writer.quoted(second);
      writer.json("]");
      assert.deepEqual(JSON.parse(writer.text()), JSON.parse(JSON.stringify([first, second])));
    }
  }
});

test.run();
