/** Isolation by address: the route of a plan reaches every request that a call makes. */
import * as assert from "node:assert/strict";
import type { Adapter, Route } from "../../runtime/adapters/adapter.js";
import { refuseRoute } from "../../runtime/adapters/reduce.js";
import { isToolError } from "../../runtime/abi/errors.js";
import type { PlanTable } from "../../runtime/abi/plan.js";
import { createEngine } from "../../runtime/call/engine.js";
import { suite } from "../lib/suite.js";
import { caller, memoryAdapter, nobody, program } from "./program.js";

const test = suite("call/route");

const read = { connection: "main", collection: "things", route: { namespace: { $env: "SPACE" }, tenant: "acme" }, bind: [] };
const limit = { arg: "limit", default: 2, max: 3 };
const output = { id: true, score: false };
const query = { arg: "query", required: false, embedding: "default", mode: "dense" as const };
const directory = { connection: "main", collection: "things", field: "name", min_confidence: 0.5, max_candidates: 10, cache_ttl_s: 60 };

const PLANS: PlanTable = {
  search_it: { kind: "search", ...read, query, limit, output },
  scroll_it: { kind: "scroll", ...read, limit, output },
  look_up: { kind: "lookup", ...read, rows: 1, output },
  count_it: { kind: "count", ...read },
  pipe_it: { kind: "pipeline", retrieve: { ...read, query, overfetch_factor: 2, max_candidates: 8 }, steps: [], limit, output },
  meta_it: { kind: "meta", connection: "main", route: read.route },
  name_it: { kind: "count", ...read, route: { tenant: "acme" }, bind: [{ arg: "name", path: "name", op: "eq", resolve: { ...directory, route: { namespace: "names" } } }] },
};
const FILLED = { namespace: "eu", tenant: "acme" };

/** Calls of each kind, and the routes that the store must be asked for. */
const CALLS: readonly (readonly [tool: string, args: object, asked: readonly (readonly [string, Route])[]])[] = [
  ["search_it", { query: "x" }, [["search", FILLED]]],
  ["search_it", {}, [["fetch", FILLED]]],
  ["scroll_it", {}, [["fetch", FILLED]]],
  ["look_up", {}, [["fetch", FILLED]]],
  ["count_it", {}, [["count", FILLED]]],
  ["pipe_it", { query: "x" }, [["search", FILLED]]],
  ["pipe_it", {}, [["fetch", FILLED]]],
  ["meta_it", {}, [["count", FILLED]]],
  ["name_it", { name: "Ann" }, [["fetch", { namespace: "names" }], ["count", { tenant: "acme" }]]],
];

function recording(): { readonly asked: [string, Route | undefined][]; readonly overrides: Partial<Adapter> } {
  const asked: [string, Route | undefined][] = [];
  const rows = [{ _id: "1", name: "Ann" }];
  return {
    asked,
    overrides: {
      search: async ({ route }) => (asked.push(["search", route]), { rows: [], exact: true }),
      fetch: async ({ route }) => (asked.push(["fetch", route]), { rows, exact: true }),
      count: async (_collection, _filter, _signal, route) => (asked.push(["count", route]), 1),
    },
  };
}

test("the route of the plan, its references filled, is in every request of every kind, watched or not", async () => {
  for (const watched of [false, true]) {
    for (const [tool, args, want] of CALLS) {
      const { asked, overrides } = recording();
      const engine = createEngine(program({ plans: PLANS, adapter: memoryAdapter([], overrides) }), { env: new Map([["SPACE", "eu"]]) });
      await engine.call(tool, args, watched ? caller({}, { onStep: () => undefined }) : nobody);
      assert.deepEqual(asked, want, `${tool} ${JSON.stringify(args)}${watched ? " watched" : ""}`);
      await engine.close();
    }
  }
});

test("a reference in a route without a value stops the start", () => {
  for (const tool of ["search_it", "count_it", "pipe_it", "meta_it"]) {
    assert.throws(() => createEngine(program({ plans: { [tool]: PLANS[tool] as PlanTable[string] } }), { env: new Map() }), (error) => isToolError(error) && error.code === "missing_env", tool);
  }
});

test("a store without addresses refuses each of them: nothing is read outside the route", async () => {
  const refuse = (route: Route | undefined): never => {
    refuseRoute("sqlite", route);
    throw new Error("the route was lost");
  };
  const adapter = memoryAdapter([], { search: async ({ route }) => refuse(route), fetch: async ({ route }) => refuse(route), count: async (_collection, _filter, _signal, route) => refuse(route) });
  for (const [tool, args] of CALLS.filter(([name]) => name !== "meta_it")) {
    const engine = createEngine(program({ plans: PLANS, adapter }), { env: new Map([["SPACE", "eu"]]) });
    await assert.rejects(engine.call(tool, args, nobody), (error) => isToolError(error) && /sqlite does not support isolation by/.test(error.message), tool);
    await engine.close();
  }
});

test("a store that makes vectors itself is given the text alone, watched or not; no other is", async () => {
  for (const watched of [false, true]) {
    for (const embeds of [true, false]) {
      const seen: (readonly [string | null, boolean, boolean])[] = [];
      const overrides: Partial<Adapter> = {
        embedsText: async () => embeds,
        search: async ({ text, vector, embeddedBy }) => (seen.push([text, vector !== null, embeddedBy !== undefined]), { rows: [], exact: true }),
      };
      const engine = createEngine(program({ plans: PLANS, adapter: memoryAdapter([], overrides) }), { env: new Map([["SPACE", "eu"]]) });
      await engine.call("search_it", { query: "x" }, watched ? caller({}, { onStep: () => undefined }) : nobody);
      assert.deepEqual(seen, [["x", !embeds, !embeds]], `watched ${String(watched)}`);
      await engine.close();
    }
  }
});

test.run();
