/** Protocol versions that the handshake does not have: refused by default, answered with the newest one on request. */
import assert from "node:assert/strict";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Lines, start, type Json } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("negotiation of the protocol version");
const here = fileURLToPath(import.meta.url);
const fixture = join(here, `../fixture-server${extname(here)}`);

/** Answers of a server on stdio to initialize with each of the versions, and what it logged. */
async function answersTo(versions: readonly unknown[], flags: readonly string[]): Promise<{ readonly answers: readonly Json[]; readonly log: string }> {
  const served = start(fixture, flags);
  const lines = new Lines(served);
  const answers: Json[] = [];
  for (const [id, protocolVersion] of versions.entries()) {
    answers.push(await lines.ask(id, "initialize", { ...(protocolVersion === undefined ? {} : { protocolVersion }), capabilities: {}, clientInfo: { name: "host", version: "9.1" } }));
  }
  lines.end();
  await served.ended;
  return { answers, log: served.stderr() };
}

const codeOf = (answer: Json | undefined): number | undefined => (answer?.["error"] as { readonly code: number } | undefined)?.code;
const versionOf = (answer: Json | undefined): string | undefined => (answer?.["result"] as { readonly protocolVersion: string } | undefined)?.protocolVersion;
const LATER = ["2026-07-28", "2099-01-01"];
const NEVER = [undefined, null, 5, "", "2024-01-01", "newest", "2099", "9999-99-99x"];

test("a version that is not supported is refused with -32022, and the log names client, version and the way out", async () => {
  const { answers, log } = await answersTo([...LATER, ...NEVER], []);
  assert.deepEqual(answers.map(codeOf), answers.map(() => -32022));
  assert.match(log, /WARN a client was turned away for its protocol version client="host 9\.1" requested=2026-07-28 .*advice="start the server with --negotiate to answer with 2025-11-25"/);
  assert.equal(log.split("--negotiate").length - 1, LATER.length);
}, { timeoutMs: 30_000 });

test("with --negotiate a later version is answered with the newest of the handshake, and nothing else is", async () => {
  const { answers } = await answersTo([...LATER, ...NEVER], ["--negotiate"]);
  assert.deepEqual(answers.slice(0, LATER.length).map(versionOf), ["2025-11-25", "2025-11-25"]);
  assert.deepEqual(answers.slice(LATER.length).map(codeOf), NEVER.map(() => -32022));
}, { timeoutMs: 30_000 });

test("with --negotiate a version of the handshake is echoed as before", async () => {
  const { answers } = await answersTo(["2024-11-05", "2025-06-18"], ["--negotiate"]);
  assert.deepEqual(answers.map(versionOf), ["2024-11-05", "2025-06-18"]);
}, { timeoutMs: 30_000 });

test.run();
