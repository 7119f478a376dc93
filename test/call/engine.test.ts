import * as assert from "node:assert/strict";
import * as z from "zod";
import type { Handler } from "../../runtime/abi/call.js";
import { isToolError, type ToolError } from "../../runtime/abi/errors.js";
import type { PipelinePlan, QueryPlan, SearchPlan } from "../../runtime/abi/plan.js";
import { bind } from "../../runtime/call/steps/bind.js";
import { createEngine } from "../../runtime/call/engine.js";
import { search } from "../../runtime/call/steps/search.js";
import { shape } from "../../runtime/call/steps/shape.js";
import { suite } from "../lib/suite.js";
import { memoryAdapter, nobody, program } from "./program.js";

const test = suite("call/engine");
const env = new Map<string, string>();

const things: SearchPlan = {
  kind: "search",
  connection: "main",
  collection: "things",
  query: { arg: "query", required: false, embedding: "default", mode: "dense" },
  guard: { path: "owner", op: "eq", value: "ann" },
  bind: [{ arg: "size", path: "size", op: "gte" }],
  limit: { arg: "limit", default: 2, max: 3 },
  output: { fields: ["name"], id: true, score: true },
};
const schema = z.object({ query: z.string().optional(), size: z.number().optional(), limit: z.int().min(1).max(3).default(2) });
const rows = [
  { name: "a", owner: "ann", size: 1, _id: "1" },
  { name: "b", owner: "bob", size: 9, _id: "2" },
  { name: "c", owner: "ann", size: 3, _id: "3" },
  { owner: "ann", size: 5, _id: "4" },
];

const engine = () => createEngine(program({ plans: { find_things: things }, validators: { find_things: schema }, adapter: memoryAdapter(rows) }), { env, now: () => 0 });

async function failure(promise: Promise<unknown>): Promise<ToolError> {
  const error = await promise.then(() => null, (reason: unknown) => reason);
  assert.ok(isToolError(error), `expected a ToolError, got ${String(error)}`);
  return error;
}

test("a call answers an envelope with all ten keys in order", async () => {
  const result = await engine().call("find_things", { size: 2 }, nobody);
  assert.deepEqual(Object.entries(result), [
    ["rows", [{ name: "c", _id: "3" }, { name: null, _id: "4" }]],
    ["count", 2],
    ["truncated", false],
    ["may_be_incomplete", false],
    ["exact_search", true],
    ["search_mode", "none"],
    ["warnings", ["VB4001"]],
    ["latency_ms", 0],
    ["compiled_query", null],
    ["message", null],
  ]);
});

test("a query text makes it a vector search whose rows end in _score and _id", async () => {
  const result = await engine().call("find_things", { query: "c", limit: 1 }, nobody);
  assert.equal(result.search_mode, "dense");
  assert.deepEqual(Object.keys(result.rows[0] ?? {}), ["name", "_score", "_id"]);
});

test("may_be_incomplete is true where an approximate search is certified below 1, and never of a search that compared every row", async () => {
  const found = async (minRecall: number | undefined, exact: boolean, query = "c"): Promise<readonly boolean[]> => {
    const plan = { ...things, query: { ...(things.query as QueryPlan), ...(minRecall === undefined ? {} : { min_recall: minRecall }) } };
    const adapter = memoryAdapter(rows, { search: async () => ({ rows: [], exact }) });
    const pipe: PipelinePlan = { kind: "pipeline", retrieve: { connection: "main", collection: "things", bind: [], query: plan.query, overfetch_factor: 2, max_candidates: 10 }, steps: [], limit: things.limit, output: things.output };
    const own = createEngine(program({ plans: { find_things: plan, pipe }, adapter }), { env, now: () => 0 });
    const [one, other] = [await own.call("find_things", { query }, nobody), await own.call("pipe", { query }, nobody)];
    assert.deepEqual([one.may_be_incomplete, one.exact_search], [other.may_be_incomplete, other.exact_search]);
    return [one.may_be_incomplete, one.exact_search];
  };
  assert.deepEqual(await found(0.9, false), [true, false]);
  assert.deepEqual(await found(0.9, true), [false, true]);
  assert.deepEqual(await found(1, false), [false, false]);
  assert.deepEqual(await found(undefined, false), [false, false]);
  assert.deepEqual(await found(0.9, false, ""), [false, true], "without a text nothing is searched");
});

test("an empty query text counts as absent", async () => {
  assert.equal((await engine().call("find_things", { query: "" }, nobody)).search_mode, "none");
});

test("an unknown tool is named, with the nearest name and where to find the others", async () => {
  const error = await failure(engine().call("find_thing", {}, nobody));
  assert.equal(error.code, "invalid_arguments");
  assert.equal(error.message, "unknown tool 'find_thing' (did you mean 'find_things'?); list_available_tools returns the tools there are");
  assert.match((await failure(engine().call("toString", {}, nobody))).message, /^unknown tool 'toString';/);
});

test("a wrong argument is named with what was expected", async () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ size: "2" }, "size: expected number, received string"],
    [{ limit: 4 }, "limit: expected number to be <=3"],
    [{ limit: 0, size: true }, "size: expected number, received boolean; limit: expected number to be >=1"],
    [{ query: null }, "query: expected string, received null"],
    [[], "arguments: expected object, received array"],
  ];
  for (const [args, message] of cases) assert.equal((await failure(engine().call("find_things", args, nobody))).message, message);
});

test("a missing argument is called required", async () => {
  const strict = createEngine(program({ plans: { t: things }, validators: { t: z.object({ name: z.string() }) }, adapter: memoryAdapter(rows) }), { env });
  assert.equal((await failure(strict.call("t", undefined, nobody))).message, "name: required, expected string");
});

test("a program for another ABI is refused", () => {
  assert.throws(() => createEngine({ ...program({ plans: {} }), abi: 2 }, { env }), /ABI 2/);
});

test("a plan that needs what cannot be run is refused with the program", () => {
  // A plan that another version made.
  const other = "oracle" as unknown as "http";
  const rerank = { t: { ...things, rerank: { provider: other, model: "m", retrieve_k: 5 } } } as const;
  assert.throws(() => createEngine(program({ plans: rerank }), { env }), /tool 't' needs rerank by 'oracle'/);
  const expand = { t: { ...things, query: { arg: "query", required: false, embedding: "default", mode: "dense", expand: { provider: other, variants: 2 } } } } as const;
  assert.throws(() => createEngine(program({ plans: expand }), { env }), /tool 't' needs query.expand by 'oracle'/);
});

test("a printed handler type-checks against its schema and runs like the generic one", async () => {
  const printed: Handler<typeof schema> = async (args, call) => {
    const bound = bind(things, args, call);
    const found = await search(bound, call);
    return shape(things, found, call);
  };
  const made = program({ plans: { find_things: things }, validators: { find_things: schema }, adapter: memoryAdapter(rows) });
  const code = await made.code();
  const other = createEngine({ ...made, code: async () => ({ ...code, handlers: { find_things: printed } }) }, { env, now: () => 0 });
  assert.deepEqual(await other.call("find_things", { size: 2 }, nobody), await engine().call("find_things", { size: 2 }, nobody));
});

test.run();
