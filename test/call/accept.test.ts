/** The short way through validation says what zod says, or nothing. */
import assert from "node:assert/strict";
import { z } from "zod";
import type { ParamSpec, Validator } from "../../runtime/abi/params.js";
import { validatorOf } from "../../runtime/abi/validators.js";
import { acceptorOf } from "../../runtime/call/accept.js";
import { suite } from "../lib/suite.js";

const test = suite("accept");

const PARAMS: readonly ParamSpec[] = [
  { name: "query", type: "string", required: true, nonEmpty: true },
  { name: "genre", type: "string", list: true, enum: ["Drama", "Comedy", ""] },
  { name: "year", type: "integer", enum: [1977, 1980, 0] },
  { name: "rating", type: "number", minimum: -1, maximum: 10 },
  { name: "limit", type: "integer", minimum: 1, maximum: 20, default: 5 },
  { name: "seen", type: "boolean", default: false },
  { name: "since", type: "string", format: "date-time" },
  { name: "sizes", type: "integer", list: true, default: [1, 2] },
];

test("ordinary arguments are vouched for, with defaults filled in", () => {
  const accept = acceptorOf(validatorOf(PARAMS));
  assert.deepEqual(accept({ query: "a" }), { query: "a", limit: 5, seen: false, sizes: [1, 2] });
  const whole = { query: "a", genre: ["Drama"], year: 1977, rating: 10, limit: 20, seen: true, since: "now", sizes: [] };
  assert.equal(accept(whole), whole, "nothing to fill in: nothing to copy");
  const given = { query: "a" };
  accept(given);
  assert.deepEqual(given, { query: "a" }, "the caller's own arguments stay as they are");
});

test("a default that is a list is another one for each call", () => {
  const accept = acceptorOf(validatorOf(PARAMS));
  const [first, second] = [accept({ query: "a" }), accept({ query: "a" })];
  assert.notEqual(first?.["sizes"], second?.["sizes"]);
});

test("whatever values arguments have, what is vouched for is what zod returns", () => {
  const validator = validatorOf(PARAMS);
  const accept = acceptorOf(validator);
  const values: readonly unknown[] = [
    undefined, null, "", "a", "Drama", "drama", 0, -0, 1, 1.5, 2.0, 5, 10, 10.0001, 20, 21, -1, -2, 1977, 2 ** 53, -(2 ** 53), 1e308, Number.POSITIVE_INFINITY, Number.NaN, true, false,
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
  const usual: { readonly [name: string]: unknown } = { query: "q", genre: ["Drama"], year: 1980, rating: 7.5, limit: 20, seen: true, since: "", sizes: [3] };
  for (let round = 0; round < 20_000; round++) {
    const args: { [name: string]: unknown } = {};
    for (const { name } of PARAMS) if (name === "query" || random(2) === 0) args[name] = random(10) === 0 ? values[random(values.length)] : usual[name];
    if (random(20) === 0) args["more"] = 1;
    compare(args);
  }
  assert.ok(vouched > 300 && refused > 300, `${vouched} vouched for, ${refused} not`);
});

test("arguments that are no plain object, inherit, or bring a name that is not declared are left to zod", () => {
  const accept = acceptorOf(validatorOf(PARAMS));
  const inherited: unknown = Object.create({ query: "a" });
  const cases: readonly unknown[] = [undefined, null, "query", 5, [], ["a"], inherited, new Map([["query", "a"]]), Object.assign(Object.create(null), { query: "a" }), { query: "a", more: 1 }, JSON.parse('{"query":"a","__proto__":{"limit":1}}')];
  for (const args of cases) assert.equal(accept(args), null);
});

test("an argument by a name that every object knows is zod's", () => {
  for (const name of ["constructor", "toString", "hasOwnProperty"]) {
    const accept = acceptorOf(validatorOf([{ name, type: "string" }]));
    assert.equal(accept({}), null, name);
    assert.equal(accept({ [name]: "a" }), null, name);
  }
});

test("a schema that says more than is known here is zod's alone", () => {
  const strange: readonly (readonly [what: string, schema: z.ZodType])[] = [
    ["no object", z.string()], ["a strict object", z.strictObject({ a: z.string() })], ["a loose object", z.looseObject({ a: z.string() })],
    ["a catch-all", z.object({ a: z.string() }).catchall(z.number())], ["a check of the whole", z.object({ a: z.string() }).refine(() => false)],
    ["a pattern", z.object({ a: z.string().regex(/x/) })], ["a format", z.object({ a: z.email() })], ["a trim", z.object({ a: z.string().trim() })],
    ["a longest length", z.object({ a: z.string().max(0) })], ["a transform", z.object({ a: z.string().transform(Number) })], ["a coercion", z.object({ a: z.coerce.string() })],
    ["a bound that excludes itself", z.object({ a: z.number().gt(5) })], ["a multiple", z.object({ a: z.number().multipleOf(2) })], ["a float of 32 bits", z.object({ a: z.float32() })],
    ["a list with a length", z.object({ a: z.array(z.string()).min(1) })], ["a list of lists", z.object({ a: z.array(z.array(z.string())) })], ["null", z.object({ a: z.string().nullable() })],
    ["a union", z.object({ a: z.union([z.string(), z.number()]) })], ["never", z.object({ a: z.never() })], ["anything", z.object({ a: z.any() })], ["an object inside", z.object({ a: z.object({}) })],
    ["a default under a default", z.object({ a: z.string().default("x").optional() })], ["a preprocess", z.object({ a: z.preprocess(String, z.string()) })], ["a refined item", z.object({ a: z.enum(["x"]).refine(() => false) })],
    ["a catch", z.object({ a: z.string().catch("x") })], ["a literal that is no scalar", z.object({ a: z.literal([undefined, null]) }).refine(() => true)],
  ];
  for (const [what, schema] of strange) for (const a of ["x", 6, ["x"], undefined, null]) assert.equal(acceptorOf(schema as unknown as Validator)({ a }), null, what);
});

test.run();
