/** Rate limits of a catalog where calls run: which windows a call touches, what is counted, and what a refusal says. */
import assert from "node:assert/strict";
import { ToolError, BackendError } from "../../runtime/abi/errors.js";
import type { Caller, Program } from "../../runtime/abi/call.js";
import type { PlanTable, RateLimitPlan } from "../../runtime/abi/plan.js";
import { readRate } from "../../runtime/base/rate.js";
import { createEngine } from "../../runtime/call/engine.js";
import { createLimitStores, type LimitStores } from "../../runtime/limits/stores.js";
import { MemoryWindows } from "../../runtime/limits/window-memory.js";
import { caller, memoryAdapter, nobody, program } from "../call/program.js";
import { suite } from "../lib/suite.js";

const test = suite("limits/rate-limit");

const NONE: RateLimitPlan = { store: "memory", on_store_error: "closed", global: {}, per_principal: {}, per_tool: {} };
const query = { arg: "query", required: false, embedding: "default", mode: "dense" } as const;
const read = { connection: "main", collection: "things", bind: [], limit: { arg: "limit", default: 5, max: 5 }, output: { id: true, score: false } } as const;
const PLANS: PlanTable = {
  find: { kind: "search", ...read, query },
  list: { kind: "scroll", ...read },
  how_many: { kind: "count", connection: "main", collection: "things", bind: [] },
};

function served(limits: Partial<RateLimitPlan>, more: { readonly rbac?: object; readonly stores?: LimitStores; readonly plans?: PlanTable; readonly tools?: Program["tools"] } = {}) {
  let now = 0;
  const rbac = more.rbac === undefined ? {} : { rbac: more.rbac as never };
  const made = program({ plans: more.plans ?? PLANS, adapter: memoryAdapter([{ _id: "1" }]), settings: { security: { rate_limit: { ...NONE, ...limits }, ...rbac } } });
  const engine = createEngine({ ...made, tools: more.tools ?? [] }, { env: new Map(), now: () => now, metaTools: true, ...(more.stores === undefined ? {} : { limits: more.stores }) });
  /** "ok", or the code of what the call failed with; with the seconds of a rate limit. */
  const call = (tool: string, who: Caller = nobody, args: object = {}): Promise<string> => new Promise((resolve) => {
    engine.run(tool, args, who, {
      done: () => resolve("ok"),
      doneExtra: () => resolve("ok"),
      failed: (error) => resolve(error instanceof ToolError ? (error.code === "rate_limited" ? `${error.data["retry_after_s"]} s` : error.code) : String(error)),
    });
  });
  return { engine, call, at: (ms: number) => void (now = ms) };
}

const ann = caller({ id: "ann" });
const bob = caller({ id: "bob" });

async function all(calls: readonly (() => Promise<string>)[]): Promise<readonly string[]> {
  const said: string[] = [];
  for (const call of calls) said.push(await call());
  return said;
}
const times = <T>(count: number, make: () => T): readonly T[] => Array.from({ length: count }, make);

test("rates are a number and a second, minute, hour or day in the usual spellings; anything else is none", () => {
  const table: readonly (readonly [string, number, number])[] = [
    ["30/minute", 30, 60_000], ["5/hour", 5, 3_600_000], ["5/h", 5, 3_600_000], ["5 / HR ", 5, 3_600_000], ["2/second", 2, 1000],
    ["7/s", 7, 1000], ["1/day", 1, 86_400_000], ["9/d", 9, 86_400_000], ["10", 10, 60_000], ["10/mins", 10, 60_000], ["0/minute", 0, 60_000],
  ];
  for (const [text, limit, windowMs] of table) assert.deepEqual([readRate(text)?.limit, readRate(text)?.windowMs], [limit, windowMs], text);
  for (const text of ["", "x", "5/", "/minute", "-1/minute", "1.5/minute", "5/ms", "5/week", "5/fortnight", "5 minutes", "1e3/minute", "9999999999999999/s", "5/minute/hour"]) assert.equal(readRate(text), null, text);
});

test("without limits nothing is counted", async () => {
  const { call } = served({});
  assert.ok((await all(times(100, () => () => call("find")))).every((said) => said === "ok"));
});

test("llm limits count calls that expand a query, whether or not the provider answers", async () => {
  const expand = { provider: "http", variants: 2, config: { base_url: "http://127.0.0.1:1" } } as const;
  const plans: PlanTable = { ...PLANS, widen: { kind: "search", ...read, query: { ...query, expand } } };
  const { call } = served({ per_principal: { llm_requests_per_minute: 2 } }, { plans });
  const text = { query: "words" };
  assert.deepEqual(await all(times(3, () => () => call("widen", ann, text))), ["ok", "ok", "60 s"]);
  assert.deepEqual(await all([() => call("widen", ann), () => call("widen", ann, { query: "" }), () => call("find", ann, text)]), ["ok", "ok", "ok"], "calls that expand nothing");
  assert.equal(await call("widen", bob, text), "ok");
  const shared = served({ global: { llm_requests_per_minute: 1 } }, { plans });
  assert.deepEqual(await all([() => shared.call("widen", ann, text), () => shared.call("widen", bob, text)]), ["ok", "60 s"]);
});

test("all callers share the global limit, however many they are", async () => {
  const { call } = served({ global: { requests_per_minute: 3 } });
  const many = Array.from({ length: 10 }, (_, n) => () => call("list", caller({ id: `caller-${n}` })));
  assert.deepEqual(await all(many), ["ok", "ok", "ok", ...times(7, () => "60 s")]);
});

test("each caller has a limit of their own; callers without a name share one", async () => {
  const { call } = served({ per_principal: { requests_per_minute: 1 } });
  assert.deepEqual(await all([() => call("list", ann), () => call("list", ann), () => call("list", bob), () => call("list"), () => call("list")]), ["ok", "60 s", "ok", "ok", "60 s"]);
  assert.equal(await call("list", caller({ id: "anonymous" })), "ok", "a caller of that name is not nobody");
});

test("a tool's limit is each caller's own, and no other tool's", async () => {
  const { call } = served({ per_tool: { list: "1/hour" } });
  assert.deepEqual(await all([() => call("list", ann), () => call("list", ann), () => call("list", bob), () => call("how_many", ann)]), ["ok", "3600 s", "ok", "ok"]);
});

test("a tool's limit lasts as long as its unit says", async () => {
  const { call, at } = served({ per_tool: { list: "1/second", how_many: "1/day" } });
  assert.deepEqual(await all([() => call("list"), () => call("list"), () => call("how_many"), () => call("how_many")]), ["ok", "1 s", "ok", "86400 s"]);
  at(1000);
  assert.deepEqual(await all([() => call("list"), () => call("how_many")]), ["ok", "86399 s"]);
});

test("one search by text uses one unit of each window, not two", async () => {
  const { call } = served({ global: { requests_per_minute: 4 }, per_principal: { requests_per_minute: 3 }, per_tool: { find: "3/minute" } });
  assert.deepEqual(await all(times(4, () => () => call("find", ann, { query: "red" }))), ["ok", "ok", "ok", "60 s"]);
  assert.equal(await call("find", bob, { query: "red" }), "ok", "the refused call took nothing from the global window");
  assert.equal(await call("find", bob, { query: "red" }), "60 s");
});

test("embed limits count searches by text alone", async () => {
  const { call } = served({ global: { embed_requests_per_minute: 2 }, per_principal: { embed_requests_per_minute: 1 } });
  const said = await all([
    () => call("find", ann, { query: "red" }), () => call("find", ann, { query: "red" }),
    () => call("find", ann), () => call("find", ann, { query: "" }), () => call("find", ann, { query: null }), () => call("list", ann, { query: "no query of it" }),
    () => call("find", bob, { query: "red" }), () => call("find", caller({ id: "cy" }), { query: "red" }),
  ]);
  assert.deepEqual(said, ["ok", "60 s", "ok", "ok", "ok", "ok", "ok", "60 s"]);
});

test("a text that the catalog gives by default is embedded and counted", async () => {
  const inputSchema = { type: "object", properties: { query: { type: "string", default: "news" } } } as const;
  const { call } = served({ per_principal: { embed_requests_per_minute: 1 } }, { tools: [{ name: "find", description: "d", inputSchema } as never] });
  assert.deepEqual(await all([() => call("find"), () => call("find"), () => call("find", nobody, { query: "" })]), ["ok", "60 s", "ok"]);
});

test("0 is no limit", async () => {
  const { call } = served({ global: { requests_per_minute: 0 }, per_principal: { requests_per_minute: 0 }, per_tool: { list: "0/minute" } });
  assert.ok((await all(times(20, () => () => call("list")))).every((said) => said === "ok"));
});

test("run_tool counts once, as the tool it names, and in a limit of its own where it has one", async () => {
  const { call } = served({ per_principal: { requests_per_minute: 3 }, per_tool: { list: "2/minute", run_tool: "1/minute" } });
  const via = caller({ id: "ann" }, { via: "run_tool" });
  assert.deepEqual(await all([() => call("list", via), () => call("list", via), () => call("list", ann), () => call("list", ann), () => call("how_many", ann), () => call("how_many", ann)]), ["ok", "60 s", "ok", "60 s", "ok", "60 s"]);
});

test("meta tools are calls too", async () => {
  const { call } = served({ per_principal: { requests_per_minute: 1 } });
  assert.deepEqual(await all([() => call("list_available_tools"), () => call("list_available_tools")]), ["ok", "60 s"]);
});

test("guessing is not free: unknown tools, tools of other roles and bad arguments count", async () => {
  const rbac = { default_role: "viewer", role_claim: "roles", roles: { viewer: { allow: ["list"] } }, deny_tools: [] };
  for (const [tool, code] of [["nothing_like_it", "invalid_arguments"], ["how_many", "auth_error"]] as const) {
    const { call } = served({ per_principal: { requests_per_minute: 2 } }, { rbac });
    assert.deepEqual(await all([...times(2, () => () => call(tool, ann)), () => call(tool, ann), () => call("list", ann), () => call("list", bob)]), [code, code, "60 s", "60 s", "ok"], tool);
  }
});

test("names of tools that do not exist make no counters of their own", async () => {
  const stores = createLimitStores({ now: () => 0 });
  const { call } = served({ per_principal: { requests_per_minute: 1000 }, per_tool: { list: "5/minute" } }, { stores });
  for (let n = 0; n < 500; n += 1) await call(`guess_${n}`, ann);
  assert.equal((stores.of(NONE) as MemoryWindows).size, 1);
});

test("the refusal names the limit and the exact wait, and nothing of the caller", async () => {
  const { engine, at } = served({ per_tool: { list: "30/minute" } });
  for (let n = 0; n < 30; n += 1) {
    at(n * 100);
    await engine.call("list", {}, ann);
  }
  at(12_345);
  await assert.rejects(engine.call("list", {}, ann), (error) => {
    assert.ok(error instanceof ToolError);
    assert.deepEqual([error.code, error.retryable, error.data, error.message], ["rate_limited", true, { retry_after_s: 48 }, "rate limit: at most 30 calls of tool 'list' per minute; try again in 48 s"]);
    return true;
  });
  at(12_345 + 47_655);
  assert.equal((await engine.call("list", {}, ann)).count, 1, "after the wait the call passes");
});

test("a reload does not reset the counters; another catalog has its own", async () => {
  const stores = createLimitStores({ now: () => 0 });
  const limits = { per_principal: { requests_per_minute: 1 } };
  assert.equal(await served(limits, { stores }).call("list", ann), "ok");
  assert.equal(await served(limits, { stores }).call("list", ann), "60 s");
  const other = { ...program({ plans: PLANS, adapter: memoryAdapter([]), settings: { security: { rate_limit: { ...NONE, ...limits } } } }), catalog: { file: "other.yaml", hash: "sha256:0" } };
  assert.equal((await createEngine(other, { env: new Map(), limits: stores }).call("list", {}, ann)).count, 0);
});

test("an id of any length or spelling is its own caller", async () => {
  const { call } = served({ per_principal: { requests_per_minute: 1 } });
  const ids = ["a".repeat(100_000), `${"a".repeat(99_999)}b`, "__proto__", "constructor", "ann:of:bob", "", "\u0000", "tool:list"];
  for (const id of ids) assert.deepEqual(await all([() => call("list", caller({ id })), () => call("list", caller({ id }))]), ["ok", "60 s"], id.slice(0, 20));
});

test("a store that is down refuses, or lets pass where the catalog says so; a missing package never does", async () => {
  const down = new BackendError("unreachable", "redis", "away");
  const failing = (error: Error): LimitStores => ({ of: () => ({ take: () => Promise.reject(error), prepare: async () => undefined, close: async () => undefined }), close: async () => undefined });
  const limits = { global: { requests_per_minute: 1 } };
  assert.equal(await served(limits, { stores: failing(down) }).call("list"), "backend_unreachable");
  assert.equal(await served({ ...limits, on_store_error: "open" }, { stores: failing(down) }).call("list"), "ok");
  assert.equal(await served({ ...limits, on_store_error: "open" }, { stores: failing(new ToolError("tds_invalid", "npm i redis")) }).call("list"), "tds_invalid");
});

test("health asks a store outside of the process, and says whether calls need it", async () => {
  const answering = (take: () => Promise<null>): LimitStores => ({ of: () => ({ take, prepare: async () => undefined, close: async () => undefined }), close: async () => undefined });
  const limits = { store: "redis", redis_url: "redis://h", global: { requests_per_minute: 1 } } as const;
  const down = (): Promise<null> => Promise.reject(new BackendError("unreachable", "redis", "away"));
  assert.deepEqual(await served(limits, { stores: answering(async () => null) }).engine.limitHealth(), { ok: true, store: "redis", required: true });
  assert.deepEqual(await served({ ...limits, on_store_error: "open" }, { stores: answering(down) }).engine.limitHealth(), { ok: false, store: "redis", required: false });
  assert.equal(await served({ global: { requests_per_minute: 1 } }).engine.limitHealth(), null);
  assert.equal(await createEngine(program({ plans: PLANS }), { env: new Map() }).limitHealth(), null);
});

test("an address that is none of Redis ends the start without repeating it", () => {
  assert.throws(() => served({ store: "redis", redis_url: "http://u:canary@h", global: { requests_per_minute: 1 } }), (error) => error instanceof ToolError && error.message.includes("redis_url") && !error.message.includes("canary"));
});

test("calls limited in memory get their answer without a promise for the limit", () => {
  const { engine } = served({ global: { requests_per_minute: 1 } });
  return engine.load().then(() => {
    const said: unknown[] = [];
    const end = { done: () => undefined, doneExtra: () => undefined, failed: (error: unknown) => void said.push(error) };
    engine.run("list", {}, nobody, end);
    engine.run("list", {}, nobody, end);
    assert.equal(said.length, 1, "refused before run returned");
  });
});

test.run();
