/** What every store finds: tags, pages, text, aligned runs, costs and sessions. */
import assert from "node:assert/strict";
import type { Suite } from "../../lib/suite.js";
import { type Json, sampleRun } from "../lib.js";
import type { StepPage } from "../../../runtime/trace/store/store.js";
import type { Stores } from "../stores.js";
import { list, record, steps } from "./reading.js";

export function findingContract(test: Suite, stores: Stores): void {
  test("a tag is found as literal text in any letter case and script", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("a", { tags: ["Café-50%"] }));
      await record(store, sampleRun("b", { tags: ["plain"] }));
      const table: readonly (readonly [string, number])[] = [["CAFÉ", 1], ["50%", 1], ["%", 1], ["_", 0], ["[", 0], ['"', 0], ["a", 2], ["café-50%x", 0]];
      for (const [tag, total] of table) assert.equal((await list(store, { tag })).total, total, tag);
    }));

  test("runs and steps of the first and the last years page like any other", () =>
    stores.with(async (store) => {
      const times = ["0001-01-01T00:00:00Z", "0001-01-01T00:00:01Z", "1600-06-01T12:00:00Z", "2026-01-01T00:00:00Z", "9999-12-31T23:59:58Z", "9999-12-31T23:59:59Z"];
      await record(store, times.map((timestamp, index) => ({ run_id: `r${index}`, event_type: "chain_start", agent_name: "a", timestamp })));
      await record(store, times.map((timestamp, index) => ({ run_id: `s${index}`, parent_run_id: "r0", root_run_id: "r0", event_type: "tool_start", tool_name: "t", timestamp })));
      const runs: string[] = [];
      for (let cursor: string | undefined, pages = 0; pages < 20; pages++) {
        const page = await list(store, { limit: 1, cursor, extended: true });
        runs.push(...page.runs.map((run) => run.run_id));
        cursor = page.next_cursor;
        if (cursor === undefined) break;
      }
      assert.deepEqual(runs, ["r5", "r4", "r3", "r2", "r1", "r0"]);
      const seen: unknown[] = [];
      for (let cursor: string | null = null, pages = 0; pages < 20; pages++) {
        const page: StepPage | null = await store.reader.steps({ runId: "r0", cursor, limit: 1, extended: false, payloads: false, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER });
        seen.push((JSON.parse(page?.text ?? "{}") as Json)["run_id"]);
        cursor = page?.next ?? null;
        if (cursor === null) break;
      }
      assert.deepEqual(seen, ["r0", "s0", "s1", "s2", "s3", "s4", "s5"]);
    }));

  test("paging by cursor and by offset shows every run once, newest first, also with equal starts", () =>
    stores.with(async (store) => {
      for (let index = 0; index < 25; index++) await record(store, sampleRun(`r${String(index).padStart(2, "0")}`, { at: Date.UTC(2026, 0, 1 + Math.floor(index / 5)) }));
      const pages: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await list(store, { limit: 7, extended: true, ...(cursor === undefined ? {} : { cursor }) });
        pages.push(...page.runs.map((run) => run.run_id));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      assert.deepEqual(pages, Array.from({ length: 25 }, (_, index) => `r${String(24 - index).padStart(2, "0")}`));
      assert.deepEqual((await list(store, { limit: 7, offset: 20 })).runs.map((run) => run.run_id), pages.slice(20));
      assert.deepEqual(await list(store, { limit: 7, offset: 99 }), { runs: [], total: 25, limit: 7, offset: 99 });
    }));

  test("search finds words, phrases, prefixes and single characters of scripts without spaces, and no operators", () =>
    stores.with(async (store) => {
      await record(store, [
        { run_id: "r", event_type: "chain_start", agent_name: "planner", summary: "the quick brown fox", payload: { deep: { text: "東京の天気 naïve \"quoted\"" } } },
        { run_id: "r", event_type: "chain_end", summary: "fox AND hound", error_message: "E_CONN refused" },
      ]);
      await store.settle();
      const table: readonly (readonly [string, number])[] = [
        ["fox", 2], ["quick fox", 1], ['"quick brown"', 1], ['"brown quick"', 0], ["bro*", 1], ["bro", 0], ["天気", 1], ["NAIVE", 1], ["planner", 2], ["refused", 1],
        ["AND", 1], ["fox OR zebra", 0], ['"', 0], ["*", 0], ["NEAR(a b)", 0], ["text:fox", 0], ["quoted", 1],
      ];
      for (const [q, total] of table) assert.equal((await store.reader.search({ q, scope: "all", limit: 10, offset: 0 })).total, total, q);
      assert.match((await store.reader.search({ q: "brown", scope: "run:r", limit: 10, offset: 0 })).hits[0]?.snippet ?? "", /quick \u0002brown\u0003 fox/);
      assert.equal((await store.reader.search({ q: "brown", scope: "run:other", limit: 10, offset: 0 })).total, 0);
    }));

  test("a hit says which run it is of", () =>
    stores.with(async (store) => {
      await record(store, [
        { run_id: "a", event_type: "chain_start", agent_name: "planner", timestamp: "2026-01-01T00:00:00Z" }, { run_id: "a-1", parent_run_id: "a", event_type: "tool_start", tool_name: "x", summary: "needle one" },
        { run_id: "a", event_type: "chain_error", agent_name: "planner", error_message: "no" }, { run_id: "b", event_type: "retry", summary: "needle two", timestamp: "2026-01-02T00:00:00Z" },
      ]);
      await store.settle();
      const { hits } = await store.reader.search({ q: "needle", scope: "all", limit: 10, offset: 0 });
      assert.deepEqual(hits.map((hit) => [hit.run_id, hit.run]), [
        ["b", { name: null, status: "running", started_at: "2026-01-02T00:00:00Z" }], ["a", { name: "planner", status: "failed", started_at: "2026-01-01T00:00:00Z" }],
      ]);
    }));

  test("a run is found by the tools and servers that it called, also after runs are joined and nested ones are deleted", () =>
    stores.with(async (store) => {
      const call = (run: string, id: string, tool: string, server: string | null): Json => ({ run_id: id, parent_run_id: run, event_type: "tool_start", tool_name: tool, mcp_server: server });
      await record(store, [{ run_id: "a", event_type: "chain_start", agent_name: "top" }, call("a", "a1", "find", "shop"), call("b", "b1", "track", null), { run_id: "m", parent_run_id: "b", event_type: "llm_start", agent_name: "m", tool_name: "no tool" }]);
      const found = async (query: Parameters<typeof list>[1]) => (await list(store, query)).runs.map((run) => run.run_id).join(" ");
      assert.deepEqual([await found({ tool: "find" }), await found({ tool: "track" }), await found({ server: "shop" }), await found({ tool: "no tool" }), await found({ server: "" })], ["a", "b", "a", "", ""]);
      await record(store, [{ run_id: "b", parent_run_id: "a", event_type: "chain_start", agent_name: "sub" }]);
      const held = async () => { const run = (await store.reader.run("a", true)) as unknown as Json; return [run["tools"], run["servers"]]; };
      assert.deepEqual(await held(), [["find", "track"], ["shop"]]);
      const nested = (await store.reader.run("b1", true)) as unknown as Json;
      assert.deepEqual([nested["tools"], nested["servers"]], [["track"], []]);
      assert.ok(await store.writer.deleteRun("a1"));
      assert.deepEqual([await held(), await found({ tool: "find" }), await found({ tool: "track" })], [[["track"], []], "", "a"]);
    }));

  test("the names of tools that a run keeps are bounded", () =>
    stores.with(async (store) => {
      await record(store, Array.from({ length: 150 }, (_, index) => ({ run_id: `t${index}`, parent_run_id: "r", event_type: "tool_start", tool_name: `tool ${index}`, mcp_server: `server ${index}` })));
      const run = (await store.reader.run("r", true)) as unknown as { tools: string[]; servers: string[] };
      assert.deepEqual([run.tools.length, run.servers.length, run.tools[0], run.tools[99]], [100, 100, "tool 0", "tool 99"]);
    }));

  test("two runs are aligned call by call", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("a"));
      await record(store, [...sampleRun("b", { failed: true }), { run_id: "b-2", parent_run_id: "b", event_type: "tool_start", tool_name: "calculator", timestamp: "2026-11-20T11:54:40.700Z" }]);
      const compared = await store.reader.compare("a", "b");
      assert.deepEqual(compared?.rows.map((row) => [row.change, row.depth, row.a?.node ?? null, row.b?.node ?? null]), [
        ["changed", 0, "agent:research_agent", "agent:research_agent"], ["same", 1, "llm:ChatModel", "llm:ChatModel"], ["same", 1, "tool:web_search", "tool:web_search"], ["only_b", 1, null, "tool:calculator"],
      ]);
      assert.equal(await store.reader.compare("a", "zzz"), null);
    }));

  test("in a comparison each call is below the one that made it, also where branches ran at once or parents name each other", () =>
    stores.with(async (store) => {
      const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
      const begin = (run: string, second: number, id: string, parent: string | null): Json => ({ run_id: `${run}-${id}`, ...(parent === null ? {} : { parent_run_id: `${run}-${parent}` }), root_run_id: `${run}-top`, event_type: "chain_start", agent_name: id, timestamp: at(second) });
      const parallel = (run: string): Json[] => [begin(run, 0, "top", null), begin(run, 1, "left", "top"), begin(run, 2, "right", "top"), begin(run, 3, "left_tool", "left"), begin(run, 4, "right_tool", "right"), begin(run, 5, "x", "y"), begin(run, 6, "y", "x")];
      await record(store, parallel("a"));
      await record(store, parallel("b").filter((event) => event["agent_name"] !== "left_tool"));
      const compared = await store.reader.compare("a-top", "b-top");
      assert.deepEqual(compared?.rows.map((row) => [row.change, row.depth, (row.a ?? row.b)?.run_id.slice(2)]), [
        ["same", 0, "top"], ["same", 1, "left"], ["only_a", 2, "left_tool"], ["same", 1, "right"], ["same", 2, "right_tool"], ["same", 0, "x"], ["same", 1, "y"],
      ]);
    }));

  test("costs are known only when every model has a price", () =>
    stores.with(
      async (store) => {
        await record(store, sampleRun("r1"));
        const run = await store.reader.run("r1", true) as unknown as Json;
        assert.equal(run["cost_usd"], (42 * 1 + 58 * 2) / 1e6);
        await record(store, [{ run_id: "r2", event_type: "llm_end", model: "other", token_input: 5 }]);
        // A name that every object has is no price.
        await record(store, [{ run_id: "r3", event_type: "llm_end", model: "valueOf", token_input: 5 }]);
        for (const id of ["r2", "r3"]) assert.equal(((await store.reader.run(id, true)) as unknown as Json)["cost_usd"], null);
      },
      { prices: { "gpt-4o-mini": { input: 1, output: 2 } } },
    ));

  test("tokens whose end does not name the model cost what the model of the start costs", () =>
    stores.with(
      async (store) => {
        await record(store, [
          { run_id: "m", event_type: "llm_start", agent_name: "chat", model: "own" },
          { run_id: "m", event_type: "llm_end", token_input: 1_000_000, token_output: 0 },
        ]);
        const run = (await store.reader.run("m", true)) as unknown as Json;
        const [, end] = await steps(store, "m");
        assert.deepEqual([run["cost_usd"], run["models"], end?.["cost_usd"], end?.["model"]], [7, ["own"], 7, "own"]);
      },
      { prices: { own: { input: 7, output: 7 } } },
    ));

  test("a model is priced by the longest prefix that has a price, and by the table that comes with the service", () =>
    stores.with(
      async (store) => {
        const cost = async (model: string): Promise<unknown> => {
          await record(store, [{ run_id: model.replaceAll("/", "_"), event_type: "llm_end", model, token_input: 1_000_000 }]);
          return (await store.reader.run(model.replaceAll("/", "_"), true) as unknown as Json)["cost_usd"];
        };
        const table: readonly (readonly [string, number | null])[] = [
          ["gpt-4o-mini-2024-07-18", 1], ["gpt-4o-mini", 1], ["gpt-4o-2024-08-06", 10], ["gpt-4o", 10], ["openai/gpt-4o-mini-2024-07-18", 1], ["gpt-4ooo", null], ["own-large", 7],
        ];
        for (const [model, dollars] of table) assert.equal(await cost(model), dollars, model);
      },
      { prices: { "gpt-4o-mini": { input: 1, output: 2 }, "gpt-4o": { input: 10, output: 20 }, own: { input: 7, output: 7 } } },
    ));

  test("sessions group their runs, the one active last first", () =>
    stores.with(async (store) => {
      await record(store, [
        { run_id: "1", event_type: "chain_start", agent_name: "a", session_id: "s1", user_id: "u", timestamp: "2026-01-01T00:00:00Z" },
        { run_id: "2", event_type: "chain_start", agent_name: "a", session_id: "s2", timestamp: "2026-01-02T00:00:00Z" },
        { run_id: "3", event_type: "chain_error", agent_name: "a", session_id: "s1", timestamp: "2026-01-03T00:00:00Z", token_input: 3 },
      ]);
      assert.deepEqual((await store.reader.sessions(10, 0)).sessions.map((session) => [session.session_id, session.user_id, session.run_count, session.failed_count, session.total_tokens_input, session.last_at]), [
        ["s1", "u", 2, 1, 3, "2026-01-03T00:00:00Z"], ["s2", null, 1, 0, 0, "2026-01-02T00:00:00Z"],
      ]);
    }));
}
