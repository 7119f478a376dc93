/** Tool inputs: the schema a model reads, and the validator that holds it to that. */
import assert from "node:assert/strict";
import { plan } from "../../generator/4-plan/index.js";
import { inputSchemaOf, type ParamSpec } from "../../runtime/abi/params.js";
import { validatorOf } from "../../runtime/abi/validators.js";
import { suite } from "../lib/suite.js";
import { checked, output, parameter, query, tool } from "./fixtures.js";

const test = suite("tool inputs");

function paramsOf(...parameters: Parameters<typeof tool>): readonly ParamSpec[] {
  return plan(checked([tool(...parameters)])).inputs[parameters[0]]?.params ?? [];
}

function verdict(params: readonly ParamSpec[], args: unknown): unknown {
  const result = validatorOf(params).safeParse(args);
  return result.success ? result.data : result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

const SAMPLE = tool("sample", {
  query: query({ param: "q", required: true }),
  parameters: [
    parameter("kw", { path: "kw", op: "eq", enum: ["a", "b"], description: "d", default: "a" }),
    parameter("n", { path: "n", dtype: "integer", op: "gte", max: 10 }),
    parameter("f", { path: "n", dtype: "float", op: "in" }),
    parameter("b", { path: "b", dtype: "boolean", op: "eq" }),
    parameter("dt", { path: "dt", dtype: "datetime", op: "gte" }),
    parameter("dts", { path: "dt", dtype: "datetime", op: "in" }),
    parameter("arr", { path: "arr", dtype: "keyword[]", op: "in", enum: ["x"] }),
    parameter("nopath"),
    parameter("unk", { dtype: "unknown" }),
    parameter("ints", { path: "n", dtype: "integer", op: "in", max: 5, required: true }),
    parameter("dir", {
      path: "c", op: "eq", enum: ["Acme"],
      resolve: { kind: "directory", connection: null, collection: null, field: "name", minConfidence: 0.72, maxCandidates: 5000, cacheTtlS: 600, dates: [], staticFilters: { must: [], mustNot: [] } },
    }),
  ],
});

test("the advertised schema has the form that existing clients know", () => {
  const schema = inputSchemaOf(plan(checked([SAMPLE])).inputs["sample"]?.params ?? []);
  // Compared as text: the order of keys is part of the form.
  assert.equal(
    JSON.stringify(schema),
    JSON.stringify({
      type: "object",
      properties: {
        q: { type: "string", maxLength: 8192 },
        kw: { type: "string", enum: ["a", "b"], description: "d", default: "a" },
        n: { type: "integer", maximum: 10 },
        f: { type: "array", items: { type: "number" }, maxItems: 256 },
        b: { type: "boolean" },
        dt: { type: "string", format: "date-time", maxLength: 1024 },
        dts: { type: "array", items: { type: "string", format: "date-time", maxLength: 1024 }, maxItems: 256 },
        arr: { type: "array", items: { type: "string", enum: ["x"] }, maxItems: 256 },
        nopath: { type: "string", maxLength: 1024 },
        unk: { type: "string", maxLength: 1024 },
        ints: { type: "array", items: { type: "integer" }, maxItems: 256, maximum: 5 },
        dir: { type: "string", maxLength: 1024 },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 10 },
      },
      required: ["q", "ints"],
    }),
  );
});

test("parameters without path and operator filter nothing", () => {
  const { tools } = plan(checked([SAMPLE]));
  const bind = "bind" in (tools["sample"] ?? {}) ? (tools["sample"] as { bind: readonly { arg: string; op: string; path: string }[] }).bind : [];
  assert.deepEqual(
    bind.map(({ path, op }) => [path, op]),
    [["kw", "eq"], ["n", "gte"], ["n", "in"], ["b", "eq"], ["dt", "gte"], ["dt", "in"], ["arr", "in"], ["n", "in"], ["c", "eq"]],
  );
});

test("lookups and counts advertise no limit", () => {
  for (const kind of ["lookup", "count"] as const) assert.deepEqual(paramsOf("fetch_it", { kind }), []);
  for (const kind of ["search", "scroll"] as const) assert.deepEqual(paramsOf("fetch_it", { kind }).map(({ name }) => name), ["limit"]);
});

test("the limit's default is never above its maximum", () => {
  const [limit] = paramsOf("fetch_it", { output: output({ limitDefault: 40, limitMax: 7 }) });
  assert.equal(limit?.default, 7);
});

test("a user parameter named limit or like the query keeps its own schema, in place", () => {
  const params = paramsOf("fetch_it", {
    query: query({ param: "q", required: true }),
    parameters: [parameter("limit", { dtype: "integer", max: 3 }), parameter("q", { dtype: "integer" })],
  });
  assert.deepEqual(params, [{ name: "q", type: "integer", required: true }, { name: "limit", type: "integer", maximum: 3 }]);
});

const ARGUMENTS: readonly ParamSpec[] = [
  { name: "query", type: "string", required: true, nonEmpty: true },
  { name: "n", type: "integer", minimum: 1, maximum: 50, default: 10 },
  { name: "rating", type: "number", maximum: 10 },
  { name: "genre", type: "string", enum: ["Action", "Drama"] },
  { name: "tags", type: "string", list: true, enum: ["a", "b"] },
  { name: "years", type: "integer", list: true, maximum: 5 },
  { name: "flag", type: "boolean" },
];

test("arguments are accepted or refused as the table says", () => {
  const table: readonly (readonly [args: unknown, want: unknown])[] = [
    [{ query: "a" }, { query: "a", n: 10 }],
    [{ query: "a", n: 2.0 }, { query: "a", n: 2 }],
    [{ query: "a", n: 0 }, ["n: Too small: expected number to be >=1"]],
    [{ query: "a", n: 51 }, ["n: Too big: expected number to be <=50"]],
    [{ query: "a", n: "3" }, ["n: Invalid input: expected number, received string"]],
    [{ query: "a", n: true }, ["n: Invalid input: expected number, received boolean"]],
    [{ query: "a", n: 2.5 }, ["n: Invalid input: expected int, received number"]],
    [{ query: "a", n: null }, ["n: Invalid input: expected number, received null"]],
    [{ query: "a", rating: null }, ["rating: Invalid input: expected number, received null"]],
    [{ query: "" }, ["query: Too small: expected string to have >=1 characters"]],
    [{}, ["query: Invalid input: expected string, received undefined"]],
    [{ query: "a", genre: "Western" }, ['genre: Invalid option: expected one of "Action"|"Drama"']],
    [{ query: "a", tags: ["a", "z"] }, ['tags.1: Invalid option: expected one of "a"|"b"']],
    [{ query: "a", tags: "a" }, ["tags: Invalid input: expected array, received string"]],
    // JSON Schema gives a list's `maximum` no meaning, so neither does the validator.
    [{ query: "a", years: [1990] }, { query: "a", n: 10, years: [1990] }],
    [{ query: "a", flag: 1 }, ["flag: Invalid input: expected boolean, received number"]],
    [{ query: "a", other: { deep: 1 }, __proto__: null }, { query: "a", n: 10 }],
    [null, [": Invalid input: expected object, received null"]],
    [[], [": Invalid input: expected object, received array"]],
  ];
  for (const [args, want] of table) assert.deepEqual(verdict(ARGUMENTS, args), want, JSON.stringify(args));
});

test("a required argument is required even when it has a default", () => {
  assert.deepEqual(verdict([{ name: "a", type: "string", default: "x", required: true }], {}), ["a: Invalid input: expected string, received undefined"]);
});

test("members of an enum that the type excludes are never accepted", () => {
  const numbers: readonly ParamSpec[] = [{ name: "n", type: "integer", enum: [1, "2", 2.5, 3] }];
  assert.deepEqual(verdict(numbers, { n: 3 }), { n: 3 });
  for (const n of ["2", 2.5, 2]) assert.equal(validatorOf(numbers).safeParse({ n }).success, false);
  assert.equal(validatorOf([{ name: "s", type: "string", enum: [1, 0] }]).safeParse({ s: "1" }).success, false);
});

test.run();
