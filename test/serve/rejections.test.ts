/** Promises that fail after the call that made them has ended: a server writes them down and goes on. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Program } from "../../runtime/abi/call.js";
import { run } from "../../runtime/serve/main.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "../mcp/program.js";

const test = suite("serve/rejections");
const here = fileURLToPath(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "toolsrv-rejections-"));
test.after(() => rmSync(folder, { recursive: true }));

const INITIALIZE = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } } })}\n`;
const LATE = "4 DEADLINE_EXCEEDED: Deadline exceeded after 30.001s";

test("a promise that fails and that nobody waits for is logged without credentials, and the next message is answered", async () => {
  writeFileSync(join(folder, "store.env"), "TOKEN=live-secret\n");
  const program: Program = { ...fixtureProgram(), connections: { main: { backend: "milvus", settings: { uri: "http://127.0.0.1:1", token: { $env: "TOKEN" } } } } };
  const notes: string[] = [];
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let listening: (listen: (reason: unknown) => void) => void = () => undefined;
  const taken = new Promise<(reason: unknown) => void>((resolve) => (listening = resolve));
  const io = { stdin, takeStdout: () => stdout, takeRejections: listening, print: () => undefined, note: (text: string) => void notes.push(text), stop: new AbortController().signal, environment: {}, now: () => performance.now() };
  const ended = run([{ name: "tools", program }], ["--env", join(folder, "store.env")], io);
  const reject = await taken;
  reject(new Error(`${LATE}, metadata live-secret`));
  stdin.write(INITIALIZE);
  const [answer] = (await once(stdout, "data")) as [Buffer];
  assert.match(String(answer), /"id":1,"result"/);
  stdin.end();
  assert.equal(await ended, 0);
  const said = notes.join("");
  assert.match(said, /ERROR a promise failed that nobody waits for; the server goes on/);
  assert.ok(said.includes(LATE) && !said.includes("live-secret"), said);
});

test("a server's process survives such a promise, also where its caller had decided to end with one", async () => {
  // Ends the process for such a promise, as the command line does, and makes one when the server has taken them over.
  const preload = join(folder, "preload.mjs");
  writeFileSync(preload, `
    const ends = () => process.exit(70);
    process.on("unhandledRejection", ends);
    const timer = setInterval(() => {
      const [taken] = process.listeners("unhandledRejection");
      if (taken === undefined || taken === ends) return;
      clearInterval(timer);
      Promise.reject(new Error(${JSON.stringify(LATE)}));
    }, 1);`);
  const child = spawn(process.execPath, ["--import", preload, ...process.execArgv, join(here, `../../mcp/fixture-server${extname(here)}`)], { stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  const ended = once(child, "close");
  await new Promise<void>((resolve) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      if (stderr.includes(LATE)) resolve();
    });
    void ended.then(() => resolve());
  });
  child.stdin.on("error", () => undefined).write(INITIALIZE);
  const [answer] = (await Promise.race([once(child.stdout, "data"), ended])) as [unknown];
  assert.match(String(answer), /"id":1,"result"/, stderr);
  child.stdin.end();
  assert.deepEqual(await ended, [0, null], stderr);
}, { timeoutMs: 20_000 });

test.run();
