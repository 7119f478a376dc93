/** Which arguments of a call may be kept, and how. */
import assert from "node:assert/strict";
import type { ServePlan } from "../../runtime/abi/call.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import { argumentRules } from "../../runtime/observe/arguments.js";
import { suite } from "../lib/suite.js";

const test = suite("observe/arguments");

/** With the arguments read back. */
function keep(args: unknown, settings: ServePlan = {}, plan: ToolPlan | null = null) {
  const kept = argumentRules(settings).keep("t", plan, args);
  return kept === null ? null : { ...kept, args: JSON.parse(kept.json) as unknown };
}
const audit = (section: { readonly [key: string]: string | boolean | readonly string[] | { readonly [key: string]: boolean | readonly string[] } }): ServePlan => ({ observability: { audit: section } });

test("values under secret names are replaced at any depth, wherever the word stands in the name", () => {
  const args = { query: "q", Password: "p", db_password: 1, accessToken: ["a", { b: "c" }], nested: { list: [{ client_secret: null, fine: true }] }, tokens: 5, max_tokens: 9, secretary: "s" };
  assert.deepEqual(keep(args)?.args, {
    query: "q", Password: "[REDACTED]", db_password: "[REDACTED]", accessToken: "[REDACTED]", nested: { list: [{ client_secret: "[REDACTED]", fine: true }] }, tokens: 5, max_tokens: 9, secretary: "s",
  });
});

test("the audit section adds names, and may leave out arguments or whole tools", () => {
  assert.deepEqual(keep({ ssn: "1", token: "2", a: "3" }, audit({ redact: { arg_fields: ["SSN"] } }))?.args, { ssn: "[REDACTED]", token: "[REDACTED]", a: "3" });
  const none = keep({ a: "hidden-3" }, audit({ include: { args: false } }));
  assert.deepEqual(none?.args, {});
  assert.equal(none?.clean("a: not 'hidden-3'"), "a: not '[REDACTED]'");
  assert.equal(keep({ a: 1 }, audit({ exclude_tools: ["t"] })), null);
});

test("an argument that is compared with a redacted field is redacted itself", () => {
  const bind = [{ arg: "email", path: "person.mail", op: "eq" }, { arg: "whole", path: "person", op: "eq" }, { arg: "city", path: "city", op: "eq" }] as const;
  const output = { id: true, score: true, redact: [{ path: "person.mail", mode: "mask" }] } as const;
  const plan: ToolPlan = { kind: "lookup", connection: "c", collection: "d", bind, rows: 1, output };
  assert.deepEqual(keep({ email: "e", whole: "w", city: "x", other: { email: "kept" } }, {}, plan)?.args, { email: "[REDACTED]", whole: "[REDACTED]", city: "x", other: { email: "kept" } });
});

test("an argument that meets a redacted field in a retrieve filter, an expression or a directory is redacted too", () => {
  const filter = { or: [{ path: "mail", op: "eq", param: "filtered" }, { and: [{ path: "city", op: "eq", param: "town" }, { path: "mail.host", op: "like", param: "host" }] }] } as const;
  const compare = (field: string, param: string) => ({ op: "==", l: { op: "+", l: { field }, r: { lit: "" } }, r: { param } }) as const;
  const expr = { op: "and", l: { not: compare("mail", "post") }, r: compare("city", "free") } as const;
  const resolve = { connection: "c", collection: "d", field: "mail", min_confidence: 0.7, max_candidates: 10, cache_ttl_s: 1 };
  const plan: ToolPlan = {
    kind: "pipeline", limit: { arg: "limit", default: 1, max: 1 }, output: { id: true, score: true, redact: [{ path: "mail", mode: "hash" }] },
    retrieve: { connection: "c", collection: "d", bind: [{ arg: "named", path: "other", op: "eq", resolve }], filter, overfetch_factor: 1, max_candidates: 1 },
    steps: [{ kind: "post_filter", expr, text: "" }],
  };
  const args = { filtered: "a", town: "b", host: "c", post: "d", free: "e", named: "f" };
  const hidden = "[REDACTED]";
  assert.deepEqual(keep(args, {}, plan)?.args, { filtered: hidden, town: "b", host: hidden, post: hidden, free: "e", named: hidden });
});

test("no message quotes what was left out, nor an address", () => {
  const kept = keep({ password: "hunter2", n: 1 });
  assert.equal(kept?.clean("password: got 'hunter2' from https://user:x@host:1/path?q=1, see redis://h"), "password: got '[REDACTED]' from [address] see [address]");
});

test("what is kept is bounded: texts, lists, depth and values", () => {
  let deep: unknown = "bottom";
  for (let depth = 0; depth < 50; depth++) deep = { deep };
  const kept = keep({ text: "x".repeat(1e6), list: Array.from({ length: 5000 }, (_, index) => index), deep, wide: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index])) });
  const json = JSON.stringify(kept?.args);
  assert.ok(json.length < 20_000, String(json.length));
  assert.match(json, /… 4900 more/);
  const wordy = JSON.stringify(keep({ texts: Array.from({ length: 100 }, () => "y".repeat(2000)) })?.args);
  assert.ok(wordy.length < 14_000, String(wordy.length));
  assert.ok(!json.includes("bottom"));
  assert.deepEqual([keep(undefined)?.args, keep(null)?.args, keep("text")?.args], [{}, {}, "text"]);
});

test("a secret that is nested as deep as a body is long is left out, and no call fails of it", () => {
  const deep = `${"[".repeat(30_000)}"innermost"${"]".repeat(30_000)}`;
  for (const args of [`{"password":${deep}}`, `{"password":${deep.replaceAll("[", '{"a":').replaceAll("]", "}")}}`]) {
    const kept = keep(JSON.parse(args));
    assert.deepEqual(kept?.args, { password: "[REDACTED]" });
    assert.equal(kept?.clean("not innermost"), "not [REDACTED]");
  }
  assert.deepEqual(keep(JSON.parse(`{"a":${deep}}`), audit({ include: { args: false } }))?.args, {});
});

test("what is kept is written as JSON.stringify writes it, whatever the texts, names and numbers are", () => {
  const odd = { 'a"b\\': "line\nfeed \u2028 \u0000 \ud800 é 😀", __proto__x: [-0, 1e21, 1.5e-9, 0.1, true, null, []], empty: {}, "": [[{}]] };
  const own = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as unknown;
  for (const args of [odd, own]) assert.equal(keep(args)?.json, JSON.stringify(args));
  assert.equal(keep({ a: Number.NaN, b: Infinity, c: undefined, d: () => 1 })?.json, '{"a":null,"b":null,"c":null,"d":null}');
});

test("names that are cut stay different names", () => {
  const long = "n".repeat(300);
  assert.deepEqual(Object.keys(keep({ [`${long}1`]: 1, [`${long}2`]: 2 })?.args as object), [`${"n".repeat(200)}… 1`, `${"n".repeat(200)}… 2`]);
});

test.run();
