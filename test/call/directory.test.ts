import * as assert from "node:assert/strict";
import type { Caller, CallArgs } from "../../runtime/abi/call.js";
import type { Row } from "../../runtime/abi/filter.js";
import type { ResolvePlan, SearchPlan } from "../../runtime/abi/plan.js";
import type { Adapter, AdapterModule, FetchRequest } from "../../runtime/adapters/adapter.js";
import { BackendError } from "../../runtime/abi/errors.js";
import { normalize } from "../../runtime/call/directory/directory.js";
import { createEngine } from "../../runtime/call/engine.js";
import { prepareNeedle, similarity } from "../../runtime/call/directory/similarity.js";
import { suite } from "../lib/suite.js";
import { caller, memoryAdapter, nobody, program } from "./program.js";

const test = suite("call/directory");

const resolvePlan: ResolvePlan = { connection: "names", collection: "clients", field: "name", min_confidence: 0.72, max_candidates: 5000, cache_ttl_s: 600 };

function planOf(resolve: Partial<ResolvePlan> = {}, op: "eq" | "in" = "eq"): SearchPlan {
  return {
    kind: "search", connection: "main", collection: "things",
    bind: [{ arg: "client", path: "client", op, resolve: { ...resolvePlan, ...resolve } }],
    limit: { arg: "limit", default: 10, max: 10 }, output: { id: true, score: true },
  };
}

interface Setup {
  readonly names?: readonly Row[];
  readonly plan?: SearchPlan;
  readonly fetch?: Adapter["fetch"];
}

/** An engine whose directory is on a connection of its own; tells what was asked of which. */
function setUp({ names = ["Acme Corp", "Globex", "Acme Corporation"].map((name) => ({ name })), plan = planOf(), fetch }: Setup = {}) {
  const asked: { readonly of: string; readonly request: FetchRequest }[] = [];
  let now = 0;
  const rowsOf = (of: string): readonly Row[] => (of === "names" ? names.map((row, index) => ({ ...row, _id: String(index) })) : []);
  const opened = (of: string): Promise<Adapter> => {
    const plain = memoryAdapter(rowsOf(of)).open({}, { base: "" });
    return plain.then((adapter) => ({ ...adapter, fetch: (request, signal) => (asked.push({ of, request }), of === "names" && fetch !== undefined ? fetch(request, signal) : adapter.fetch(request, signal)) }));
  };
  const adapter: AdapterModule = { ...memoryAdapter([]), open: (settings) => opened(String(settings["of"])) };
  const made = program({ plans: { t: plan }, adapter });
  const connections = { main: { backend: "sqlite", settings: { of: "main" } }, names: { backend: "sqlite", settings: { of: "names" } } } as const;
  const engine = createEngine({ ...made, connections }, { env: new Map(), now: () => now });
  return {
    asked,
    wait: (ms: number) => void (now += ms),
    call: (args: CallArgs, by: Caller = nobody) => engine.call("t", args, by),
    /** The value that reached the search, or the message of the empty result. */
    async resolved(client: unknown, by: Caller = nobody): Promise<unknown> {
      const before = asked.length;
      const { message, warnings, rows } = await engine.call("t", { client }, by);
      if (message !== null) {
        assert.deepEqual([rows, warnings], [[], ["VB4020"]]);
        return message;
      }
      const filter = asked.slice(before).find(({ of }) => of === "main")?.request.filter;
      return filter !== null && filter !== undefined && "value" in filter ? filter.value : filter;
    },
  };
}

test("a name that is near enough becomes the entry it means", async () => {
  const { resolved } = setUp();
  const table: readonly (readonly [string, string])[] = [["acme cor", "Acme Corp"], ["globx", "Globex"], ["ACME  corp", "Acme Corp"], [" globex\n", "Globex"]];
  for (const [written, want] of table) assert.equal(await resolved(written), want);
});

test("a name that is not ends the call empty, successful, and with up to three suggestions", async () => {
  const { resolved, asked } = setUp();
  assert.equal(await resolved("acme"), "client: there is no 'acme'; did you mean 'Acme Corp' or 'Acme Corporation'?");
  assert.equal(await resolved("zzz"), "client: there is no 'zzz'; did you mean 'Acme Corp'?");
  assert.equal(await setUp({ names: [] }).resolved("x"), "client: there is no 'x'");
  assert.ok(asked.every(({ of }) => of === "names"), "the search was not run");
  const many = setUp({ names: ["anna1", "anna2", "anna3", "anna4"].map((name) => ({ name })), plan: planOf({ min_confidence: 1 }) });
  assert.equal(await many.resolved("anna"), "client: there is no 'anna'; did you mean 'anna1' or 'anna2' or 'anna3'?");
});

test("equally near entries are taken in text order", async () => {
  assert.equal(await setUp({ names: [{ name: "abd" }, { name: "abc" }], plan: planOf({ min_confidence: 0.5 }) }).resolved("abx"), "abc");
});

test("known members are matched before the store is asked", async () => {
  const { resolved, asked } = setUp({ plan: planOf({ known: ["ACME", 5] }) });
  assert.equal(await resolved("acme"), "ACME");
  assert.equal(await resolved(5), "5");
  assert.ok(asked.every(({ of }) => of === "main"));
});

test("each element of a list is resolved", async () => {
  const { resolved } = setUp({ plan: planOf({}, "in") });
  assert.deepEqual(await resolved(["globx", "acme corp"]), ["Globex", "Acme Corp"]);
});

test("an argument that was not given is not resolved", async () => {
  const { call, asked } = setUp();
  await call({});
  assert.deepEqual(asked.map(({ of, request }) => [of, request.filter]), [["main", null]]);
});

test("entries are the distinct texts of the field, nested ones too; the directory's own connection is asked", async () => {
  const names = [{ at: { name: "Oslo" } }, { at: { name: 7 } }, { at: { name: "Oslo" } }, { name: "Oslo!" }];
  const { resolved, asked } = setUp({ names, plan: planOf({ field: "at.name", max_candidates: 99 }) });
  assert.equal(await resolved("oslo"), "Oslo");
  assert.deepEqual(asked[0]?.request, { collection: "clients", filter: null, limit: 99, offset: 0, fields: ["at"] });
});

test("a directory is read once until its time is over", async () => {
  const { resolved, asked, wait } = setUp();
  const reads = () => asked.filter(({ of }) => of === "names").length;
  await Promise.all([resolved("globx"), resolved("acme cor")]);
  wait(599_999);
  await resolved("globx");
  assert.equal(reads(), 1);
  wait(1);
  await resolved("globx");
  assert.equal(reads(), 2);
});

test("a directory shows a caller only what guard and tenant show, and is kept apart by tenant", async () => {
  const names = [{ name: "Acme Corp", org: "a", open: true }, { name: "Globex", org: "b", open: true }, { name: "Hidden", org: "a", open: false }];
  const guard = { path: "open", op: "eq", value: true } as const;
  const tenant = { from: "claim", name: "org", path: "org", enforce: "strict" } as const;
  const { resolved, asked } = setUp({ names, plan: planOf({ guard, tenant }) });
  const [a, b] = [caller({ claims: { org: "a" } }), caller({ claims: { org: "b" } })];
  assert.equal(await resolved("acme corp", a), "Acme Corp");
  assert.equal(await resolved("acme corp", b), "client: there is no 'acme corp'; did you mean 'Globex'?");
  assert.equal(await resolved("hidden", a), "client: there is no 'hidden'; did you mean 'Acme Corp'?");
  assert.deepEqual(asked.filter(({ of }) => of === "names").map(({ request }) => request.filter), [
    { and: [{ ...guard, fixed: true }, { path: "org", op: "eq", value: "a" }] },
    { and: [{ ...guard, fixed: true }, { path: "org", op: "eq", value: "b" }] },
  ]);
  await assert.rejects(resolved("acme corp", nobody), /tenancy value is required/);
});

test("a directory that could not be read is read again by the next call", async () => {
  let reads = 0;
  const fetch: Adapter["fetch"] = async () => (++reads === 1 ? Promise.reject(new BackendError("unreachable", "sqlite", "no answer")) : { rows: [{ _id: "1", name: "Globex" }], exact: true });
  const { resolved } = setUp({ fetch });
  await assert.rejects(resolved("globx"), /no answer/);
  assert.equal(await resolved("globx"), "Globex");
});

test("a caller that goes away takes nobody's directory along", async () => {
  let answer: (rows: readonly Row[]) => void = () => undefined;
  const fetch: Adapter["fetch"] = (_request, signal) => new Promise((done, fail) => {
    signal.addEventListener("abort", () => fail(signal.reason as Error));
    answer = (rows) => done({ rows, exact: true });
  });
  const { resolved } = setUp({ fetch });
  const client = new AbortController();
  const gone = resolved("globx", caller({}, { signal: client.signal }));
  const stays = resolved("globx");
  await new Promise((next) => setImmediate(next));
  client.abort();
  await assert.rejects(gone, /cancelled/);
  answer([{ _id: "1", name: "Globex" }]);
  assert.equal(await stays, "Globex");
});

test("texts are alike as Python's difflib says", () => {
  const texts: readonly (readonly [string, string, number])[] = [
    ["acme cor", "acme corp", 0.941176], ["globx", "globex", 0.909091], ["acme", "acme corp", 0.615385], ["", "", 1], ["", "a", 0], ["abxcd", "abcd", 0.888889],
    ["qabxcd", "abycdf", 0.666667], ["private thread currentthread;", "private volatile thread currentthread;", 0.865672], ["münchen", "munchen", 0.857143],
    ["😀a", "a😀", 0.5], ["aaa", "aaaa", 0.857143], ["tide", "diet", 0.25], ["diet", "tide", 0.5],
    // In long texts, characters that make up more than one per cent are ignored.
    [lcg(1, 120, "abcdef"), lcg(2, 230, "abcdef") + lcg(1, 40, "abcdef"), 0],
    [lcg(5, 60, "abcdefghijklmnopqrstuvwxyz"), lcg(6, 300, "abcdefghijklmnopqrstuvwxyz") + lcg(5, 40, "abcdefghijklmnopqrstuvwxyz"), 0.005],
  ];
  for (const [a, b, want] of texts) assert.ok(Math.abs((similarity(prepareNeedle(a), b) ?? -1) - want) < 1e-6, `${a} / ${b}`);
});

/** The pseudo-random text that the expected numbers were computed for. */
function lcg(seed: number, length: number, alphabet: string): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return alphabet.charAt((state >>> 16) % alphabet.length);
  }).join("");
}

test("what cannot reach the threshold is not compared in full", () => {
  assert.equal(similarity(prepareNeedle("abc"), "abcdefghijklmnop", 0.72), null);
  assert.equal(similarity(prepareNeedle("abcd"), "wxyz", 0.4), null);
  assert.equal(similarity(prepareNeedle("abcd"), "wxyz"), 0);
});

test("names are compared without case and without extra blanks", () => {
  assert.equal(normalize("  Straße\t MÜNCHEN "), "strasse münchen");
});

test("a name of 10 KB and a directory of long names are compared in bounded time", async () => {
  const alphabet = "abcdefghijklmnopqrstuvwxyz ";
  const long = (seed: number, length: number): string => Array.from({ length }, (_, index) => alphabet[(index * seed) % alphabet.length]).join("");
  const names = Array.from({ length: 2000 }, (_, n) => ({ name: long(n + 1, 250) }));
  const { resolved } = setUp({ names: [...names, { name: long(7, 10_000) }] });
  const startedMs = performance.now();
  assert.match(String(await resolved(long(5, 10_000))), /there is no/);
  assert.equal(await resolved(long(7, 10_000)), long(7, 10_000), "equal names are found whatever their length");
  const many = setUp({ names, plan: planOf({}, "in") });
  await many.call({ client: Array.from({ length: 200 }, (_, n) => `${long(n + 3, 249)}!`) });
  assert.ok(performance.now() - startedMs < 5000, `${performance.now() - startedMs} ms`);
});

test("a directory on a redacted field never names its entries", async () => {
  const suggestion = async (path: string): Promise<string> => {
    const plan = planOf();
    return String(await setUp({ plan: { ...plan, output: { ...plan.output, redact: [{ path, mode: "mask" }] } } }).resolved("Acme Xyzwv"));
  };
  for (const path of ["client", "name"]) assert.match(await suggestion(path), /there is no 'Acme Xyzwv'$/);
  assert.match(await suggestion("other"), /did you mean/);
});

test.run();
