/** What a caller that listens hears of a call, for each kind of tool. */
import * as assert from "node:assert/strict";
import type { Filter } from "../../runtime/abi/filter.js";
import { BackendError } from "../../runtime/abi/errors.js";
import type { PlanTable, ReadPlan } from "../../runtime/abi/plan.js";
import { createEngine } from "../../runtime/call/engine.js";
import { suite } from "../lib/suite.js";
import { caller, memoryAdapter, nobody, program } from "./program.js";

const test = suite("call/on-step");

const guard: Filter = { path: "owner", op: "eq", value: "ann" };
const read: ReadPlan & { readonly output: { readonly id: true; readonly score: true } } = {
  connection: "main", collection: "things", guard, bind: [], output: { id: true, score: true },
};
const query = { arg: "query", required: false, embedding: "default", mode: "dense" } as const;
const resolve = { connection: "main", collection: "things", field: "name", min_confidence: 0.7, max_candidates: 100, cache_ttl_s: 60 };

const plans: PlanTable = {
  search: { kind: "search", ...read, query, limit: { arg: "limit", default: 2, max: 3 } },
  named: { kind: "search", ...read, bind: [{ arg: "name", path: "name", op: "eq", resolve }], limit: { arg: "limit", default: 2, max: 3 } },
  lookup: { kind: "lookup", ...read, rows: 1 },
  count: { kind: "count", ...read },
  collections: { kind: "meta", connection: "main", meta: "collections" },
  pipeline: {
    kind: "pipeline",
    retrieve: { ...read, query, overfetch_factor: 5, max_candidates: 100 },
    steps: [{ kind: "sort", by: "name", desc: false, nulls: "last" }, { kind: "project", fields: ["name"] }],
    limit: { arg: "limit", default: 2, max: 3 }, output: { id: true, score: true },
  },
} as PlanTable;

const rows = [{ name: "anna", owner: "ann", _id: "1" }, { name: "bob", owner: "ann", _id: "2" }];
const engine = createEngine(program({ plans, adapter: memoryAdapter(rows) }), { env: new Map() });

test("each kind of tool reports the steps that it has, in order", async () => {
  const table: readonly (readonly [tool: string, args: object, steps: readonly string[]])[] = [
    ["search", { query: "x" }, ["embed", "search"]],
    ["search", {}, ["fetch"]],
    ["named", { name: "Anna" }, ["fetch", "fetch"]],
    ["lookup", {}, ["fetch"]],
    ["count", {}, ["count"]],
    ["collections", {}, ["collections", "count"]],
    ["pipeline", { query: "x" }, ["embed", "search", "sort", "project"]],
  ];
  for (const [tool, args, want] of table) {
    const heard: string[] = [];
    await engine.call(tool, args, caller({}, { onStep: ({ operation }) => void heard.push(operation) }));
    assert.deepEqual(heard, want, tool);
  }
});

test("an observer of the engine and the caller of one call hear the same steps, and neither of a step that failed", async () => {
  const watched: string[] = [];
  const nothing = (): void => undefined;
  const observer = { end: nothing, steps: { begin: nothing, end: (_: unknown, { operation, failure }: { operation: string; failure: string | null }) => void watched.push(`${operation} ${failure}`) } };
  const broken = memoryAdapter(rows, { fetch: () => Promise.reject(new BackendError("unreachable", "sqlite", "down")) });
  const both = createEngine(program({ plans, adapter: broken }), { env: new Map(), observing: { observer, wallNow: () => 0 } });
  const heard: string[] = [];
  const by = caller({}, { onStep: ({ operation }) => void heard.push(operation) });
  await both.call("count", {}, by);
  await both.call("lookup", {}, by).catch(nothing);
  await both.call("count", {}, nobody);
  assert.deepEqual([watched, heard], [["count null", "fetch unreachable", "count null"], ["count"]]);
});

test("the result is the same whether anybody listens or not", async () => {
  const timeless = (envelope: object): object => ({ ...envelope, latency_ms: 0 });
  for (const tool of Object.keys(plans)) {
    const args = { name: "Anna", query: "x" };
    const heard = await engine.call(tool, args, caller({}, { onStep: () => undefined }));
    assert.deepEqual(timeless(heard), timeless(await engine.call(tool, args, nobody)), tool);
  }
});

test.run();
