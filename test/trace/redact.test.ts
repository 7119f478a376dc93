/** Secrets are taken out of every text of an event before it is queued. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { createIdSource } from "../../runtime/base/id-source.js";
import { readEvent } from "../../runtime/trace/ingest/event.js";
import { mayHoldSecret } from "../../runtime/trace/ingest/hints.js";
import { createRedactor, DETECTOR_NAMES, type Detector } from "../../runtime/trace/ingest/redact.js";
import type { Incoming } from "../../runtime/trace/model.js";
import { resolveSettings } from "../../runtime/trace/settings.js";
import { suite } from "../lib/suite.js";
import { type Json, startTrace } from "./lib.js";

const test = suite("trace redaction");
const redactor = (patterns: readonly string[], detectors: readonly Detector[] = []) => createRedactor({ patterns, detectors, replacement: "[REDACTED]" });
const read = (fields: Json, patterns: readonly string[], detectors: readonly Detector[] = []): Incoming => {
  const event = readEvent({ run_id: "r", event_type: "tool_end", ...fields }, { summaryChars: 40, newId: createIdSource(() => 0), nowUs: () => 0 }, redactor(patterns, detectors));
  if (typeof event === "string") throw new Error(event);
  return event;
};

test("values, keys, numbers, names, tags and errors are all looked at", () => {
  const event = read(
    {
      payload: { messages: [{ content: "key sk-ABC123" }, ["sk-ABC123"]], "sk-ABC123": 1, n: 4111 }, agent_name: "sk-ABC123", tool_name: "t sk-ABC123", mcp_server: "sk-ABC123", tags: ["sk-ABC123"],
      error_message: "sk-ABC123", summary: "sk-ABC123", session_id: "sk-ABC123", user_id: "sk-ABC123", model: "sk-ABC123", attributes: { a: "sk-ABC123" },
    },
    ["sk-[A-Z0-9]+", "4111"],
  );
  assert.equal(JSON.stringify(event).includes("ABC123"), false);
  assert.equal(event.payload, '{"messages":[{"content":"key [REDACTED]"},["[REDACTED]"]],"[REDACTED]":1,"n":"[REDACTED]"}');
});

test("a secret is taken out before the text is cut, so no half of it is left", () => {
  const secret = `sk-${"A".repeat(40)}`;
  assert.equal(read({ summary: `${"x".repeat(30)} ${secret}` }, [], ["api_keys"]).summary.includes("sk-"), false);
  assert.equal(read({ payload: { key: secret } }, [], ["api_keys"]).summary, '{"key":"[REDACTED]"}');
});

test("the built-in detectors find what they are named for and leave ordinary text alone", () => {
  const table: readonly (readonly [Detector, string, boolean])[] = [
    ["api_keys", "sk-proj-abcdefghij1234567890", true], ["api_keys", "AKIAIOSFODNN7EXAMPLE", true], ["api_keys", `ghp_${"a1".repeat(18)}`, true], ["api_keys", "sk-short", false], ["api_keys", "ask-me-anything-about-it-please", false],
    ["jwts", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_123", true], ["jwts", "eyJ.eyJ.x", false],
    ["cards", "4111 1111 1111 1111", true], ["cards", "4111-1111-1111-1112", false], ["cards", "0000000000000000", false], ["cards", "1763640000000", false],
    ["emails", "a.b+c@example.co.uk", true], ["emails", "user@host", false],
  ];
  for (const [detector, text, found] of table) assert.equal(read({ error_message: text }, [], [detector]).error === text, !found, `${detector}: ${text}`);
});

test("a pattern that can't be used is an error at the start, never left out", () => {
  for (const pattern of ["(", "a(?=b)", "(a)\\1", "[z-a]"]) {
    assert.throws(() => resolveSettings({ from: (name) => `--${name}`, given: { redact_patterns: ["fine", pattern] } }), (error: Error) => error.name === "SettingError" && error.message.startsWith(`--redact_patterns has a pattern that can't be used: ${pattern} (`), pattern);
  }
  for (const pattern of ["(?<!x)secret-\\d{4}", "(?<name>\\u0041B)", "a\\/b", "\\p{Lu}{3}"]) assert.deepEqual(resolveSettings({ from: (name) => name, given: { redact_patterns: [pattern] } }).redact_patterns, [pattern]);
  assert.equal(read({ error_message: "xsecret-1234 secret-1234" }, ["(?<!x)secret-\\d{4}"]).error, "xsecret-1234 [REDACTED]");
});

test("redaction takes time that is linear in the text, whatever the text and the pattern", () => {
  const texts = ["eyJ-", "eyJaaaaaaaa.", "sk-", "sk-a-", "4 ", "1-", "a@", "a@b.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN A", "a", "ghp_", "xoxa-"].map((part) => part.repeat(Math.ceil(300_000 / part.length)));
  for (const text of texts) {
    const started = process.cpuUsage();
    read({ error_message: text }, ["(a+)+$", "(\\w+\\s?)*!"], ["api_keys", "jwts", "cards", "emails"]);
    const { user, system } = process.cpuUsage(started);
    assert.ok((user + system) / 1000 < 3000, `${text.slice(0, 20)}: ${(user + system) / 1000} ms`);
  }
});

test("an ordinary payload is passed without being parsed, and with escapes and numbers it is still looked at", () => {
  const plain = redactor([], ["api_keys", "jwts", "cards"]);
  assert.equal(plain?.concerns(JSON.stringify({ messages: [{ role: "user", content: "What is the weather in Paris?\n\t\"quoted\" 2026-11-22T07:00:00Z 1763640000" }] })), false);
  for (const payload of [{ n: 4111111111111111 }, { a: "\nsk-live-abcdefghij0123456789" }, { "sk-live-abcdefghij0123456789": 1 }, { a: ["x\"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc"] }, { a: "line\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----" }]) {
    const clean = read({ payload }, [], ["api_keys", "jwts", "cards"]).payload ?? "";
    assert.match(clean, /REDACTED/);
    assert.doesNotMatch(clean, /4111|abcdefghij|eyJ|nabc/);
  }
});

test("whatever a detector takes out of a text is seen in its bytes first, as text and as JSON", () => {
  const piece = fc.oneof(
    fc.constantFrom("sk-", "pk_", "rk-live", "AKIA", "ghp_", "ghs_", "github_pat_", "xoxb-", "AIza", "glpat-", "hf_", "-----BEGIN PRIVATE KEY-----", "eyJ", ".eyJ", ".", "@", "ada", "example.org", "4111 1111", "1111-1111", "4111111111111111", " ", "-", '"', "\\", "ü"),
    fc.string({ unit: fc.constantFrom(..."abcxyzABCXYZ019_-"), minLength: 10, maxLength: 40 }),
  );
  const all = DETECTOR_NAMES.map((name) => redactor([], [name]));
  let found = 0;
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join("")), (text) => {
      for (const one of all) {
        if (one?.text(text) === text) continue;
        found += 1;
        for (const bytes of [Buffer.from(text), Buffer.from(JSON.stringify(text))]) assert.equal(one?.concernsBytes(bytes), true, text);
      }
    }),
    { numRuns: 20_000 },
  );
  assert.ok(found > 500, `${found} secrets`);
});

test("ordinary messages and attributes need no closer look", () => {
  const given = { "gen_ai.request.model": "gpt-4o-mini-2024-07-18", content: "Résumé of 12 items; see https://example.org/a_b?c=1, due 2026-11-22 at 07:00 -- not later \"quoted\"\n" };
  assert.equal(mayHoldSecret(Buffer.from(JSON.stringify(given))), false);
  assert.equal(mayHoldSecret(Buffer.from("\\u0073k")), true, "an escape may be any character");
});

test("deeper than 60 levels a payload is replaced as a whole", () => {
  let deep: unknown = "sk-ABC123";
  for (let level = 0; level < 80; level++) deep = [deep];
  assert.equal(read({ payload: { deep } }, ["sk-[A-Z0-9]+"]).payload?.includes("ABC123"), false);
});

test("secrets written with escapes are found through HTTP, too, and never reach the disk", async () => {
  const trace = await startTrace();
  const key = "sk-live-abcdefghij0123456789";
  await trace.send("POST", "/api/ingest?wait=1", `[{"run_id":"r","event_id":"e","event_type":"tool_end","payload":{"k":"\\u0073k-live-abcdefghij0123456789","v":"${key}"}}]`, { "content-type": "application/json" });
  assert.deepEqual((await trace.get("/api/runs/r/steps/e/full")).json["full_payload"], { k: "[REDACTED]", v: "[REDACTED]" });
  await trace.dispose();
});

test.run();
