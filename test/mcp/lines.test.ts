/** The channel of lines under stdio, with a reader that is behind. */
import * as assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { openLines } from "../../runtime/transport/stdio.js";
import { suite } from "../lib/suite.js";

const test = suite("lines");

test("reading waits for a reader that is behind, with one listener however much is sent, and goes on with it", async () => {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 16 });
  const read: string[] = [];
  const lines = openLines({ input, output, maxLineBytes: 1000, onLine: (line) => void read.push(line), onBadLine: () => assert.fail("no bad line was sent"), onEnd: () => undefined });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  input.write("one\n");
  await turn();
  const before = output.listenerCount("drain");
  for (let sent = 0; sent < 50; sent++) lines.send(`answer ${sent}`);
  assert.equal(output.listenerCount("drain"), before + 1);
  input.write("two\n");
  await turn();
  assert.deepEqual(read, ["one"]);
  const received = new Promise<string>((resolve) => {
    let text = "";
    output.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("answer 49\n")) resolve(text);
    });
  });
  assert.equal((await received).split("\n").length, 51);
  await turn();
  assert.deepEqual(read, ["one", "two"]);
});

test.run();
