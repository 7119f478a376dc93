import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { parseExpression } from "../../generator/expression.js";
import type { CallArgs } from "../../runtime/abi/call.js";
import { isToolError } from "../../runtime/abi/errors.js";
import { evaluate, type Filter, type Row } from "../../runtime/abi/filter.js";
import type { Expr, PipelinePlan, PipelineStep } from "../../runtime/abi/plan.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { createEngine } from "../../runtime/call/engine.js";
import { evaluateExpr } from "../../runtime/call/pipeline/expression.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { memoryAdapter, nobody, program } from "./program.js";

const test = suite("call/pipeline");

function expr(text: string): Expr {
  const parsed = parseExpression(text);
  return "expr" in parsed ? parsed.expr : assert.fail(`${text}: ${parsed.error}`);
}

const filterBy = (text: string): PipelineStep => ({ kind: "post_filter", text, expr: expr(text) });

interface Shape {
  readonly steps?: readonly PipelineStep[];
  readonly factor?: number;
  readonly most?: number;
  readonly more?: Partial<PipelinePlan["retrieve"]>;
  readonly output?: Partial<PipelinePlan["output"]>;
  readonly limit?: Partial<PipelinePlan["limit"]>;
}

function planOf({ steps = [], factor = 10, most = 2000, more = {}, output = {}, limit = {} }: Shape): PipelinePlan {
  return {
    kind: "pipeline",
    retrieve: { connection: "main", collection: "things", bind: [], overfetch_factor: factor, max_candidates: most, ...more },
    steps,
    limit: { arg: "limit", default: 10, max: 50, ...limit },
    output: { id: true, score: true, ...output },
  };
}

/** Runs a pipeline over rows and tells how many rows each retrieve asked for. */
async function runOver(rows: readonly Row[], shape: Shape, args: CallArgs = {}) {
  const asked: number[] = [];
  const plain = await memoryAdapter(rows).open({}, { base: "" });
  const spy = <R extends { readonly limit: number }, T>(read: (request: R, signal: AbortSignal) => Promise<T>) => (request: R, signal: AbortSignal) => (asked.push(request.limit), read(request, signal));
  const overrides: Partial<Adapter> = { fetch: spy(plain.fetch), search: spy(plain.search) };
  const engine = createEngine(program({ plans: { p: planOf(shape) }, adapter: memoryAdapter(rows, overrides) }), { env: new Map(), now: () => 0 });
  return { ...(await engine.call("p", args, nobody)), asked };
}

const numbered = (n: number): readonly Row[] => Array.from({ length: n }, (_, i) => ({ _id: String(i).padStart(5, "0"), n: i, parity: i % 2 === 0 ? "even" : "odd" }));

test("the fetch is wider than the limit, whatever the limit's maximum", async () => {
  const result = await runOver(numbered(500), { limit: { default: 10, max: 10 } });
  assert.deepEqual([result.asked, result.count, result.may_be_incomplete], [[100], 10, false]);
});

test("a store with fewer rows than asked for is exhausted: no error, nothing incomplete", async () => {
  const empty = await runOver([], {});
  assert.deepEqual([empty.asked, empty.count, empty.may_be_incomplete], [[100], 0, false]);
  const few = await runOver(numbered(12), { steps: [filterBy("n >= 10")] });
  assert.deepEqual([few.asked, few.rows.map((row) => row["n"]), few.may_be_incomplete], [[100], [10, 11], false]);
});

test("while steps leave too little, the fetch widens to three times, then to all it may", async () => {
  const found = await runOver(numbered(3000), { steps: [filterBy("n >= 250")] });
  assert.deepEqual([found.asked, found.rows[0]?.["n"], found.count], [[100, 300], 250, 10]);
  const late = await runOver(numbered(3000), { steps: [filterBy("n >= 1990")] });
  assert.deepEqual([late.asked, late.count, late.may_be_incomplete], [[100, 300, 2000], 10, false]);
});

test("a result that more candidates could have filled is called incomplete", async () => {
  const result = await runOver(numbered(3000), { steps: [filterBy("n >= 1995")] });
  assert.deepEqual([result.count, result.may_be_incomplete], [5, true]);
  const whole = await runOver(numbered(2000), { steps: [filterBy("n >= 1995")], most: 2001 });
  assert.deepEqual([whole.count, whole.may_be_incomplete], [5, false]);
});

test("without a query, sorting and grouping look at every candidate at once", async () => {
  const sorted = await runOver(numbered(500), { steps: [{ kind: "sort", by: "n", desc: true, nulls: "last" }] }, { limit: 2 });
  assert.deepEqual([sorted.asked, sorted.rows.map((row) => row["n"]), sorted.may_be_incomplete], [[2000], [499, 498], false]);
  const capped = await runOver(numbered(500), { steps: [{ kind: "sort", by: "n", desc: true, nulls: "last" }], most: 100 }, { limit: 2 });
  assert.deepEqual([capped.rows.map((row) => row["n"]), capped.may_be_incomplete], [[99, 98], true]);
});

test("with a query, steps work on the nearest candidates", async () => {
  const more = { query: { arg: "q", required: false, embedding: "default", mode: "dense" as const } };
  const result = await runOver(numbered(500), { more, steps: [{ kind: "sort", by: "n", desc: true, nulls: "last" }] }, { q: "x", limit: 2 });
  assert.deepEqual([result.asked, result.rows.map((row) => row["n"]), result.search_mode], [[20], [19, 18], "dense"]);
});

test("projection, redaction and the id's removal come after the steps", async () => {
  const rows = [{ _id: "1", secret: "b", hidden: 2 }, { _id: "2", secret: "a", hidden: 1 }];
  const result = await runOver(rows, {
    steps: [filterBy("hidden > 0"), { kind: "sort", by: "secret", desc: false, nulls: "last" }],
    output: { fields: ["secret"], id: false, redact: [{ path: "secret", mode: "mask" }] },
  });
  assert.deepEqual([result.rows, result.warnings], [[{ secret: "***" }, { secret: "***" }], []]);
});

test("group_by keeps groups in the order they come, null and missing among them, and takes the best of each", async () => {
  const rows = [
    { _id: "1", by: { name: "b" }, r: 1 }, { _id: "2", by: { name: "a" }, r: 9 }, { _id: "3", r: 5 }, { _id: "4", by: { name: "b" }, r: 7 },
    { _id: "5", by: { name: null }, r: 6 }, { _id: "6", by: { name: "a" } }, { _id: "7", by: { name: "a" }, r: 8 },
  ];
  const ids = async (step: PipelineStep, args: CallArgs = {}) => (await runOver(rows, { steps: [step] }, args)).rows.map((row) => row["_id"]).join("");
  assert.equal(await ids({ kind: "group_by", keys: ["by.name"] }), "1426735");
  const best = (take: number | { param: string }): PipelineStep => ({ kind: "group_by", keys: ["by.name"], per_group: { sort_by: "r", desc: true, take } });
  assert.equal(await ids(best(1)), "245");
  assert.equal(await ids(best({ param: "take" })), "2764153");
  assert.equal(await ids(best({ param: "take" }), { take: 2 }), "274153");
  assert.equal(await ids(best({ param: "take" }), { take: -4 }), "245");
  assert.equal(await ids({ kind: "group_by", keys: ["gone"] }), "1234567");
});

test("sort is stable, nulls last unless said otherwise, and leaves unknown fields alone", async () => {
  const rows = [{ _id: "1", v: 2 }, { _id: "2", v: null }, { _id: "3", v: 1 }, { _id: "4" }, { _id: "5", v: 2 }, { _id: "6", v: "x" }];
  const ids = async (desc: boolean, nulls: "first" | "last", by = "v") => (await runOver(rows, { steps: [{ kind: "sort", by, desc, nulls }] })).rows.map((row) => row["_id"]).join("");
  assert.equal(await ids(false, "last"), "315624");
  assert.equal(await ids(true, "last"), "615324");
  assert.equal(await ids(true, "first"), "246153");
  assert.equal(await ids(true, "last", "gone"), "123456");
});

test("whole records are redacted before any step: no projection of a parent or a part shows the value", async () => {
  const rows = [{ _id: "1", user: { email: "ann@home.org", name: "Ann" }, n: 1 }, { _id: "2", "user.email": "bob@home.org", n: 2 }, { _id: "3", user: [{ email: "cay@home.org" }], n: 3 }];
  const shown = async (path: string, mode: "omit" | "hash" | "mask", ...fields: string[]): Promise<string> =>
    JSON.stringify((await runOver(rows, { steps: [{ kind: "project", fields }, { kind: "sort", by: "n", desc: false, nulls: "last" }], output: { redact: [{ path, mode }] } })).rows);
  for (const mode of ["omit", "hash", "mask"] as const) {
    for (const [path, field] of [["user.email", "user"], ["user.email", "user.email"], ["user", "user.email"], ["user", "user"]] as const) {
      const text = await shown(path, mode, field, "n");
      for (const secret of ["ann", "bob", "cay"]) assert.ok(!text.includes(`${secret}@`), `${mode} ${path}, project ${field}: ${text}`);
    }
  }
  const hash = (await runOver(rows.slice(1, 2), { steps: [], output: { redact: [{ path: "user.email", mode: "hash" }] } })).rows[0]?.["user.email"];
  assert.equal((await runOver(rows.slice(1, 2), { steps: [{ kind: "project", fields: ["user.email"] }], output: { redact: [{ path: "user.email", mode: "hash" }] } })).rows[0]?.["user.email"], hash, "hashed once");
});

test("a projection of fields that no row has shows nothing, not everything", async () => {
  const result = await runOver([{ _id: "1", email: "ann@home.org", note: "secret" }], { steps: [{ kind: "project", fields: ["email"] }], output: { redact: [{ path: "email", mode: "omit" }] } });
  assert.deepEqual(result.rows, [{}]);
});

test("project keeps what is listed, nested paths as one key, and the id only when listed", async () => {
  const rows = [{ _id: "1", a: { b: 1 }, c: 2 }, { _id: "2", c: 3 }];
  const project = async (...fields: string[]) => (await runOver(rows, { steps: [{ kind: "project", fields }] })).rows;
  assert.deepEqual(await project("a.b", "gone"), [{ "a.b": 1 }, { "a.b": null }]);
  assert.deepEqual(await project("c", "_id"), [{ c: 2, _id: "1" }, { c: 3, _id: "2" }]);
  assert.equal((await project("gone")).length, 2);
});

test("the step's own filter is ANDed behind guard and arguments, without what waits for absent arguments", async () => {
  const guard: Filter = { path: "parity", op: "eq", value: "even" };
  const filter = { or: [{ path: "n", op: "gte" as const, param: "from" }, { path: "n", op: "eq" as const, value: 2 }] };
  const seen: (Filter | null)[] = [];
  const adapter = memoryAdapter(numbered(20), { fetch: async (request) => (seen.push(request.filter), { rows: [], exact: true }) });
  const engine = createEngine(program({ plans: { p: planOf({ more: { guard, bind: [{ arg: "to", path: "n", op: "lte" }], filter } }) }, adapter }), { env: new Map() });
  await engine.call("p", { from: 8, to: 10 }, nobody);
  await engine.call("p", {}, nobody);
  assert.deepEqual(seen, [
    { and: [{ ...guard, fixed: true }, { path: "n", op: "lte", value: 10 }, { or: [{ path: "n", op: "gte", value: 8 }, { path: "n", op: "eq", value: 2 }] }] },
    { and: [{ ...guard, fixed: true }, { path: "n", op: "eq", value: 2 }] },
  ]);
});

test("a null that decided a comparison is warned about once", async () => {
  const result = await runOver([{ _id: "1" }, { _id: "2" }, { _id: "3", n: 1 }], { steps: [filterBy("n > 0"), filterBy("m > 0 or n > 0")] });
  assert.deepEqual([result.count, result.warnings], [1, ["VB4002"]]);
});

test("an argument that an expression needs and nobody gave is named", async () => {
  const error = await runOver(numbered(1), { steps: [filterBy("n >= params.from")] }).then(() => null, (reason: unknown) => reason);
  assert.ok(isToolError(error));
  assert.equal(error.code, "expr_error");
  assert.match(error.message, /^from: needed by this tool's post_filter/);
  assert.equal((await runOver(numbered(9), { steps: [filterBy("n >= params.from")] }, { from: 7 })).count, 2);
});

test("expressions mean what their table says", () => {
  const rows: readonly Row[] = [{ a: 1, b: true, s: "x", t: "12", o: { p: "é" } }, { a: 2, b: false, s: "y", t: "abc", o: {} }, { a: null, b: null, s: null, t: null }];
  const table: readonly (readonly [text: string, want: readonly unknown[]])[] = [
    ["a != 2", [true, false, false]],
    ["not b", [false, true, true]],
    ["b or a > 1", [true, true, false]],
    ["a == null", [false, false, false]],
    ["a / 0 == 1", [false, false, false]],
    ["not (a > 1)", [true, false, true]],
    ["s > 'a'", [true, true, false]],
    ["params.t > a", [true, false, false]],
    ["-a + 2 * 3", [5, 4, null]],
    ["s == 1", [false, false, false]],
    ["s != 1", [true, true, false]],
    ["t > 5", [true, false, false]],
    ["t + 1", [13, null, null]],
    ["t == '12'", [true, false, false]],
    ["b == true", [true, false, false]],
    ["b == 1", [false, false, false]],
    ["o.p == 'é'", [true, false, false]],
    ["o", [null, null, null]],
    ["gone", [null, null, null]],
    ["1e308 * 10", [null, null, null]],
    ["true and 'x'", [false, false, false]],
  ];
  for (const [text, want] of table) {
    assert.deepEqual(rows.map((row) => evaluateExpr(expr(text), row, { args: { t: 2 }, onNull: () => undefined })), want, text);
  }
});

// ---- against a naive oracle over the films -----------------------------------------------------------------------

const films: readonly Row[] = (JSON.parse(readFileSync(repo("node_modules/vega-datasets/data/movies.json"), "utf8")) as readonly Row[])
  .map((film, index): Row => ({
    _id: String(index + 1).padStart(5, "0"), title: film["Title"], genre: film["Major Genre"], rating: film["IMDB Rating"], votes: film["IMDB Votes"],
    gross: film["Worldwide Gross"], budget: film["Production Budget"], by: { name: film["Director"] }, mpaa: film["MPAA Rating"],
  }));

/** A predicate twice: as an expression, and as a function that was written without looking at the evaluator. */
const num = (row: Row, key: string): number | null => (typeof row[key] === "number" ? (row[key] as number) : null);
const PREDICATES: readonly (readonly [text: string, holds: (row: Row, args: { readonly bar: number }) => boolean])[] = [
  ["rating >= params.bar", (row, { bar }) => num(row, "rating") !== null && Number(row["rating"]) >= bar],
  ["gross > 3 * budget", (row) => num(row, "gross") !== null && num(row, "budget") !== null && Number(row["gross"]) > 3 * Number(row["budget"])],
  ["genre == 'Drama' or genre == \"Comedy\"", (row) => row["genre"] === "Drama" || row["genre"] === "Comedy"],
  ["not (votes < 50000)", (row) => num(row, "votes") === null || Number(row["votes"]) >= 50000],
  ["gross / budget > 10 and rating < 7", (row) => Number(row["budget"]) > 0 && num(row, "gross") !== null && Number(row["gross"]) / Number(row["budget"]) > 10 && num(row, "rating") !== null && Number(row["rating"]) < 7],
  ["by.name != 'Woody Allen'", (row) => typeof (row["by"] as Row)["name"] === "string" && (row["by"] as Row)["name"] !== "Woody Allen"],
];
const PATHS = ["rating", "votes", "gross", "mpaa", "by.name"];
const at = (row: Row, path: string): unknown => (path === "by.name" ? (row["by"] as Row)["name"] : row[path]) ?? null;

/** Plain sorting of numbers or texts with nulls at the end; insertion order among equals. */
function naiveSort(rows: readonly Row[], path: string, desc: boolean): readonly Row[] {
  const known = rows.map((row, index) => ({ row, index })).filter(({ row }) => at(row, path) !== null);
  known.sort((a, b) => {
    const [x, y] = [at(a.row, path), at(b.row, path)] as [string, string];
    return x === y ? a.index - b.index : (x < y) !== desc ? -1 : 1;
  });
  return [...known.map(({ row }) => row), ...rows.filter((row) => at(row, path) === null)];
}

const GUARDS: readonly (Filter | null)[] = [null, { path: "genre", op: "eq", value: "Drama" }, { path: "votes", op: "gt", value: 20_000 }];

interface Case {
  readonly guard: Filter | null;
  readonly predicates: readonly number[];
  readonly group: { readonly key: string; readonly by: string; readonly desc: boolean; readonly take: number } | null;
  readonly sort: { readonly by: string; readonly desc: boolean } | null;
  readonly limit: number;
  readonly bar: number;
  readonly most: number;
}

const cases: fc.Arbitrary<Case> = fc.record({
  guard: fc.constantFrom(...GUARDS),
  predicates: fc.uniqueArray(fc.nat({ max: PREDICATES.length - 1 }), { maxLength: 2 }),
  group: fc.option(fc.record({ key: fc.constantFrom("genre", "by.name", "mpaa"), by: fc.constantFrom(...PATHS), desc: fc.boolean(), take: fc.integer({ min: 1, max: 4 }) })),
  sort: fc.option(fc.record({ by: fc.constantFrom(...PATHS), desc: fc.boolean() })),
  limit: fc.integer({ min: 1, max: 50 }),
  bar: fc.integer({ min: 1, max: 9 }),
  most: fc.constantFrom(40, 5000),
});

function oracle({ guard, predicates, group, sort, limit, bar }: Case, most: number): readonly Row[] {
  let rows: readonly Row[] = films.filter((film) => evaluate(guard, film)).slice(0, most);
  rows = rows.filter((film) => predicates.every((index) => PREDICATES[index]?.[1](film, { bar })));
  if (group !== null) {
    const sorted = naiveSort(rows, group.by, group.desc);
    const keys = [...new Set(sorted.map((row) => at(row, group.key)))];
    rows = keys.flatMap((key) => sorted.filter((row) => at(row, group.key) === key).slice(0, group.take));
  }
  return (sort === null ? rows : naiveSort(rows, sort.by, sort.desc)).slice(0, limit);
}

test("pipelines over the films return what a naive oracle returns, and say when they may not", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const { guard, predicates, group, sort, limit, bar, most } = one;
      const steps: PipelineStep[] = predicates.map((index) => filterBy(PREDICATES[index]?.[0] ?? ""));
      if (group !== null) steps.push({ kind: "group_by", keys: [group.key], per_group: { sort_by: group.by, desc: group.desc, take: { param: "take" } } });
      if (sort !== null) steps.push({ kind: "sort", by: sort.by, desc: sort.desc, nulls: "last" });
      const plan = planOf({ steps, most, factor: 3, ...(guard === null ? {} : { more: { guard } }) });
      const engine = createEngine(program({ plans: { p: plan }, adapter: memoryAdapter(films) }), { env: new Map(), now: () => 0 });
      const result = await engine.call("p", { limit, bar, take: group?.take ?? 1 }, nobody);
      const complete = oracle(one, films.length);
      const seen = oracle(one, most);
      assert.deepEqual(result.rows.map((row) => row["_id"]), seen.map((row) => row["_id"]));
      if (!result.may_be_incomplete) assert.deepEqual(result.rows.map((row) => row["_id"]), complete.map((row) => row["_id"]));
    }),
    { numRuns: 150 },
  );
}, { timeoutMs: 60_000 });

test.run();
