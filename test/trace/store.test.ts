/** The embedded store in this thread: what is recorded, what sums say, and what is left of what was deleted. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { suite } from "../lib/suite.js";
import { incoming, type Json, type LocalStore, openLocalStore, sampleRun, temporaryDirectory } from "./lib.js";

const test = suite("trace store");

async function withStore(work: (store: LocalStore, directory: string) => void, options: Parameters<typeof openLocalStore>[1] = {}): Promise<void> {
  const directory = await temporaryDirectory();
  const store = openLocalStore(directory, options);
  try {
    work(store, directory);
  } finally {
    store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const record = (store: LocalStore, events: readonly Json[]) => store.writer.write(events.map(incoming));
const steps = (store: LocalStore, runId: string): Json[] => {
  const page = store.reader.steps({ runId, cursor: null, limit: 5000, extended: true, payloads: false, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER });
  return page === null ? [] : (JSON.parse(`[${page.text}]`) as Json[]);
};
const list = (store: LocalStore, query: Partial<Parameters<LocalStore["reader"]["runs"]>[0]> = {}) =>
  store.reader.runs({ status: "all", limit: 50, offset: 0, extended: false, ...query });

test("a run has the totals and the times of its events", () =>
  withStore((store) => {
    record(store, sampleRun("r1"));
    assert.deepEqual(store.reader.run("r1", false), {
      run_id: "r1", root_run_id: "r1", tags: ["demo"], status: "completed", started_at: "2026-11-20T11:54:40Z", completed_at: "2026-11-20T11:54:40.620000Z",
      total_steps: 7, total_tokens_input: 42, total_tokens_output: 58, graph_definition: null, error_message: null,
    });
  }));

test("steps come by time, then by arrival: run_start before chain_start of the same moment", () =>
  withStore((store) => {
    record(store, sampleRun("r1"));
    assert.deepEqual(steps(store, "r1").map((step) => step["event_type"]), ["run_start", "chain_start", "chat_model_start", "llm_end", "tool_start", "tool_end", "chain_end"]);
  }));

test("an end has the duration since its start, also when they come in different batches", () =>
  withStore((store) => {
    for (const event of sampleRun("r1")) record(store, [event]);
    assert.deepEqual(steps(store, "r1").map((step) => step["duration_ms"]), [null, null, null, 210, null, 350, 620]);
  }));

test("a restart between start and end loses neither the duration nor the names", async () => {
  const directory = await temporaryDirectory();
  const events = sampleRun("r1");
  const first = openLocalStore(directory);
  record(first, events.slice(0, 5));
  first.close();
  const second = openLocalStore(directory);
  record(second, [{ run_id: "r1-t", event_type: "tool_end", timestamp: "2026-11-20T11:54:40.580Z" }, ...events.slice(6)]);
  const tool = steps(second, "r1").find((step) => step["event_type"] === "tool_end");
  assert.deepEqual([tool?.["duration_ms"], tool?.["tool_name"], tool?.["mcp_server"], tool?.["parent_run_id"]], [350, "web_search", "tavily", "r1"]);
  assert.equal(second.reader.run("r1", false)?.status, "completed");
  second.close();
  await rm(directory, { recursive: true, force: true });
});

test("the first end of a root counts, and a late event changes neither status nor times nor tags", () =>
  withStore((store) => {
    record(store, sampleRun("r1"));
    record(store, [{ run_id: "r1", event_type: "chain_error", error_message: "late", timestamp: "2026-11-20T12:00:00Z" }, { run_id: "r1-x", parent_run_id: "r1", event_type: "tool_start", tool_name: "x" }]);
    const run = store.reader.run("r1", false);
    assert.deepEqual([run?.status, run?.completed_at, run?.error_message, run?.tags, run?.total_steps], ["completed", "2026-11-20T11:54:40.620000Z", null, ["demo"], 9]);
  }));

test("a nested error does not fail the root; a root error does and its message is kept", () =>
  withStore((store) => {
    record(store, [
      { run_id: "a", event_type: "chain_start", agent_name: "a" }, { run_id: "b", parent_run_id: "a", event_type: "tool_start", tool_name: "t" },
      { run_id: "b", parent_run_id: "a", event_type: "tool_error", error_message: "nested" }, { run_id: "a", event_type: "chain_end" },
    ]);
    record(store, sampleRun("f", { failed: true }));
    assert.equal(store.reader.run("a", false)?.status, "completed");
    assert.deepEqual([store.reader.run("f", false)?.status, store.reader.run("f", false)?.error_message], ["failed", "no answer"]);
  }));

test("agent_finish leaves the chain open: the chain's end has its duration and completes the run", () =>
  withStore((store) => {
    const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
    record(store, [{ run_id: "a", event_type: "chain_start", agent_name: "a", timestamp: at(0) }, { run_id: "a", event_type: "agent_finish", timestamp: at(90) }]);
    assert.equal(store.reader.run("a", false)?.status, "running");
    record(store, [{ run_id: "a", event_type: "chain_end", timestamp: at(100) }]);
    assert.deepEqual(steps(store, "a").map((step) => step["duration_ms"]), [null, 90, 100]);
    record(store, [{ run_id: "bare", event_type: "agent_finish" }]);
    assert.equal(store.reader.run("bare", false)?.status, "completed");
  }));

test("an agent_action counts as no invocation of its tool", () =>
  withStore((store) => {
    record(store, [
      { run_id: "a", event_type: "chain_start", agent_name: "a" }, { run_id: "a", event_type: "agent_action", tool_name: "t" },
      { run_id: "b", parent_run_id: "a", event_type: "tool_start", tool_name: "t" }, { run_id: "b", parent_run_id: "a", event_type: "tool_end" },
    ]);
    assert.deepEqual(store.reader.tools("all").sources[0]?.tools, [{ name: "t", invocations: 1, errors: 0 }]);
  }));

test("a retriever's error is attributed by the name of its start", () =>
  withStore((store) => {
    record(store, [
      { run_id: "r", event_type: "chain_start", agent_name: "a" }, { run_id: "q", parent_run_id: "r", event_type: "retriever_start", agent_name: "docs" },
      { run_id: "q", parent_run_id: "r", event_type: "retriever_error", error_message: "gone" },
    ]);
    assert.equal(store.reader.topology("all").nodes.find((node) => node.id === "retriever:docs")?.error_count, 1);
  }));

test("an event id that is stored is accepted and not stored again, also after a restart and a merge of the index", async () => {
  const directory = await temporaryDirectory();
  const events = sampleRun("r1").map((event, index) => ({ ...event, event_id: `e${index}` }));
  const first = openLocalStore(directory);
  assert.equal(record(first, [...events, ...events]).duplicates, 7);
  assert.equal(record(first, events).duplicates, 7);
  first.settle();
  assert.equal(record(first, events).duplicates, 7);
  first.close();
  const second = openLocalStore(directory);
  assert.equal(record(second, events).duplicates, 7);
  assert.equal(second.reader.run("r1", false)?.total_steps, 7);
  second.close();
  await rm(directory, { recursive: true, force: true });
});

test("children that come before their parents end up in one run, whatever the order", async () => {
  const events = [
    { run_id: "root", event_type: "chain_start", agent_name: "top" }, { run_id: "mid", parent_run_id: "root", event_type: "chain_start", agent_name: "middle" },
    { run_id: "low", parent_run_id: "mid", event_type: "tool_start", tool_name: "t" }, { run_id: "low", parent_run_id: "mid", event_type: "tool_end" },
    { run_id: "mid", parent_run_id: "root", event_type: "chain_end" }, { run_id: "root", event_type: "chain_end" },
  ].map((event, index) => ({ ...event, timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString() }));
  const property = fc.asyncProperty(fc.shuffledSubarray([...events.keys()], { minLength: events.length }), fc.boolean(), async (order, together) =>
    withStore((store) => {
      const shuffled = order.map((index) => events[index] ?? {});
      if (together) record(store, shuffled);
      else for (const event of shuffled) record(store, [event]);
      assert.deepEqual(list(store).runs.map((run) => [run.run_id, run.total_steps]), [["root", 6]]);
      assert.deepEqual(steps(store, "root").map((step) => step["root_run_id"]), Array(6).fill("root"));
      assert.deepEqual(store.reader.topology("all").edges.map((edge) => [edge.source, edge.target, edge.count]), [["agent:middle", "tool:t", 1], ["agent:top", "agent:middle", 1]]);
      assert.deepEqual(store.reader.topology("run:root"), store.reader.topology("all"));
      assert.equal(list(store).runs[0]?.started_at, "2026-01-01T00:00:00Z");
    }),
  );
  await fc.assert(property, { numRuns: 40 });
}, { timeoutMs: 60_000 });

test("a cycle of parents stays visible as one run", () =>
  withStore((store) => {
    record(store, [{ run_id: "a", parent_run_id: "b", event_type: "chain_start", agent_name: "a" }, { run_id: "b", parent_run_id: "a", event_type: "chain_start", agent_name: "b" }]);
    assert.deepEqual(list(store).runs.map((run) => run.total_steps), [2]);
  }));

test("a run over its cap drops events, says so once, and still ends", () =>
  withStore(
    (store) => {
      const children = Array.from({ length: 10 }, (_, index) => ({ run_id: `c${index}`, parent_run_id: "r", event_type: "tool_start", tool_name: "t" }));
      const outcome = record(store, [{ run_id: "r", event_type: "chain_start", agent_name: "a" }, ...children, { run_id: "r", event_type: "chain_end" }]);
      assert.deepEqual([outcome.stored, outcome.throttled, outcome.throttledRuns], [6, 6, 1]);
      assert.deepEqual([store.reader.run("r", false)?.status, list(store).total], ["completed", 1]);
      assert.equal(record(store, [{ run_id: "g", parent_run_id: "c9", event_type: "tool_start", tool_name: "t" }]).throttled, 1);
      assert.equal(list(store).total, 1);
    },
    { eventCap: 5 },
  ));

test("sampling keeps or skips whole runs and counts the events", () =>
  withStore(
    (store) => {
      let sampledOut = 0;
      for (let index = 0; index < 200; index++) {
        const id = `root-${index}`;
        sampledOut += record(store, [{ run_id: id, event_type: "chain_start", agent_name: "a" }, { run_id: `${id}-c`, parent_run_id: id, event_type: "tool_start", tool_name: "t" }, { run_id: `${id}-d`, parent_run_id: `${id}-c`, event_type: "tool_start", tool_name: "t" }]).sampledOut;
      }
      const kept = list(store, { limit: 200 });
      assert.ok(kept.total > 60 && kept.total < 140, `kept ${kept.total} of 200`);
      assert.equal(sampledOut, (200 - kept.total) * 3);
      assert.ok(kept.runs.every((run) => run.total_steps === 3));
    },
    { sampleRate: 0.5 },
  ));

test("one tool name on two servers is two nodes, and graph and inventory agree", () =>
  withStore((store) => {
    record(store, [
      { run_id: "r", event_type: "chain_start", agent_name: "a" }, { run_id: "1", parent_run_id: "r", event_type: "tool_start", tool_name: "search", mcp_server: "alpha" },
      { run_id: "2", parent_run_id: "r", event_type: "tool_start", tool_name: "search", mcp_server: "beta" }, { run_id: "3", parent_run_id: "r", event_type: "tool_start", tool_name: "search" },
    ]);
    assert.equal(store.writer.registerTools("beta", ["search", "unused"]), 2);
    assert.deepEqual(store.reader.tools("all").sources.map((source) => [source.source, source.tools.map((tool) => [tool.name, tool.invocations])]), [
      ["alpha", [["search", 1]]], ["beta", [["search", 1], ["unused", 0]]], ["local", [["search", 1]]],
    ]);
    assert.deepEqual(store.reader.topology("all").nodes.map((node) => [node.id, node.invocation_count]), [
      ["agent:a", 1], ["mcp:alpha", 1], ["mcp:beta", 1], ["tool:search", 1], ["tool:search@beta", 1], ["tool:search@local", 1], ["tool:unused", 0],
    ]);
  }));

test("a scope lists a server's uncalled tools only when the server was active in it", () =>
  withStore((store) => {
    store.writer.registerTools("tavily", ["web_search", "extract"]);
    store.writer.registerTools("idle", ["never"]);
    record(store, sampleRun("r1"));
    record(store, [{ run_id: "r2", event_type: "chain_start", agent_name: "a" }]);
    const names = (scope: string): string[] => store.reader.tools(scope).sources.flatMap((source) => source.tools.map((tool) => tool.name));
    assert.deepEqual(names("all"), ["never", "extract", "web_search"]);
    assert.deepEqual(names("run:r1"), ["extract", "web_search"]);
    assert.deepEqual(names("run:r2"), []);
    assert.deepEqual(names("run:unknown"), []);
    assert.deepEqual(names("last_n:0"), []);
    assert.deepEqual(names("last_n:5"), ["extract", "web_search"]);
  }));

test("the sums of all runs are the sums of each, before and after deletions", async () => {
  const kinds = ["chain", "tool", "llm", "retriever"] as const;
  const call = fc.record({ kind: fc.constantFrom(...kinds), parent: fc.nat({ max: 5 }), name: fc.constantFrom("x", "y", "z"), server: fc.constantFrom(null, "s1", "s2"), ms: fc.nat({ max: 255 }), fails: fc.boolean() });
  const property = fc.asyncProperty(fc.array(fc.array(call, { maxLength: 6 }), { minLength: 2, maxLength: 4 }), async (runs) =>
    withStore((store) => {
      runs.forEach((calls, run) => {
        const root = `run${run}`;
        const events: Json[] = [{ run_id: root, event_type: "chain_start", agent_name: "top", timestamp: 1_700_000_000_000 }];
        calls.forEach(({ kind, parent, name, server, ms, fails }, index) => {
          const id = { run_id: `${root}-${index}`, parent_run_id: parent < index ? `${root}-${parent}` : root, ...(kind === "tool" ? { tool_name: name, mcp_server: server } : { agent_name: name }) };
          events.push({ ...id, event_type: `${kind}_start`, timestamp: 1_700_000_000_000 + index }, { ...id, event_type: `${kind}_${fails ? "error" : "end"}`, timestamp: 1_700_000_000_000 + index + ms });
        });
        record(store, events);
      });
      const last = `run${runs.length - 1}`;
      // Deleting takes counts back; that something was seen last at a time stays true.
      const counted = (scope: string) => JSON.stringify(store.reader.topology(scope), (key, value: unknown) => (key === "last_seen" ? undefined : value));
      assert.equal(counted("all"), counted("last_n:1000"));
      for (let run = 0; run < runs.length - 1; run++) {
        assert.ok(store.writer.deleteRun(`run${run}`));
        assert.equal(counted("all"), counted("last_n:1000"));
      }
      assert.equal(counted("all"), counted(`run:${last}`));
      assert.deepEqual(store.reader.tools("all"), store.reader.tools(`run:${last}`));
      assert.ok(store.writer.deleteRun(last));
      assert.deepEqual(store.reader.topology("all"), { nodes: [], edges: [] });
      const { total_events, total_tokens_input, avg_duration_ms } = store.reader.stats();
      assert.deepEqual([total_events, total_tokens_input, avg_duration_ms], [0, 0, 0]);
    }),
  );
  await fc.assert(property, { numRuns: 30 });
}, { timeoutMs: 60_000 });

test("the graph of the last runs follows each of them: steps that come, runs that are joined, nested runs that are deleted", () =>
  withStore((store) => {
    const seen = () => store.reader.topology("last_n:2").nodes.map((node) => `${node.id} ${node.invocation_count}`);
    const call = (root: string, id: string, tool: string) => ({ run_id: id, parent_run_id: root, event_type: "tool_start", tool_name: tool });
    record(store, [{ run_id: "a", event_type: "chain_start", agent_name: "top" }, call("a", "a1", "x")]);
    assert.deepEqual(seen(), ["agent:top 1", "tool:x 1"]);
    assert.deepEqual(seen(), ["agent:top 1", "tool:x 1"]);
    record(store, [call("a", "a2", "x"), call("b", "b1", "y")]);
    assert.deepEqual([list(store).total, seen()], [2, ["agent:top 1", "tool:x 2", "tool:y 1"]]);
    record(store, [{ run_id: "b", parent_run_id: "a", event_type: "chain_start", agent_name: "sub" }]);
    assert.deepEqual([list(store).total, seen()], [1, ["agent:sub 1", "agent:top 1", "tool:x 2", "tool:y 1"]]);
    assert.ok(store.writer.deleteRun("a1"));
    assert.deepEqual(seen(), ["agent:sub 1", "agent:top 1", "tool:x 1", "tool:y 1"]);
  }));

test("no byte of a deleted run stays in any file after a graceful stop", async () => {
  const directory = await temporaryDirectory();
  const store = openLocalStore(directory);
  record(store, sampleRun("gone", { secret: "XYZZYPLUGH the secret word" }));
  record(store, sampleRun("kept", { secret: "FROBNICATE another word" }));
  store.settle();
  assert.equal(store.reader.search({ q: "xyzzyplugh", scope: "all", limit: 10, offset: 0 }).total, 1);
  assert.ok(store.writer.deleteRun("gone"));
  store.settle();
  assert.equal(store.reader.search({ q: "xyzzyplugh", scope: "all", limit: 10, offset: 0 }).total, 0);
  assert.equal(store.reader.search({ q: "frobnicate", scope: "all", limit: 10, offset: 0 }).total, 1);
  const payloadMagic = Buffer.from([0x1f, 0x8b, 0x08]);
  store.close();
  const files = (readdirSync(directory, { recursive: true, encoding: "utf8" })).filter((name) => name.includes(".db")).map((name) => join(directory, name));
  const bytes = Buffer.concat(files.map((file) => readFileSync(file)));
  const holds = (text: string): boolean => bytes.includes(text) || bytes.includes(text.toLowerCase());
  assert.deepEqual([holds("XYZZYPLUGH"), holds("gone-t"), holds("FROBNICATE"), holds("kept-t")], [false, false, true, true]);
  const payloads = bytes.toString("latin1").split(payloadMagic.toString("latin1")).length - 1;
  assert.equal(payloads, 6, "only the payloads of the run that is left");
  await rm(directory, { recursive: true, force: true });
});

test("deleting a nested run takes its own steps out of the run that holds it", () =>
  withStore((store) => {
    record(store, sampleRun("r1"));
    assert.ok(store.writer.deleteRun("r1-t"));
    assert.deepEqual(steps(store, "r1").map((step) => step["event_type"]), ["run_start", "chain_start", "chat_model_start", "llm_end", "chain_end"]);
    assert.equal(store.reader.run("r1", false)?.total_steps, 5);
    assert.equal(store.reader.run("r1-t", false), null);
    assert.deepEqual(store.reader.topology("all"), store.reader.topology("run:r1"));
  }));

test("a deleted run can be recorded again, with the same event ids", () =>
  withStore((store) => {
    const events = sampleRun("r1").map((event, index) => ({ ...event, event_id: `e${index}` }));
    record(store, events);
    store.writer.deleteRun("r1");
    assert.equal(record(store, events).stored, 7);
    store.settle();
    assert.equal(steps(store, "r1").length, 7);
  }));

test("a nested run is answered from its own steps", () =>
  withStore((store) => {
    record(store, sampleRun("r1"));
    const run = store.reader.run("r1-t", true) as unknown as Json;
    assert.deepEqual([run["root_run_id"], run["status"], run["total_steps"], run["name"], run["duration_ms"]], ["r1", "completed", 2, "web_search", 350]);
    assert.equal(steps(store, "r1-t").length, 2);
  }));

test("a full disk refuses the batch whole, and the store goes on when there is room", () =>
  withStore(
    (store) => {
      const big = (id: string): Json[] => Array.from({ length: 200 }, (_, index) => ({ run_id: id, event_type: "retry", summary: `${index} ${"x".repeat(400)}` }));
      record(store, sampleRun("before"));
      assert.throws(() => {
        for (let index = 0; index < 50; index++) record(store, big(`r${index}`));
      }, { name: "StorageFullError" });
      const { total } = list(store, { limit: 200 });
      const events = store.reader.stats().total_events;
      assert.equal(events, 7 + (total - 1) * 200, "every run that is there is there in full");
      for (const run of list(store, { limit: 200 }).runs) if (run.run_id !== "before") store.writer.deleteRun(run.run_id);
      store.settle();
      assert.equal(record(store, sampleRun("after")).stored, 7);
    },
    { maxPages: 120 },
  ));

test("a run without events for too long is failed as interrupted; one whose root never came is settled", () => {
  let now = Date.UTC(2026, 10, 20, 12);
  return withStore(
    (store) => {
      record(store, sampleRun("open").slice(0, 6));
      record(store, [
        { run_id: "o1", parent_run_id: "never", event_type: "tool_start", tool_name: "t", timestamp: "2026-11-20T11:00:00Z" },
        { run_id: "o1", parent_run_id: "never", event_type: "tool_end", timestamp: "2026-11-20T11:00:01Z" },
      ]);
      assert.deepEqual(store.writer.sweep(now - 60_000, now - 3_600_000), []);
      now += 100_000;
      store.writer.sweep(now - 60_000, now - 3_600_000);
      assert.deepEqual([store.reader.run("never", false)?.status, store.reader.run("never", false)?.completed_at], ["completed", "2026-11-20T11:00:01Z"]);
      assert.equal(store.reader.run("open", false)?.status, "running");
      now += 3_600_000;
      store.writer.sweep(now - 60_000, now - 3_600_000);
      const open = store.reader.run("open", false);
      assert.deepEqual([open?.status, open?.error_message, open?.completed_at], ["failed", "interrupted", "2026-11-20T11:54:40.580000Z"]);
    },
    { now: () => now },
  );
});

test("retention deletes the oldest ended runs beyond count, size and age", () =>
  withStore((store) => {
    for (let index = 0; index < 6; index++) record(store, sampleRun(`r${index}`, { at: Date.UTC(2026, 0, 1 + index) }));
    record(store, [{ run_id: "running", event_type: "chain_start", agent_name: "a", timestamp: "2020-01-01T00:00:00Z" }]);
    const ids = (): string[] => list(store).runs.map((run) => run.run_id);
    assert.equal(store.writer.retain({ maxRuns: 5, maxPayloadBytes: 1e9, before: 0 }), 2);
    assert.deepEqual(ids(), ["r5", "r4", "r3", "r2", "running"]);
    assert.equal(store.writer.retain({ maxRuns: 5, maxPayloadBytes: 1e9, before: Date.UTC(2026, 0, 4) * 1000 }), 1);
    assert.deepEqual(ids(), ["r5", "r4", "r3", "running"]);
    while (store.writer.retain({ maxRuns: 5, maxPayloadBytes: 1, before: 0 }) > 0);
    assert.deepEqual(ids(), ["running"]);
  }));

test("a tag is found as literal text in any letter case and script", () =>
  withStore((store) => {
    record(store, sampleRun("a", { tags: ["Café-50%"] }));
    record(store, sampleRun("b", { tags: ["plain"] }));
    const table: readonly (readonly [string, number])[] = [["CAFÉ", 1], ["50%", 1], ["%", 1], ["_", 0], ["[", 0], ['"', 0], ["a", 2], ["café-50%x", 0]];
    for (const [tag, total] of table) assert.equal(list(store, { tag }).total, total, tag);
  }));

test("paging by cursor and by offset shows every run once, newest first, also with equal starts", () =>
  withStore((store) => {
    for (let index = 0; index < 25; index++) record(store, sampleRun(`r${String(index).padStart(2, "0")}`, { at: Date.UTC(2026, 0, 1 + Math.floor(index / 5)) }));
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const page = list(store, { limit: 7, extended: true, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(...page.runs.map((run) => run.run_id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    assert.deepEqual(pages, Array.from({ length: 25 }, (_, index) => `r${String(24 - index).padStart(2, "0")}`));
    assert.deepEqual(list(store, { limit: 7, offset: 20 }).runs.map((run) => run.run_id), pages.slice(20));
    assert.deepEqual(list(store, { limit: 7, offset: 99 }), { runs: [], total: 25, limit: 7, offset: 99 });
  }));

test("search finds words, phrases, prefixes and single characters of scripts without spaces, and no operators", () =>
  withStore((store) => {
    record(store, [
      { run_id: "r", event_type: "chain_start", agent_name: "planner", summary: "the quick brown fox", payload: { deep: { text: "東京の天気 naïve \"quoted\"" } } },
      { run_id: "r", event_type: "chain_end", summary: "fox AND hound", error_message: "E_CONN refused" },
    ]);
    store.settle();
    const table: readonly (readonly [string, number])[] = [
      ["fox", 2], ["quick fox", 1], ['"quick brown"', 1], ['"brown quick"', 0], ["bro*", 1], ["bro", 0], ["天気", 1], ["NAIVE", 1], ["planner", 2], ["refused", 1],
      ["AND", 1], ["fox OR zebra", 0], ['"', 0], ["*", 0], ["NEAR(a b)", 0], ["text:fox", 0], ["quoted", 1],
    ];
    for (const [q, total] of table) assert.equal(store.reader.search({ q, scope: "all", limit: 10, offset: 0 }).total, total, q);
    assert.match(store.reader.search({ q: "brown", scope: "run:r", limit: 10, offset: 0 }).hits[0]?.snippet ?? "", /quick \u0002brown\u0003 fox/);
    assert.equal(store.reader.search({ q: "brown", scope: "run:other", limit: 10, offset: 0 }).total, 0);
  }));

test("two runs are aligned call by call", () =>
  withStore((store) => {
    record(store, sampleRun("a"));
    record(store, [...sampleRun("b", { failed: true }), { run_id: "b-2", parent_run_id: "b", event_type: "tool_start", tool_name: "calculator", timestamp: "2026-11-20T11:54:40.700Z" }]);
    const compared = store.reader.compare("a", "b");
    assert.deepEqual(compared?.rows.map((row) => [row.change, row.depth, row.a?.node ?? null, row.b?.node ?? null]), [
      ["changed", 0, "agent:research_agent", "agent:research_agent"], ["same", 1, "llm:ChatModel", "llm:ChatModel"], ["same", 1, "tool:web_search", "tool:web_search"], ["only_b", 1, null, "tool:calculator"],
    ]);
    assert.equal(store.reader.compare("a", "zzz"), null);
  }));

test("costs are known only when every model has a price", () =>
  withStore(
    (store) => {
      record(store, sampleRun("r1"));
      const run = store.reader.run("r1", true) as unknown as Json;
      assert.equal(run["cost_usd"], (42 * 1 + 58 * 2) / 1e6);
      record(store, [{ run_id: "r2", event_type: "llm_end", model: "other", token_input: 5 }]);
      // A name that every object has is no price.
      record(store, [{ run_id: "r3", event_type: "llm_end", model: "valueOf", token_input: 5 }]);
      for (const id of ["r2", "r3"]) assert.equal((store.reader.run(id, true) as unknown as Json)["cost_usd"], null);
    },
    { prices: { "gpt-4o-mini": { input: 1, output: 2 } } },
  ));

test("sessions group their runs, the one active last first", () =>
  withStore((store) => {
    record(store, [
      { run_id: "1", event_type: "chain_start", agent_name: "a", session_id: "s1", user_id: "u", timestamp: "2026-01-01T00:00:00Z" },
      { run_id: "2", event_type: "chain_start", agent_name: "a", session_id: "s2", timestamp: "2026-01-02T00:00:00Z" },
      { run_id: "3", event_type: "chain_error", agent_name: "a", session_id: "s1", timestamp: "2026-01-03T00:00:00Z", token_input: 3 },
    ]);
    assert.deepEqual(store.reader.sessions(10, 0).sessions.map((session) => [session.session_id, session.user_id, session.run_count, session.failed_count, session.total_tokens_input, session.last_at]), [
      ["s1", "u", 2, 1, 3, "2026-01-03T00:00:00Z"], ["s2", null, 1, 0, 0, "2026-01-02T00:00:00Z"],
    ]);
  }));

test.run();
