/** What an observer is told of a call: its order, its shape, and nothing that it could leak. */
import assert from "node:assert/strict";
import * as z from "zod";
import { BackendError } from "../../runtime/abi/errors.js";
import { observeWith, type CallObserver, type ObservedCall, type ObservedStep } from "../../runtime/abi/observer.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { createEngine } from "../../runtime/call/engine.js";
import { suite } from "../lib/suite.js";
import { caller, memoryAdapter, nobody, program } from "./program.js";

const test = suite("call/observe");

const ROWS = [{ _id: "1", name: "a", secret: "row-secret" }, { _id: "2", name: "b", secret: "row-secret" }];
const read = { connection: "main", collection: "things", guard: { path: "secret", op: "eq", value: "row-secret" }, bind: [], limit: { arg: "limit", default: 5, max: 9 }, output: { id: true, score: true } } as const;
const PLANS: { readonly [tool: string]: ToolPlan } = {
  find: { kind: "search", ...read, query: { arg: "query", required: true, embedding: "default", mode: "dense" } },
  list: { kind: "scroll", ...read },
  total: { kind: "count", connection: "main", collection: "things", bind: [] },
  piped: {
    kind: "pipeline", retrieve: { connection: "main", collection: "things", bind: [], overfetch_factor: 2, max_candidates: 10 }, limit: read.limit, output: read.output,
    steps: [{ kind: "sort", by: "name", desc: true, nulls: "last" }, { kind: "project", fields: ["name"] }],
  },
};

interface Told {
  readonly observer: CallObserver;
  readonly lines: string[];
  readonly calls: ObservedCall[];
}

/** Writes down what it is told, and each call as it is at its end. */
function recorder(): Told {
  const lines: string[] = [];
  const calls: ObservedCall[] = [];
  const line = (what: string, step: ObservedStep): void => void lines.push(`${what} ${step.kind} ${step.operation} ${step.target} ${JSON.stringify(step.attributes)} ${step.count} ${step.failure}`);
  return {
    lines, calls,
    observer: {
      begin: (call) => void lines.push(`begin ${call.tool} ${JSON.stringify(call.args)} ${call.outcome === null}`),
      steps: { begin: (_, step) => line("step", step), end: (_, step) => line("done", step) },
      end(call) {
        lines.push(`end ${JSON.stringify(call.outcome)}`);
        // As it is now: it goes on changing, and asks its caller for the rest.
        calls.push({ ...call, requestId: call.requestId, session: call.session, trace: call.trace, principal: call.principal });
      },
    },
  };
}

function engineOf(observer: CallObserver | null, overrides: Partial<Adapter> = {}) {
  let clock = 0;
  return createEngine(program({ plans: PLANS, validators: { list: z.object({ n: z.number().optional() }) }, adapter: memoryAdapter(ROWS, overrides) }), {
    env: new Map(), now: () => (clock += 1), observing: observer === null ? null : { observer, wallNow: () => 1_700_000_000_000 },
  });
}

test("a search reports its call, its embedding and its read, each with beginning and end", async () => {
  const { observer, lines, calls } = recorder();
  await engineOf(observer).call("find", { query: "a" }, caller({ id: "ada" }, { session: "s1" }));
  assert.deepEqual(lines, [
    'begin find {"query":"a"} true',
    'step embed embed local/hashing-256 {"provider":"local","model":"hashing-256","text_count":1} null null',
    'done embed embed local/hashing-256 {"provider":"local","model":"hashing-256","text_count":1} 1 null',
    'step store search main/things {"backend":"sqlite","connection":"main","collection":"things","limit":5,"mode":"dense"} null null',
    'done store search main/things {"backend":"sqlite","connection":"main","collection":"things","limit":5,"mode":"dense"} 2 null',
    'end {"kind":"ok","count":2,"truncated":false,"mayBeIncomplete":false,"exact":true,"searchMode":"dense","warnings":[]}',
  ]);
  const [call] = calls;
  assert.ok(call !== undefined);
  assert.deepEqual([call.requestId, call.session, call.principal, call.plan, call.startedAt], ["r1", "s1", "ada", PLANS["find"], 1_700_000_000_000]);
  assert.ok(call.endedMs > call.startedMs);
  assert.ok(!JSON.stringify({ ...call, plan: null }).includes("row-secret"), "no row and no guard is in the record");
});

test("each kind of tool reports its own steps", async () => {
  const steps = async (tool: string): Promise<readonly string[]> => {
    const { observer, lines } = recorder();
    await engineOf(observer).call(tool, {}, nobody);
    return lines.filter((line) => line.startsWith("done")).map((line) => line.split(" ").slice(1, 4).concat(line.split(" ").slice(-2)).join(" "));
  };
  assert.deepEqual(await steps("list"), ["store fetch main/things 2 null"]);
  assert.deepEqual(await steps("total"), ["store count main/things 2 null"]);
  assert.deepEqual(await steps("piped"), ["store fetch main/things 2 null", "pipeline sort piped 2 null", "pipeline project piped 2 null"]);
});

test("a refusal is observed like a call: unknown tools, unusable arguments, and a store that fails", async () => {
  const { observer, lines, calls } = recorder();
  const down = async (): Promise<never> => { throw new BackendError("unreachable", "sqlite", "nobody is there"); };
  const bug = async (): Promise<never> => { throw new TypeError("postgres://user:pw@host is not a function"); };
  await assert.rejects(engineOf(observer).call("nope", {}, nobody));
  await assert.rejects(engineOf(observer).call("list", { n: "x" }, nobody));
  await assert.rejects(engineOf(observer, { fetch: down }).call("list", {}, nobody));
  await assert.rejects(engineOf(observer, { fetch: bug }).call("list", {}, nobody), TypeError);
  assert.deepEqual(calls.map(({ tool, plan, outcome }) => [tool, plan?.kind ?? null, outcome?.kind === "error" ? outcome.code : null]), [
    ["nope", null, "invalid_arguments"], ["list", "scroll", "invalid_arguments"], ["list", "scroll", "backend_unreachable"], ["list", "scroll", "internal"],
  ]);
  assert.deepEqual(lines.filter((line) => line.startsWith("done")).map((line) => line.split(" ").at(-1)), ["unreachable", "internal"]);
  assert.ok(!lines.join().includes("postgres"), "what nobody expected keeps its text for the log");
});

test("a step that others wait for is not reported after the end of the call that began it", async () => {
  const { observer, lines } = recorder();
  let release: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => (release = resolve));
  const engine = engineOf(observer, { fetch: async () => { await slow; return { rows: [], exact: true }; } });
  await assert.rejects(engine.call("list", {}, caller({}, { deadlineMs: 1 })), /1 ms|0\.001|time/i);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(lines.map((line) => line.split(" ")[0]), ["begin", "step", "end"]);
  assert.match(lines.at(-1) ?? "", /"code":"timeout"/);
});

test("several observers get the same reports, and none is none", async () => {
  const [a, b] = [recorder(), recorder()];
  await engineOf(observeWith([a.observer, b.observer])).call("list", {}, nobody);
  assert.equal(a.lines.length, 4);
  assert.deepEqual(a.lines, b.lines);
  assert.equal(observeWith([a.observer]), a.observer);
  assert.equal(observeWith([]), null);
});

test("nobody watching changes nothing of a result", async () => {
  const { observer } = recorder();
  const [watched, plain] = await Promise.all([observer, null].map((each) => engineOf(each).call("find", { query: "a" }, nobody)));
  assert.deepEqual({ ...watched, latency_ms: 0 }, { ...plain, latency_ms: 0 });
});

/** Evidence of one call: its reads and the ids of its rows. */
async function evidenceOf(tool: string, args: object, more: Partial<Adapter> = {}): Promise<ObservedCall> {
  const calls: ObservedCall[] = [];
  await engineOf({ evidence: true, end: (call) => void calls.push({ ...call }) }, more).call(tool, args, nobody).catch(() => undefined);
  assert.ok(calls.length === 1 && calls[0] !== undefined);
  return calls[0];
}

test("evidence has a digest of each native query and the ids of the rows that left, projected ones too", async () => {
  const { evidence } = await evidenceOf("find", { query: "a", limit: 1 });
  assert.deepEqual(evidence?.reads.map(({ connection, operation }) => [connection, operation]), [["main", "search"]]);
  assert.match(evidence?.reads[0]?.digest ?? "", /^sha256:[0-9a-f]{64}$/);
  assert.deepEqual(evidence?.rowIds, ["1"]);
  assert.deepEqual((await evidenceOf("piped", {})).evidence?.rowIds, ["2", "1"], "a step dropped the ids");
  assert.deepEqual((await evidenceOf("total", {})).evidence?.rowIds, [], "a count returns no record");
});

test("the same arguments give the same query digest, others another one", async () => {
  const digest = async (args: object): Promise<unknown> => (await evidenceOf("find", { query: "a", ...args })).evidence?.reads[0]?.digest;
  assert.equal(await digest({ limit: 2 }), await digest({ limit: 2 }));
  assert.notEqual(await digest({ limit: 2 }), await digest({ limit: 1 }));
  assert.notEqual(await digest({ query: "b c" }), await digest({ query: "d" }));
});

test("a read that fails is in the evidence, with no row; a query that cannot be shown fails no call", async () => {
  const failing = await evidenceOf("list", {}, { fetch: async () => Promise.reject(new BackendError("unreachable", "sqlite", "gone")) });
  assert.deepEqual([failing.outcome?.kind, failing.evidence?.reads.length, failing.evidence?.rowIds.length], ["error", 1, 0]);
  const calls: ObservedCall[] = [];
  const store = memoryAdapter(ROWS);
  const engine = createEngine(program({ plans: PLANS, adapter: { ...store, explain: () => { throw new Error("no form"); } } }), { env: new Map(), observing: { observer: { evidence: true, end: (call) => void calls.push(call) }, wallNow: () => 0 } });
  assert.equal((await engine.call("list", {}, nobody)).count, 2);
  assert.deepEqual(calls[0]?.evidence?.reads, [{ connection: "main", operation: "fetch", digest: null }]);
});

test("without an observer that asks for it there is no evidence, and no row carries anything more", async () => {
  const { observer, calls } = recorder();
  const { rows } = await engineOf(observer).call("piped", {}, nobody);
  assert.equal(calls[0]?.evidence, null);
  assert.equal(JSON.stringify(rows), '[{"name":"b"},{"name":"a"}]');
});

test("a record names its caller; neither its JSON nor a copy of it has the caller's claims or headers", async () => {
  const shown: string[] = [];
  const engine = engineOf({ end: (call) => void shown.push(call.principal ?? "", JSON.stringify({ ...call, plan: null }), JSON.stringify(structuredClone({ ...call, plan: null }))) });
  await engine.call("list", {}, caller({ id: "ada", claims: { org: "claim-canary" }, headers: { "x-tenant": "header-canary" } }));
  assert.deepEqual([shown[0], shown.length], ["ada", 3]);
  assert.doesNotMatch(shown.join(), /canary/);
});

test.run();
