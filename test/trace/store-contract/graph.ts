/** What every store says of the calls along edges, and of the runs behind them. */
import assert from "node:assert/strict";
import type { Suite } from "../../lib/suite.js";
import type { Json } from "../lib.js";
import type { Stores, TestStore } from "../stores.js";
import { record } from "./reading.js";

const DAY = 86_400_000;
const T0 = Date.UTC(2026, 0, 1);

/** A run of an agent whose tool takes so long each time; a negative time fails. */
function runOf(id: string, name: string, day: number, times: readonly number[], tool = "find"): Json[] {
  const at = (ms: number): number => T0 + day * DAY + ms;
  const calls = times.flatMap((ms, index) => {
    const call = { run_id: `${id}-${index}`, parent_run_id: id, tool_name: tool, mcp_server: "shop" };
    return [{ ...call, event_type: "tool_start", timestamp: at(index) }, { ...call, event_type: ms < 0 ? "tool_error" : "tool_end", timestamp: at(index + Math.abs(ms)) }];
  });
  return [{ run_id: id, event_type: "chain_start", agent_name: name, timestamp: at(0) }, ...calls, { run_id: id, event_type: "chain_end", agent_name: name, timestamp: at(500) }] as Json[];
}

const micros = (day: number): number => (T0 + day * DAY) * 1000;

async function fill(store: TestStore): Promise<void> {
  await record(store, runOf("a", "buyer", 0, [10, 20, 30, 40]));
  await record(store, runOf("b", "buyer", 1, [100, -200]));
  await record(store, runOf("c", "seller", 2, [7], "sell"));
}

export function graphContract(test: Suite, stores: Stores): void {
  test("an edge has the percentiles and failures of the calls along it, in every scope", () =>
    stores.with(async (store) => {
      await fill(store);
      const edge = async (query: Parameters<TestStore["reader"]["wideTopology"]>[0], target: string) => {
        const { edges, counted_runs, total_runs } = await store.reader.wideTopology(query);
        const found = edges.find((each) => each.source === "agent:buyer" && each.target === target);
        return [found?.count, found?.error_count, found?.p50_duration_ms, found?.p95_duration_ms, counted_runs, total_runs];
      };
      assert.deepEqual(await edge({ scope: "all" }, "tool:find"), [6, 1, 30, 200, 3, 3]);
      assert.deepEqual(await edge({ scope: "all" }, "mcp:shop"), [6, 1, 30, 200, 3, 3]);
      assert.deepEqual(await edge({ scope: "run:a" }, "tool:find"), [4, 0, 20, 40, 1, 1]);
      assert.deepEqual(await edge({ scope: "name:buyer" }, "tool:find"), [6, 1, 30, 200, 2, 2]);
      assert.deepEqual(await edge({ scope: "last_n:2" }, "tool:find"), [2, 1, 100, 200, 2, 2]);
      assert.deepEqual(await edge({ scope: "all", from: micros(1) }, "tool:find"), [2, 1, 100, 200, 2, 2]);
      assert.deepEqual(await edge({ scope: "name:buyer", to: micros(1) }, "tool:find"), [4, 0, 20, 40, 1, 1]);
      assert.deepEqual(await edge({ scope: "run:a", from: micros(1) }, "tool:find"), [undefined, undefined, undefined, undefined, 0, 0]);
      assert.deepEqual(await edge({ scope: "name:nobody" }, "tool:find"), [undefined, undefined, undefined, undefined, 0, 0]);
      const { nodes } = await store.reader.wideTopology({ scope: "all" });
      assert.deepEqual(nodes.find((node) => node.id === "tool:find"), { ...(await store.reader.topology("all")).nodes.find((node) => node.id === "tool:find"), p50_duration_ms: 30, p95_duration_ms: 200 });
      assert.deepEqual((await store.reader.wideTopology({ scope: "all" })).edges.find((each) => each.source === "mcp:shop" && each.target === "tool:find")?.p95_duration_ms, 200);
    }));

  test("an edge has its durations also when calls are recorded before what called them", () =>
    stores.with(async (store) => {
      const [start, ...rest] = runOf("a", "buyer", 0, [10, -20]);
      const end = rest.pop();
      await record(store, [...rest, start, end] as Json[]);
      const { edges } = await store.reader.wideTopology({ scope: "run:a" });
      assert.deepEqual(edges.filter((edge) => edge.target === "tool:find").map((edge) => [edge.source, edge.count, edge.error_count, edge.p95_duration_ms]), [["agent:buyer", 2, 1, 20], ["mcp:shop", 2, 1, 20]]);
    }));

  test("the runs behind a node and an edge are those of the scope that have the call, newest first", () =>
    stores.with(async (store) => {
      await fill(store);
      const behind = async (...given: Parameters<TestStore["reader"]["nodeRuns"]>) => (await store.reader.nodeRuns(...given)).runs.map((run) => run.run_id).join(" ");
      const all = { scope: "all" };
      assert.deepEqual([await behind(all, "tool:find"), await behind(all, "mcp:shop"), await behind(all, "agent:seller"), await behind(all, "tool:none"), await behind(all, "mcp:none")], ["b a", "c b a", "c", "", ""]);
      assert.deepEqual([await behind(all, "tool:find", "agent:buyer"), await behind(all, "tool:sell", "agent:buyer"), await behind(all, "mcp:shop", "agent:seller"), await behind(all, "tool:sell", "mcp:shop"), await behind(all, "tool:find", "agent:none")], ["b a", "", "c", "c", ""]);
      assert.deepEqual([await behind({ scope: "name:buyer" }, "mcp:shop"), await behind({ scope: "all", to: micros(1) }, "mcp:shop"), await behind({ scope: "run:b" }, "tool:find"), await behind({ scope: "run:c" }, "tool:find")], ["b a", "a", "b", ""]);
      const page = await store.reader.nodeRuns(all, "mcp:shop", undefined, 2);
      assert.deepEqual([page.runs.map((run) => run.run_id), page.total, page.counted_runs, page.total_runs], [["c", "b"], 3, 3, 3]);
    }));

  test("a name with any characters is a scope, and a scope that is a query is none", () =>
    stores.with(async (store) => {
      const name = "all' OR 1=1 -- %_\\ name:x";
      await record(store, runOf("odd", name, 0, [1]));
      await record(store, runOf("other", "x", 0, [1]));
      assert.deepEqual((await store.reader.nodeRuns({ scope: `name:${name}` }, "tool:find")).runs.map((run) => run.run_id), ["odd"]);
      assert.equal((await store.reader.wideTopology({ scope: "name:%" })).nodes.length, 0);
    }));
}
