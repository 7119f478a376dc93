import * as assert from "node:assert/strict";
import type { CallContext, CallRows } from "../../runtime/abi/call.js";
import type { Row } from "../../runtime/abi/filter.js";
import type { OutputPlan, RedactPlan, SearchPlan } from "../../runtime/abi/plan.js";
import { shape } from "../../runtime/call/steps/shape.js";
import { compilePattern, replaceInSteps } from "../../runtime/base/pattern.js";
import { inTurns, type Turns } from "../../runtime/base/turns.js";
import { suite } from "../lib/suite.js";
import { nobody } from "./program.js";

const test = suite("call/shape");

function shaped(output: Partial<OutputPlan>, ...rows: readonly Row[]) {
  const plan: SearchPlan = { kind: "search", connection: "c", collection: "t", bind: [], limit: { arg: "limit", default: 1, max: 1 }, output: { id: true, score: true, ...output } };
  const call = { ...nobody, signal: new AbortController().signal, warnings: [], watch: null, startedMs: 0, services: { now: () => 12.6, once: <T>(_part: object, make: () => T) => make() } } as unknown as CallContext;
  const found: CallRows = { rows, exact: true, searchMode: "dense", mayBeIncomplete: false, compiledQuery: null };
  return shape(plan, found, call);
}

const redacted = async (rule: Omit<RedactPlan, "path">, value: unknown) => (await shaped({ redact: [{ path: "x", ...rule }] }, { x: value })).rows[0]?.["x"];

test("projection keeps the plan's order, then _score, then _id", async () => {
  const result = (await shaped({ fields: ["b", "a"] }, { _id: "1", a: 1, _score: 0.5, b: 2, c: 3 }));
  assert.deepEqual(Object.entries(result.rows[0] ?? {}), [["b", 2], ["a", 1], ["_score", 0.5], ["_id", "1"]]);
  assert.equal(result.latency_ms, 13);
});

test("a missing field is null and warned about once", async () => {
  const result = (await shaped({ fields: ["a"] }, { _id: "1" }, { _id: "2" }, { _id: "3", a: null }));
  assert.deepEqual(result.rows.map((row) => row["a"]), [null, null, null]);
  assert.deepEqual(result.warnings, ["VB4001"]);
  assert.deepEqual((await shaped({ fields: ["a"] }, { a: null })).warnings, []);
});

test("dotted fields reach into objects, or name a key that holds the dots", async () => {
  const result = (await shaped({ fields: ["a.b", "c.d"] }, { a: { b: 1 }, "c.d": 2 }));
  assert.deepEqual(result.rows, [{ "a.b": 1, "c.d": 2 }]);
});

test("id and score stay away when the plan says so", async () => {
  assert.deepEqual((await shaped({ id: false, score: false }, { _id: "1", _score: 1, a: 1 })).rows, [{ a: 1 }]);
});

test("hash is the first eight hex digits of SHA-256 of the text form", async () => {
  assert.equal((await redacted({ mode: "hash" }, "4111111111111111")), "9bbef194");
  assert.equal((await redacted({ mode: "hash" }, 4111111111111111)), "9bbef194");
  assert.equal((await redacted({ mode: "hash" }, true)), (await redacted({ mode: "hash" }, "True")));
});

test("mask keeps the domain of an address and nothing else", async () => {
  assert.equal((await redacted({ mode: "mask" }, "ann@home@example.com")), "***@example.com");
  assert.equal((await redacted({ mode: "mask" }, "4111111111111111")), "***");
  assert.equal((await redacted({ mode: "mask" }, { card: "4111" })), "***");
});

test("pattern replaces in order, with groups", async () => {
  const patterns = [{ regex: String.raw`(\d{4})\d+`, replacement: String.raw`\1…` }, { regex: "…", replacement: "[cut]" }];
  assert.equal((await redacted({ mode: "pattern", patterns }, "card 41112222")), "card 4111[cut]");
  assert.equal((await redacted({ mode: "pattern", patterns }, 41112222)), "4111[cut]");
});

test("null stays null but for omit, which removes the key", async () => {
  for (const mode of ["hash", "mask", "pattern"] as const) assert.equal((await redacted({ mode, patterns: [{ regex: "n", replacement: "" }] }, null)), null);
  assert.deepEqual((await shaped({ redact: [{ path: "x", mode: "omit" }] }, { x: null, y: 1 })).rows, [{ y: 1 }]);
});

test("of several rules for one path the last counts", async () => {
  const redact: readonly RedactPlan[] = [{ path: "x", mode: "omit" }, { path: "x", mode: "mask" }];
  for (const order of [redact, redact.toReversed()]) assert.deepEqual((await shaped({ redact: order }, { x: "a" })).rows, [{}]);
  const one: RedactPlan = { path: "x", mode: "pattern", patterns: [{ regex: "a", replacement: "1" }] };
  const other: RedactPlan = { path: "x", mode: "pattern", patterns: [{ regex: "b", replacement: "2" }] };
  assert.deepEqual((await shaped({ redact: [one, other] }, { x: "abc" })).rows, [{ x: "12c" }], "the patterns of both");
  assert.deepEqual((await shaped({ redact: [one, { path: "x", mode: "pattern" }] }, { x: "abc" })).rows, [{}]);
});

test("mode pattern without patterns removes the value", async () => {
  for (const patterns of [undefined, []]) {
    const rule: RedactPlan = { path: "x", mode: "pattern", ...(patterns === undefined ? {} : { patterns }) };
    assert.deepEqual((await shaped({ redact: [rule] }, { x: "secret", y: 1 })).rows, [{ y: 1 }]);
  }
});

test("a text that is too long for patterns is replaced whole", async () => {
  const redact: readonly RedactPlan[] = [{ path: "x", mode: "pattern", patterns: [{ regex: "b", replacement: "" }] }];
  assert.deepEqual((await shaped({ redact }, { x: "a".repeat(100_001) })).rows, [{ x: "***" }]);
});

test("redaction reaches nested values, lists of objects and keys that hold the dots", async () => {
  const redact: readonly RedactPlan[] = [{ path: "user.mail", mode: "mask" }];
  assert.deepEqual((await shaped({ redact }, { user: { mail: "a@b.c", name: "Ann" } })).rows, [{ user: { mail: "***@b.c", name: "Ann" } }]);
  assert.deepEqual((await shaped({ redact }, { user: [{ mail: "a@b.c" }, { mail: ["x", "d@e.f"] }] })).rows, [{ user: [{ mail: "***@b.c" }, { mail: ["***", "***@e.f"] }] }]);
  assert.deepEqual((await shaped({ redact }, { "user.mail": "a@b.c" })).rows, [{ "user.mail": "***@b.c" }]);
  const deep: readonly RedactPlan[] = [{ path: "a.b.c", mode: "omit" }];
  const spellings = [{ a: { b: { c: 1, d: 2 } } }, { "a.b": { c: 1, d: 2 } }, { a: { "b.c": 1, d: 2 } }, { "a.b.c": 1, d: 2 }, { a: [{ "b.c": 1 }], d: 2 }, { "a.b": [{ c: 1 }, [{ c: 1 }]], d: 2 }, { "a.b.c.e": 1, d: 2 }, { a: { "b.c.e": [1], d: 2 } }];
  for (const row of spellings) assert.ok(!JSON.stringify((await shaped({ redact: deep }, row)).rows).includes("1"), JSON.stringify(row));
  assert.deepEqual((await shaped({ redact: deep }, { "a.bc": 1, ab: 1, "a.b.cd": 1, "a.b": 1 })).rows, [{ "a.bc": 1, ab: 1, "a.b.cd": 1, "a.b": 1 }], "other fields stay");
});

test("no projection shows what a rule on a part or on the whole of it hides", async () => {
  assert.deepEqual((await shaped({ fields: ["user"], redact: [{ path: "user.mail", mode: "omit" }] }, { user: { mail: "a@b.c", name: "Ann" } })).rows, [{ user: { name: "Ann" } }]);
  assert.deepEqual((await shaped({ fields: ["user.mail"], redact: [{ path: "user", mode: "hash" }] }, { user: { mail: "a@b.c" } })).rows, [{ "user.mail": null }]);
  assert.deepEqual((await shaped({ fields: ["user.mail"], redact: [{ path: "user", mode: "hash" }] }, { "user.mail": "a@b.c" })).rows.map((row) => row["user.mail"] === "a@b.c"), [false], "a stored key below the path");
  const omitted = (await shaped({ fields: ["user.mail", "n"], redact: [{ path: "user", mode: "omit" }] }, { user: { mail: "a@b.c" }, n: 1 }));
  assert.deepEqual([omitted.rows, omitted.warnings], [[{ n: 1 }], []]);
});

test("stored rows are not changed", async () => {
  const row = { user: { mail: "a@b.c" }, long: "x".repeat(9) };
  (await shaped({ redact: [{ path: "user.mail", mode: "mask" }], max_field_length: 3 }, row));
  assert.deepEqual(row, { user: { mail: "a@b.c" }, long: "xxxxxxxxx" });
});

test("long texts are cut after redaction, in code points, with the suffix counted", async () => {
  const rows = async (n: number, value: unknown, suffix?: string) => (await shaped({ max_field_length: n, ...(suffix === undefined ? {} : { truncate_suffix: suffix }) }, { x: value })).rows[0]?.["x"];
  assert.equal((await rows(5, "abcdef")), "abcd…");
  assert.equal((await rows(5, "abcde")), "abcde");
  assert.equal((await rows(3, "😀😀😀")), "😀😀😀");
  assert.equal((await rows(3, "😀😀😀😀")), "😀😀…");
  assert.equal((await rows(2, "abcdef", "[cut]")), "[cut]");
  assert.deepEqual((await rows(2, { a: ["abc"], n: 12345 })), { a: ["a…"], n: 12345 });
  const result = (await shaped({ redact: [{ path: "x", mode: "hash" }], max_field_length: 5 }, { x: "4111111111111111", _id: "a-long-record-id" }));
  assert.deepEqual(result.rows, [{ x: "9bbe…", _id: "a-long-record-id" }]);
});

test("rows from the end are dropped until the rest fits 100,000 bytes", async () => {
  const big = (n: number) => ({ x: "x".repeat(n) });
  const six = (await shaped({}, ...Array.from({ length: 6 }, () => big(30_000))));
  assert.deepEqual([six.rows.length, six.count, six.truncated], [3, 3, true]);
  const one = (await shaped({}, big(120_000)));
  assert.deepEqual([one.rows.length, one.truncated], [0, true]);
  const bytes = (await shaped({}, { x: "é".repeat(49_000) }, { x: "" }));
  assert.deepEqual([bytes.rows.length, bytes.truncated], [2, false]);
  for (const text of ["\u0001", "é", "x", "\u{1f600}", "\ud800", '"']) {
    for (const n of [15_000, 16_600, 16_700, 25_000, 33_400, 50_000, 100_000]) {
      const row = { x: text.repeat(n) };
      const fits = Buffer.byteLength(JSON.stringify([row])) <= 100_000;
      assert.equal((await shaped({}, row)).truncated, !fits, `${JSON.stringify(text)} × ${n}`);
    }
  }
});

test("a record may hold any key", async () => {
  const row = JSON.parse(`{"__proto__": {"admin": true}, "constructor": 1}`) as Row;
  const [found] = (await shaped({}, row)).rows;
  assert.equal(JSON.stringify(found), `{"__proto__":{"admin":true},"constructor":1}`);
  const absent = (await shaped({ fields: ["__proto__", "constructor"] }, { a: 1 }));
  assert.equal(JSON.stringify(absent.rows[0]), `{"__proto__":null,"constructor":null}`);
  assert.equal((found as { admin?: boolean }).admin, undefined);
});

test("a value on which patterns would work too long is replaced whole: many matches, or a large pattern on a long text", async () => {
  const shownWith = async (regex: string, x: string) => (await shaped({ redact: [{ path: "x", mode: "pattern", patterns: [{ regex, replacement: "-" }] }] }, { x })).rows[0]?.["x"];
  assert.equal((await shownWith("a", "a".repeat(500))), "-".repeat(500));
  assert.equal((await shownWith("a", "a".repeat(501))), "***");
  assert.equal((await shownWith("(a?){50}a{50}", "b".repeat(3_000))), "b".repeat(3_000));
  assert.equal((await shownWith("(a?){50}a{50}", "b".repeat(4_000))), "***");
});

test("a value whose matches make a pattern look at the rest of it again and again is replaced whole", async () => {
  const shownWith = async (regex: string, x: string) => (await shaped({ redact: [{ path: "x", mode: "pattern", patterns: [{ regex, replacement: "-" }] }] }, { x })).rows[0]?.["x"];
  // Each of the first searches goes to the end in vain for the b: 400 times 90,000 characters.
  assert.equal(await shownWith("a.*b|a", `${"a".repeat(400)}${".".repeat(90_000)}`), "***");
  assert.equal(await shownWith("a.*b|a", `${"a".repeat(400)}${".".repeat(900)}`), "-".repeat(400) + ".".repeat(900));
}, { timeoutMs: 60_000 });

test("redaction of many values ends its turn of the event loop between them, and after each match", async () => {
  const pattern = compilePattern("a", "-");
  assert.equal([...replaceInSteps("a".repeat(20), pattern)].length, 20, "a step for each match");
  const steps = { count: 0 };
  const turns: Turns = { nowMs: () => (steps.count += 10), yield: async () => undefined };
  const work = replaceInSteps("a".repeat(20), pattern);
  assert.equal(await inTurns(work, new AbortController().signal, turns), "-".repeat(20));
  const abort = new AbortController();
  let served = 0;
  const rows = Array.from({ length: 300 }, () => ({ x: "a".repeat(499) }));
  const call = shaped({ redact: [{ path: "x", mode: "pattern", patterns: [{ regex: "a", replacement: "-" }] }] }, ...rows);
  setImmediate(() => void served++);
  await call;
  assert.equal(served, 1, "another task ran before the answer was made");
  abort.abort();
  await assert.rejects(inTurns(replaceInSteps("aa", pattern), abort.signal, turns), { name: "AbortError" });
});

test.run();
