/** The fast path of validation accepts what zod accepts, with the same result, or leaves it to zod. */
import assert from "node:assert/strict";
import { inputSchemaOf, type ParamSpec } from "../../runtime/abi/params.js";
import { validatorOf } from "../../runtime/abi/validators.js";
import { argumentCheck } from "../../runtime/call/steps/arguments.js";
import type { Json } from "../../runtime/abi/plan.js";
import { validateArgs } from "../../runtime/call/steps/validate.js";
import { suite } from "../lib/suite.js";
import { compiled, HEAD, searchTool } from "../phases/source.js";

const test = suite("call/arguments");

const acceptorOf = (params: readonly ParamSpec[]) => argumentCheck(inputSchemaOf(params)).accept;

const PARAMS: readonly ParamSpec[] = [
  { name: "query", type: "string", required: true, nonEmpty: true, maxLength: 20 },
  { name: "genre", type: "string", list: true, enum: ["Drama", "Comedy", ""] },
  { name: "year", type: "integer", enum: [1977, 1980, 0] },
  { name: "rating", type: "number", minimum: -1, maximum: 10 },
  { name: "limit", type: "integer", minimum: 1, maximum: 20, default: 5 },
  { name: "seen", type: "boolean", default: false },
  { name: "since", type: "string", format: "date-time" },
  { name: "sizes", type: "integer", list: true, default: [1, 2], maxItems: 3 },
  { name: "names", type: "string", list: true, maxLength: 4, maxItems: 2 },
];

test("ordinary arguments are vouched for, with defaults filled in", () => {
  const accept = acceptorOf(PARAMS);
  assert.deepEqual(accept({ query: "a" }), { query: "a", limit: 5, seen: false, sizes: [1, 2] });
  const whole = { query: "a", genre: ["Drama"], year: 1977, rating: 10, limit: 20, seen: true, since: "2026-04-13", sizes: [] };
  assert.equal(accept(whole), whole, "nothing to fill in: nothing to copy");
  const given = { query: "a" };
  accept(given);
  assert.deepEqual(given, { query: "a" }, "the caller's own arguments stay as they are");
});

test("a default that is a list is another one for each call", () => {
  const accept = acceptorOf(PARAMS);
  const [first, second] = [accept({ query: "a" }), accept({ query: "a" })];
  assert.notEqual(first?.["sizes"], second?.["sizes"]);
});

test("whatever values arguments have, what the fast path accepts is what zod returns", () => {
  const validator = validatorOf(PARAMS);
  const accept = acceptorOf(PARAMS);
  const values: readonly unknown[] = [
    undefined, null, "", "a", "a".repeat(20), "a".repeat(21), ["abcd", "e"], ["abcde"], ["a", "b", "c"], [1, 2, 3], [1, 2, 3, 4], "2026-04-13", "yesterday", "Drama", "drama", 0, -0, 1, 1.5, 2.0, 5, 10, 10.0001, 20, 21, -1, -2, 1977, 2 ** 53, -(2 ** 53), 1e308, Number.POSITIVE_INFINITY, Number.NaN, true, false,
    [], [""], ["Drama", "Comedy"], ["Drama", 1], [null], [[]], [1, 2.5], [1, 2], {}, { length: 1 }, new Date(0), 5n, Symbol("s"), () => 1, new String("a"), new Array(2),
  ];
  let vouched = 0;
  let refused = 0;
  const compare = (args: unknown): void => {
    const mine = accept(args);
    const theirs = validator.safeParse(args);
    if (mine === null) refused += 1;
    else {
      vouched += 1;
      assert.ok(theirs.success, `zod refuses ${JSON.stringify(args)}`);
      assert.deepEqual({ ...mine }, { ...(theirs.data as object) });
    }
  };
  for (const { name } of PARAMS) for (const value of values) compare({ query: "q", [name]: value });
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  const usual: { readonly [name: string]: unknown } = { query: "q", genre: ["Drama"], year: 1980, rating: 7.5, limit: 20, seen: true, since: "2026-04-13", sizes: [3] };
  for (let round = 0; round < 20_000; round++) {
    const args: { [name: string]: unknown } = {};
    for (const { name } of PARAMS) if (name === "query" || random(2) === 0) args[name] = random(10) === 0 ? values[random(values.length)] : usual[name];
    if (random(20) === 0) args["more"] = 1;
    compare(args);
  }
  assert.ok(vouched > 300 && refused > 300, `${vouched} vouched for, ${refused} not`);
});

test("arguments that are no plain object, inherit, or bring a name that is not declared are left to zod", () => {
  const accept = acceptorOf(PARAMS);
  const inherited: unknown = Object.create({ query: "a" });
  const cases: readonly unknown[] = [undefined, null, "query", 5, [], ["a"], inherited, new Map([["query", "a"]]), Object.assign(Object.create(null), { query: "a" }), { query: "a", more: 1 }, JSON.parse('{"query":"a","__proto__":{"limit":1}}')];
  for (const args of cases) assert.equal(accept(args), null);
});

test("an argument by a name that every object knows is zod's", () => {
  for (const name of ["constructor", "toString", "hasOwnProperty"]) {
    const accept = acceptorOf([{ name, type: "string" }]);
    assert.equal(accept({}), null, name);
    assert.equal(accept({ [name]: "a" }), null, name);
  }
});

test("a schema that says more than is known here is zod's alone", () => {
  const property = (more: object) => ({ type: "object", properties: { a: { type: "string", ...more } }, required: [] });
  const strange: readonly (readonly [what: string, schema: unknown])[] = [
    ["nothing", undefined], ["no object", { type: "string" }], ["a closed object", { ...property({}), additionalProperties: false }], ["a pattern", property({ pattern: "x" })],
    ["another format", property({ format: "email" })], ["a shortest length", property({ minLength: 1 })], ["two types", property({ type: ["string", "null"] })], ["null", property({ type: "null" })],
    ["a list of lists", property({ type: "array", items: { type: "array", items: { type: "string" } } })], ["a list of anything", property({ type: "array" })], ["a choice", property({ anyOf: [] })],
  ];
  for (const [what, schema] of strange) for (const a of ["x", 6, ["x"], undefined, null]) assert.equal(argumentCheck(schema as Json | undefined).accept({ a }), null, what);
});

test("a text or a list over its bound is refused with the bound, and the bound is advertised", () => {
  const params: readonly ParamSpec[] = [{ name: "q", type: "string", maxLength: 3 }, { name: "l", type: "string", list: true, maxLength: 2, maxItems: 2 }];
  const { properties } = inputSchemaOf(params) as { readonly properties: object };
  assert.deepEqual(properties, { q: { type: "string", maxLength: 3 }, l: { type: "array", items: { type: "string", maxLength: 2 }, maxItems: 2 } });
  const refused = (args: object): string => {
    assert.equal(acceptorOf(params)(args), null);
    try {
      validateArgs(validatorOf(params), args);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(refused({ q: "abcd" }), /^q: .*3 characters/);
  assert.match(refused({ l: ["a", "b", "c"] }), /^l: .*2 items/);
  assert.match(refused({ l: ["abc"] }), /^l\.0: .*2 characters/);
});

test("the query may have 8,192 characters, another text 1,024, a list 256 entries", () => {
  const text = `${HEAD}tools:\n${searchTool("find_it", "    parameters: [{ name: word }, { name: words, op: in }, { name: kind, enum: [a, b] }, { name: since, dtype: datetime, op: gte }]\n")}`;
  const { value } = compiled(text);
  assert.ok(value);
  const { properties } = value.plans.definitions[0]?.inputSchema as { readonly properties: { readonly [name: string]: { readonly maxLength?: number; readonly maxItems?: number } } };
  assert.deepEqual(["query", "word", "words", "kind", "since"].map((name) => [properties[name]?.maxLength, properties[name]?.maxItems]), [[8192, undefined], [1024, undefined], [undefined, 256], [undefined, undefined], [1024, undefined]]);
});

test("a datetime argument is a date or an instant in one form; anything else is refused with the form wanted", () => {
  const params: readonly ParamSpec[] = [{ name: "since", type: "string", format: "date-time" }, { name: "on", type: "string", format: "date-time", list: true }, { name: "from", type: "string", format: "date-time", default: "2026-01-01T02:00:00+02:00" }];
  const check = argumentCheck(inputSchemaOf(params));
  const both = (args: object): unknown => {
    const slow = check.withInstants(validateArgs(validatorOf(params), args));
    const fast = check.accept(args);
    if (fast !== null) assert.deepEqual({ ...fast }, { ...slow });
    const { from, ...rest } = slow;
    assert.equal(from, "2026-01-01T00:00:00Z", "a default too");
    return rest;
  };
  assert.deepEqual(both({ since: "2026-04-13T10:30:00.50+02:00" }), { since: "2026-04-13T08:30:00.5Z" });
  assert.deepEqual(both({ since: "2026-04-13", on: ["2026-04-13t00:00:00z", "2026-04-14"] }), { since: "2026-04-13", on: ["2026-04-13T00:00:00Z", "2026-04-14"] });
  for (const args of [{ since: "yesterday" }, { since: "2026-02-30" }, { since: "2026-04-13T10:30:00" }, { on: ["2026-04-13", "x"] }, { since: "" }]) {
    assert.equal(check.accept(args), null);
    assert.throws(() => both(args), /^ToolError: (?:since|on): expected a date \(2026-04-13\) or an RFC 3339 time/);
  }
});

test.run();
