/** What every store records: totals and times of a run, its steps, ends, ids, and what it leaves out. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { SpanStore } from "../../../runtime/trace-ui/model/spans.js";
import { buildTree } from "../../../runtime/trace-ui/model/tree.js";
import type { Step } from "../../../runtime/trace-ui/model/types.js";
import type { Suite } from "../../lib/suite.js";
import { type Json, sampleRun } from "../lib.js";
import type { Stores } from "../stores.js";
import { list, record, steps } from "./reading.js";

export function recordingContract(test: Suite, stores: Stores): void {
  test("a run has the totals and the times of its events", () =>
    stores.with(async (store) => {
      await record(store, sampleRun("r1"));
      assert.deepEqual(await store.reader.run("r1", false), {
        run_id: "r1", root_run_id: "r1", tags: ["demo"], status: "completed", started_at: "2026-11-20T11:54:40Z", completed_at: "2026-11-20T11:54:40.620000Z",
        total_steps: 7, total_tokens_input: 42, total_tokens_output: 58, graph_definition: null, error_message: null,
      });
    }));

  test("a start and its end are one call, in whatever batches and order they come, and notes are none", () =>
    stores.with(async (store) => {
      const calls = async (id: string): Promise<unknown> => (await store.reader.run(id, true) as Json | null)?.["call_count"];
      const [first, ...rest] = sampleRun("r1");
      for (const event of [first ?? {}, ...rest.toReversed()]) await record(store, [event]);
      await record(store, [{ run_id: "r1-x", parent_run_id: "r1", event_type: "retry" }, ...rest.slice(0, 1)]);
      assert.deepEqual([await calls("r1"), (await store.reader.run("r1", true))?.total_steps, await calls("r1-t")], [3, 9, 1]);
      assert.ok(await store.writer.deleteRun("r1-t"));
      assert.equal(await calls("r1"), 2);
    }));

  test("the calls of a run that turns out to be part of another are counted once", () =>
    stores.with(async (store) => {
      await record(store, [{ run_id: "b", parent_run_id: "a", event_type: "tool_start" }, { run_id: "b", parent_run_id: "a", event_type: "tool_end" }]);
      await record(store, [{ run_id: "a", parent_run_id: "root", event_type: "chain_start" }, { run_id: "root", event_type: "chain_start" }, { run_id: "a", parent_run_id: "root", event_type: "chain_end" }]);
      const run = (await store.reader.run("root", true)) as Json | null;
      assert.deepEqual([run?.["call_count"], run?.["total_steps"]], [3, 5]);
    }));

  test("events that are sent again are known, however many, before and after their ids are indexed", () =>
    stores.with(async (store) => {
      const events = (from: number): Json[] => Array.from({ length: 150 }, (_, index) => ({ run_id: "r", event_id: `e${from + index}`, event_type: "retry" }));
      await record(store, events(0));
      assert.equal((await record(store, events(100))).duplicates, 50);
      await store.settle();
      assert.deepEqual([(await record(store, events(0))).duplicates, (await record(store, events(200))).duplicates, (await store.reader.run("r", false))?.total_steps], [150, 50, 350]);
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

  test("errors are counted where they began, whatever the order, as the pages count them, and also without a nested run", async () => {
    const parents = [null, "c0", "c0", "c1", "c1", "c3", "c2"];
    const oracle = (failed: ReadonlySet<number>): number => {
      const isBelow = (call: number, above: number): boolean => call > 0 && (parents[call] === `c${above}` || isBelow(Number(parents[call]?.slice(1)), above));
      return [...failed].filter((call) => ![...failed].some((other) => isBelow(other, call))).length;
    };
    const property = fc.asyncProperty(fc.subarray([0, 1, 2, 3, 4, 5, 6]), fc.shuffledSubarray([...Array(14).keys()], { minLength: 14 }), fc.boolean(), async (failed, order, together) =>
      stores.with(async (store) => {
        const events = parents.flatMap((parent, call) => ["start", failed.includes(call) ? "error" : "end"].map((side, half) => ({
          run_id: `c${call}`, ...(parent === null ? {} : { parent_run_id: parent }), event_type: `chain_${side}`, agent_name: `a${call}`, timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, half === 0 ? call : 30 - call)).toISOString(),
        })));
        const shuffled = order.map((index) => events[index] ?? {});
        if (together) await record(store, shuffled);
        else for (const event of shuffled) await record(store, [event]);
        const errors = async (): Promise<unknown> => ((await store.reader.run("c0", true)) as Json | null)?.["errors"];
        const spans = new SpanStore();
        spans.add((await steps(store, "c0")) as unknown as Step[]);
        const { causes } = buildTree(spans.spans, (id) => spans.primary(id));
        assert.deepEqual([await errors(), causes.length], [oracle(new Set(failed)), oracle(new Set(failed))]);
        assert.ok(await store.writer.deleteRun("c6"));
        assert.equal(await errors(), oracle(new Set(failed.filter((call) => call !== 6))));
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
    ), { timeoutMs: 60_000 });
}
