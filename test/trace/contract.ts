/** What every store does: what is recorded, what sums say, what filters and search find. Proven on each store by the same tests. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Suite } from "../lib/suite.js";
import type { BatchOutcome, RunListQuery } from "../../runtime/trace/store/store.js";
import { incoming, type Json, sampleRun } from "./lib.js";
import type { Stores, TestStore } from "./stores.js";

const record = (store: TestStore, events: readonly Json[]): Promise<BatchOutcome> => store.writer.write(events.map(incoming));
const steps = async (store: TestStore, runId: string): Promise<Json[]> => {
  const page = await store.reader.steps({ runId, cursor: null, limit: 5000, extended: true, payloads: false, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER });
  return page === null ? [] : (JSON.parse(`[${page.text}]`) as Json[]);
};
const list = (store: TestStore, query: Partial<RunListQuery> = {}) => store.reader.runs({ status: "all", limit: 50, offset: 0, extended: false, ...query });

/** Registers the tests of the contract. */
export function storeContract(test: Suite, stores: Stores): void {
  test("a run has the totals and the times of its events", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("r1"));
      assert.deepEqual(await store.reader.run("r1", false), {
        run_id: "r1", root_run_id: "r1", tags: ["demo"], status: "completed", started_at: "2026-11-20T11:54:40Z", completed_at: "2026-11-20T11:54:40.620000Z",
        total_steps: 7, total_tokens_input: 42, total_tokens_output: 58, graph_definition: null, error_message: null,
      });
    }));

  test("steps come by time, then by arrival: run_start before chain_start of the same moment", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("r1"));
      assert.deepEqual((await steps(store, "r1")).map((step) => step["event_type"]), ["run_start", "chain_start", "chat_model_start", "llm_end", "tool_start", "tool_end", "chain_end"]);
    }));

  test("an end has the duration since its start, also when they come in different batches", () =>
    stores.with(async (store) => {
      for (const event of sampleRun("r1")) await record(store, [event]);
      assert.deepEqual((await steps(store, "r1")).map((step) => step["duration_ms"]), [null, null, null, 210, null, 350, 620]);
    }));

  test("a restart between start and end loses neither the duration nor the names", async () => {
    const place = await stores.place();
    const events = sampleRun("r1");
    const first = await stores.open(place);
    await record(first, events.slice(0, 5));
    await first.close();
    const second = await stores.open(place);
    await record(second, [{ run_id: "r1-t", event_type: "tool_end", timestamp: "2026-11-20T11:54:40.580Z" }, ...events.slice(6)]);
    const tool = (await steps(second, "r1")).find((step) => step["event_type"] === "tool_end");
    assert.deepEqual([tool?.["duration_ms"], tool?.["tool_name"], tool?.["mcp_server"], tool?.["parent_run_id"]], [350, "web_search", "tavily", "r1"]);
    assert.equal((await second.reader.run("r1", false))?.status, "completed");
    await second.close();
    await place.dispose();
  });

  test("the first end of a root counts, and a late event changes neither status nor times nor tags", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("r1"));
      await record(store, [{ run_id: "r1", event_type: "chain_error", error_message: "late", timestamp: "2026-11-20T12:00:00Z" }, { run_id: "r1-x", parent_run_id: "r1", event_type: "tool_start", tool_name: "x" }]);
      const run = await store.reader.run("r1", false);
      assert.deepEqual([run?.status, run?.completed_at, run?.error_message, run?.tags, run?.total_steps], ["completed", "2026-11-20T11:54:40.620000Z", null, ["demo"], 9]);
    }));

  test("an event after the end of its run adds no tags, session, user, graph or name to it; the start that comes late does", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("r1"));
      const before = await store.reader.run("r1", true);
      const late = { tags: ["late"], session_id: "s", user_id: "u", graph_definition: "g", timestamp: "2026-11-20T12:00:00Z" };
      await record(store, [
        { run_id: "r1", event_type: "agent_action", ...late }, { run_id: "r1", event_type: "run_start", agent_name: "late", ...late }, { run_id: "r1-x", parent_run_id: "r1", event_type: "retry", ...late },
        { run_id: "r1", event_type: "chain_end", ...late },
      ]);
      const after = await store.reader.run("r1", true);
      assert.deepEqual({ ...after, total_steps: 0, last_seq: 0 }, { ...before, total_steps: 0, last_seq: 0 });
      await record(store, [
        { run_id: "r2", event_type: "chain_end", timestamp: "2026-11-20T12:00:02Z" }, { run_id: "r2", event_type: "chain_start", agent_name: "a", ...late },
      ]);
      assert.deepEqual((await store.reader.run("r2", true))?.tags, ["late"]);
    }));

  test("a nested error does not fail the root; a root error does and its message is kept", () =>
    stores.with(async (store) => {
      await record(store, [
        { run_id: "a", event_type: "chain_start", agent_name: "a" }, { run_id: "b", parent_run_id: "a", event_type: "tool_start", tool_name: "t" },
        { run_id: "b", parent_run_id: "a", event_type: "tool_error", error_message: "nested" }, { run_id: "a", event_type: "chain_end" },
      ]);
      await record(store, sampleRun("f", { failed: true }));
      assert.equal((await store.reader.run("a", false))?.status, "completed");
      assert.deepEqual([(await store.reader.run("f", false))?.status, (await store.reader.run("f", false))?.error_message], ["failed", "no answer"]);
    }));

  test("agent_finish leaves the chain open: the chain's end has its duration and completes the run", () =>
    stores.with(async (store) => {
      const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
      await record(store, [{ run_id: "a", event_type: "chain_start", agent_name: "a", timestamp: at(0) }, { run_id: "a", event_type: "agent_finish", timestamp: at(90) }]);
      assert.equal((await store.reader.run("a", false))?.status, "running");
      await record(store, [{ run_id: "a", event_type: "chain_end", timestamp: at(100) }]);
      assert.deepEqual((await steps(store, "a")).map((step) => step["duration_ms"]), [null, 90, 100]);
      await record(store, [{ run_id: "bare", event_type: "agent_finish" }]);
      assert.equal((await store.reader.run("bare", false))?.status, "completed");
    }));

  test("an agent_action counts as no invocation of its tool", () =>
    stores.with(async (store) => {
      await record(store, [
        { run_id: "a", event_type: "chain_start", agent_name: "a" }, { run_id: "a", event_type: "agent_action", tool_name: "t" },
        { run_id: "b", parent_run_id: "a", event_type: "tool_start", tool_name: "t" }, { run_id: "b", parent_run_id: "a", event_type: "tool_end" },
      ]);
      assert.deepEqual((await store.reader.tools("all")).sources[0]?.tools, [{ name: "t", invocations: 1, errors: 0 }]);
    }));

  test("a retriever's error is attributed by the name of its start", () =>
    stores.with(async (store) => {
      await record(store, [
        { run_id: "r", event_type: "chain_start", agent_name: "a" }, { run_id: "q", parent_run_id: "r", event_type: "retriever_start", agent_name: "docs" },
        { run_id: "q", parent_run_id: "r", event_type: "retriever_error", error_message: "gone" },
      ]);
      assert.equal((await store.reader.topology("all")).nodes.find((node) => node.id === "retriever:docs")?.error_count, 1);
    }));

  test("an event id that is stored is accepted and not stored again, also after a restart and a merge of the index", async () => {
    const place = await stores.place();
    const events = sampleRun("r1").map((event, index) => ({ ...event, event_id: `e${index}` }));
    const first = await stores.open(place);
    assert.equal((await record(first, [...events, ...events])).duplicates, 7);
    assert.equal((await record(first, events)).duplicates, 7);
    await first.settle();
    assert.equal((await record(first, events)).duplicates, 7);
    await first.close();
    const second = await stores.open(place);
    assert.equal((await record(second, events)).duplicates, 7);
    assert.equal((await second.reader.run("r1", false))?.total_steps, 7);
    await second.close();
    await place.dispose();
  });

  test("an event id that another run has used is stored, in each run once, also after a merge of the index", async () => {
    await stores.with(async (store) => {
      const of = (id: string): Json[] => sampleRun(id).map((event, index) => ({ ...event, event_id: `e${index}` }));
      const counts = async (events: readonly Json[]): Promise<unknown> => {
        const { stored, duplicates } = await record(store, events);
        return { stored, duplicates };
      };
      assert.deepEqual(await counts([...of("r1"), ...of("r2")]), { stored: 14, duplicates: 0 });
      await store.settle();
      assert.deepEqual(await counts([...of("r3"), ...of("r1")]), { stored: 7, duplicates: 7 });
      assert.deepEqual((await list(store)).runs.map((run) => [run.run_id, run.total_steps, run.status]).sort(), [["r1", 7, "completed"], ["r2", 7, "completed"], ["r3", 7, "completed"]]);
      for (const merged of [false, true]) {
        if (merged) await store.settle();
        // Through the step's own run and through its root; not through another run.
        for (const [run, own] of [["r1", "r1-t"], ["r2", "r2-t"], ["r3", "r3-t"], ["r2-t", "r2-t"]] as const) {
          const found = await store.reader.payload(run, "e4");
          assert.equal("found" in found && found.found.run_id, own);
        }
        assert.deepEqual([await store.reader.payload("r1-m", "e4"), await store.reader.payload("r1", "e9")], [{ miss: "foreign" }, { miss: "unknown" }]);
      }
    });
  });

  test("children that come before their parents end up in one run, whatever the order", async () => {
    const events = [
      { run_id: "root", event_type: "chain_start", agent_name: "top" }, { run_id: "mid", parent_run_id: "root", event_type: "chain_start", agent_name: "middle" },
      { run_id: "low", parent_run_id: "mid", event_type: "tool_start", tool_name: "t" }, { run_id: "low", parent_run_id: "mid", event_type: "tool_end" },
      { run_id: "mid", parent_run_id: "root", event_type: "chain_end" }, { run_id: "root", event_type: "chain_end" },
    ].map((event, index) => ({ ...event, timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString() }));
    const property = fc.asyncProperty(fc.shuffledSubarray([...events.keys()], { minLength: events.length }), fc.boolean(), async (order, together) =>
      stores.with(async (store) => {
        const shuffled = order.map((index) => events[index] ?? {});
        if (together) await record(store, shuffled);
        else for (const event of shuffled) await record(store, [event]);
        assert.deepEqual((await list(store)).runs.map((run) => [run.run_id, run.total_steps]), [["root", 6]]);
        assert.deepEqual((await steps(store, "root")).map((step) => step["root_run_id"]), Array(6).fill("root"));
        assert.deepEqual((await store.reader.topology("all")).edges.map((edge) => [edge.source, edge.target, edge.count]), [["agent:middle", "tool:t", 1], ["agent:top", "agent:middle", 1]]);
        assert.deepEqual(await store.reader.topology("run:root"), await store.reader.topology("all"));
        assert.equal((await list(store)).runs[0]?.started_at, "2026-01-01T00:00:00Z");
      }),
    );
    await fc.assert(property, { numRuns: stores.examples });
  }, { timeoutMs: 60_000 });

  test("a cycle of parents stays visible as one run", () =>
    stores.with(async (store) => {
      await record(store, [{ run_id: "a", parent_run_id: "b", event_type: "chain_start", agent_name: "a" }, { run_id: "b", parent_run_id: "a", event_type: "chain_start", agent_name: "b" }]);
      assert.deepEqual((await list(store)).runs.map((run) => run.total_steps), [2]);
    }));

  test("a run over its cap drops events, says so once, and still ends", () =>
    stores.with(
      async (store) => {
        const children = Array.from({ length: 10 }, (_, index) => ({ run_id: `c${index}`, parent_run_id: "r", event_type: "tool_start", tool_name: "t" }));
        const outcome = await record(store, [{ run_id: "r", event_type: "chain_start", agent_name: "a" }, ...children, { run_id: "r", event_type: "chain_end" }]);
        assert.deepEqual([outcome.stored, outcome.throttled, outcome.throttledRuns], [6, 6, 1]);
        assert.deepEqual([(await store.reader.run("r", false))?.status, (await list(store)).total], ["completed", 1]);
        assert.equal((await record(store, [{ run_id: "g", parent_run_id: "c9", event_type: "tool_start", tool_name: "t" }])).throttled, 1);
        assert.equal((await list(store)).total, 1);
      },
      { eventCap: 5 },
    ));

  test("sampling keeps or skips whole runs and counts the events", () =>
    stores.with(
      async (store) => {
        let sampledOut = 0;
        for (let index = 0; index < 200; index++) {
          const id = `root-${index}`;
          sampledOut += (await record(store, [{ run_id: id, event_type: "chain_start", agent_name: "a" }, { run_id: `${id}-c`, parent_run_id: id, event_type: "tool_start", tool_name: "t" }, { run_id: `${id}-d`, parent_run_id: `${id}-c`, event_type: "tool_start", tool_name: "t" }])).sampledOut;
        }
        const kept = await list(store, { limit: 200 });
        assert.ok(kept.total > 60 && kept.total < 140, `kept ${kept.total} of 200`);
        assert.equal(sampledOut, (200 - kept.total) * 3);
        assert.ok(kept.runs.every((run) => run.total_steps === 3));
      },
      { sampleRate: 0.5 },
    ));

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

  test("a tag is found as literal text in any letter case and script", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("a", { tags: ["Café-50%"] }));
      await record(store, sampleRun("b", { tags: ["plain"] }));
      const table: readonly (readonly [string, number])[] = [["CAFÉ", 1], ["50%", 1], ["%", 1], ["_", 0], ["[", 0], ['"', 0], ["a", 2], ["café-50%x", 0]];
      for (const [tag, total] of table) assert.equal((await list(store, { tag })).total, total, tag);
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
