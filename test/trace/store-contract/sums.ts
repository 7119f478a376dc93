/** What every store adds up and takes away: the graph and the inventory, deletion, interrupted runs and retention. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Suite } from "../../lib/suite.js";
import { type Json, sampleRun } from "../lib.js";
import type { Stores } from "../stores.js";
import { list, record, steps } from "./reading.js";

export function sumsContract(test: Suite, stores: Stores): void {
  test("one tool name on two servers is two nodes, and graph and inventory agree", () =>
    stores.with(async (store) => {
      await record(store, [
        { run_id: "r", event_type: "chain_start", agent_name: "a" }, { run_id: "1", parent_run_id: "r", event_type: "tool_start", tool_name: "search", mcp_server: "alpha" },
        { run_id: "2", parent_run_id: "r", event_type: "tool_start", tool_name: "search", mcp_server: "beta" }, { run_id: "3", parent_run_id: "r", event_type: "tool_start", tool_name: "search" },
      ]);
      assert.equal(await store.writer.registerTools("beta", ["search", "unused"]), 2);
      assert.deepEqual((await store.reader.tools("all")).sources.map((source) => [source.source, source.tools.map((tool) => [tool.name, tool.invocations])]), [
        ["alpha", [["search", 1]]], ["beta", [["search", 1], ["unused", 0]]], ["local", [["search", 1]]],
      ]);
      assert.deepEqual((await store.reader.topology("all")).nodes.map((node) => [node.id, node.invocation_count]), [
        ["agent:a", 1], ["mcp:alpha", 1], ["mcp:beta", 1], ["tool:search", 1], ["tool:search@beta", 1], ["tool:search@local", 1], ["tool:unused", 0],
      ]);
    }));

  test("names with tabs, line ends and other control characters are stored as they were sent, and are what the graph counts", () =>
    stores.with(async (store) => {
      // PostgreSQL has no NUL; what a store can't keep is another test.
      const name = "line one\nline\ttwo\r\u001a\u001b[31m";
      const server = "a\nserver\u001an\r";
      await store.writer.registerTools(server, ["unused\none"]);
      await record(store, [
        { run_id: "r", event_type: "chain_start", agent_name: name, tags: [name], session_id: name, user_id: name, model: name },
        { run_id: "t", parent_run_id: "r", event_type: "tool_start", tool_name: name, mcp_server: server },
        { run_id: "t", parent_run_id: "r", event_type: "tool_end", tool_name: name, mcp_server: server },
      ]);
      const run = (await store.reader.run("r", true)) as unknown as Json;
      assert.deepEqual([run["name"], run["tags"], run["session_id"], run["user_id"], run["models"]], [name, [name], name, name, [name]]);
      const shown = await steps(store, "r");
      assert.deepEqual([shown[0]?.["agent_name"], shown[1]?.["tool_name"], shown[1]?.["mcp_server"]], [name, name, server]);
      const { nodes, edges } = await store.reader.topology("all");
      assert.deepEqual(nodes.map((node) => node.name).sort(), [server, name, name, "unused\none"].sort());
      assert.deepEqual(edges.map(({ source, target, count }) => [source, target, count]).sort(), [[`agent:${name}`, `mcp:${server}`, 1], [`agent:${name}`, `tool:${name}`, 1], [`mcp:${server}`, `tool:${name}`, 1], [`mcp:${server}`, "tool:unused\none", 0]].sort());
      assert.deepEqual((await store.reader.tools("all")).sources.filter((source) => source.source === server).map((source) => source.tools.map((tool) => tool.name)), [[name, "unused\none"]]);
    }));

  test("a scope lists a server's uncalled tools only when the server was active in it", () =>
    stores.with(async (store) => {
      await store.writer.registerTools("tavily", ["web_search", "extract"]);
      await store.writer.registerTools("idle", ["never"]);
      await record(store, sampleRun("r1"));
      await record(store, [{ run_id: "r2", event_type: "chain_start", agent_name: "a" }]);
      const names = async (scope: string): Promise<string[]> => (await store.reader.tools(scope)).sources.flatMap((source) => source.tools.map((tool) => tool.name));
      assert.deepEqual(await names("all"), ["never", "extract", "web_search"]);
      assert.deepEqual(await names("run:r1"), ["extract", "web_search"]);
      assert.deepEqual(await names("run:r2"), []);
      assert.deepEqual(await names("run:unknown"), []);
      assert.deepEqual(await names("last_n:0"), []);
      assert.deepEqual(await names("last_n:5"), ["extract", "web_search"]);
    }));

  test("the sums of all runs are the sums of each, before and after deletions", async () => {
    const kinds = ["chain", "tool", "llm", "retriever"] as const;
    const call = fc.record({ kind: fc.constantFrom(...kinds), parent: fc.nat({ max: 5 }), name: fc.constantFrom("x", "y", "z"), server: fc.constantFrom(null, "s1", "s2"), ms: fc.nat({ max: 255 }), fails: fc.boolean() });
    const property = fc.asyncProperty(fc.array(fc.array(call, { maxLength: 6 }), { minLength: 2, maxLength: 4 }), async (runs) =>
      stores.with(async (store) => {
        for (const [run, calls] of runs.entries()) {
          const root = `run${run}`;
          const events: Json[] = [{ run_id: root, event_type: "chain_start", agent_name: "top", timestamp: 1_700_000_000_000 }];
          calls.forEach(({ kind, parent, name, server, ms, fails }, index) => {
            const id = { run_id: `${root}-${index}`, parent_run_id: parent < index ? `${root}-${parent}` : root, ...(kind === "tool" ? { tool_name: name, mcp_server: server } : { agent_name: name }) };
            events.push({ ...id, event_type: `${kind}_start`, timestamp: 1_700_000_000_000 + index }, { ...id, event_type: `${kind}_${fails ? "error" : "end"}`, timestamp: 1_700_000_000_000 + index + ms });
          });
          await record(store, events);
        }
        const last = `run${runs.length - 1}`;
        // Deleting takes counts back; that something was seen last at a time stays true.
        const counted = async (scope: string) => JSON.stringify(await store.reader.topology(scope), (key, value: unknown) => (key === "last_seen" ? undefined : value));
        assert.equal(await counted("all"), await counted("last_n:1000"));
        for (let run = 0; run < runs.length - 1; run++) {
          assert.ok(await store.writer.deleteRun(`run${run}`));
          assert.equal(await counted("all"), await counted("last_n:1000"));
        }
        assert.equal(await counted("all"), await counted(`run:${last}`));
        assert.deepEqual(await store.reader.tools("all"), await store.reader.tools(`run:${last}`));
        assert.ok(await store.writer.deleteRun(last));
        assert.deepEqual(await store.reader.topology("all"), { nodes: [], edges: [] });
        const { total_events, total_tokens_input, avg_duration_ms } = await store.reader.stats();
        assert.deepEqual([total_events, total_tokens_input, avg_duration_ms], [0, 0, 0]);
      }),
    );
    await fc.assert(property, { numRuns: stores.examples });
  }, { timeoutMs: 60_000 });

  test("the graph of the last runs follows each of them: steps that come, runs that are joined, nested runs that are deleted", () =>
    stores.with(async (store) => {
      const seen = async () => (await store.reader.topology("last_n:2")).nodes.map((node) => `${node.id} ${node.invocation_count}`);
      const call = (root: string, id: string, tool: string) => ({ run_id: id, parent_run_id: root, event_type: "tool_start", tool_name: tool });
      await record(store, [{ run_id: "a", event_type: "chain_start", agent_name: "top" }, call("a", "a1", "x")]);
      assert.deepEqual(await seen(), ["agent:top 1", "tool:x 1"]);
      assert.deepEqual(await seen(), ["agent:top 1", "tool:x 1"]);
      await record(store, [call("a", "a2", "x"), call("b", "b1", "y")]);
      assert.deepEqual([(await list(store)).total, await seen()], [2, ["agent:top 1", "tool:x 2", "tool:y 1"]]);
      await record(store, [{ run_id: "b", parent_run_id: "a", event_type: "chain_start", agent_name: "sub" }]);
      assert.deepEqual([(await list(store)).total, await seen()], [1, ["agent:sub 1", "agent:top 1", "tool:x 2", "tool:y 1"]]);
      assert.ok(await store.writer.deleteRun("a1"));
      assert.deepEqual(await seen(), ["agent:sub 1", "agent:top 1", "tool:x 1", "tool:y 1"]);
    }));

  test("deleting a nested run takes its own steps out of the run that holds it", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("r1"));
      assert.ok(await store.writer.deleteRun("r1-t"));
      assert.deepEqual((await steps(store, "r1")).map((step) => step["event_type"]), ["run_start", "chain_start", "chat_model_start", "llm_end", "chain_end"]);
      assert.equal((await store.reader.run("r1", false))?.total_steps, 5);
      assert.equal(await store.reader.run("r1-t", false), null);
      assert.deepEqual(await store.reader.topology("all"), await store.reader.topology("run:r1"));
    }));

  test("a deleted run can be recorded again, with the same event ids", () =>
    stores.with(async (store) => {
      const events = sampleRun("r1").map((event, index) => ({ ...event, event_id: `e${index}` }));
      await record(store, events);
      await store.writer.deleteRun("r1");
      assert.equal((await record(store, events)).stored, 7);
      await store.settle();
      assert.equal((await steps(store, "r1")).length, 7);
    }));

  test("a nested run is answered from its own steps", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("r1"));
      const run = await store.reader.run("r1-t", true) as unknown as Json;
      assert.deepEqual([run["root_run_id"], run["status"], run["total_steps"], run["name"], run["duration_ms"]], ["r1", "completed", 2, "web_search", 350]);
      assert.equal((await steps(store, "r1-t")).length, 2);
    }));

  test("a run without events for too long is failed as interrupted; one whose root never came is settled", () => {
    let now = Date.UTC(2026, 10, 20, 12);
    return stores.with(
      async (store) => {
        await record(store, sampleRun("open").slice(0, 6));
        await record(store, [
          { run_id: "o1", parent_run_id: "never", event_type: "tool_start", tool_name: "t", timestamp: "2026-11-20T11:00:00Z" },
          { run_id: "o1", parent_run_id: "never", event_type: "tool_end", timestamp: "2026-11-20T11:00:01Z" },
        ]);
        await store.writer.sweep(now - 60_000, now - 3_600_000);
        now += 100_000;
        await store.writer.sweep(now - 60_000, now - 3_600_000);
        assert.deepEqual([(await store.reader.run("never", false))?.status, (await store.reader.run("never", false))?.completed_at], ["completed", "2026-11-20T11:00:01Z"]);
        assert.equal((await store.reader.run("open", false))?.status, "running");
        now += 3_600_000;
        await store.writer.sweep(now - 60_000, now - 3_600_000);
        const open = await store.reader.run("open", false);
        assert.deepEqual([open?.status, open?.error_message, open?.completed_at], ["failed", "interrupted", "2026-11-20T11:54:40.580000Z"]);
      },
      { now: () => now },
    );
  });

  test("retention deletes the oldest ended runs beyond count, size and age", () =>
    stores.with(async (store) => {
      for (let index = 0; index < 6; index++) await record(store, sampleRun(`r${index}`, { at: Date.UTC(2026, 0, 1 + index) }));
      await record(store, [{ run_id: "running", event_type: "chain_start", agent_name: "a", timestamp: "2020-01-01T00:00:00Z" }]);
      const ids = async (): Promise<string[]> => (await list(store)).runs.map((run) => run.run_id);
      assert.equal(await store.writer.retain({ maxRuns: 5, maxPayloadBytes: 1e9, before: 0 }), 2);
      assert.deepEqual(await ids(), ["r5", "r4", "r3", "r2", "running"]);
      assert.equal(await store.writer.retain({ maxRuns: 5, maxPayloadBytes: 1e9, before: Date.UTC(2026, 0, 4) * 1000 }), 1);
      assert.deepEqual(await ids(), ["r5", "r4", "r3", "running"]);
      while (await store.writer.retain({ maxRuns: 5, maxPayloadBytes: 1, before: 0 }) > 0);
      assert.deepEqual(await ids(), ["running"]);
    }));
}
