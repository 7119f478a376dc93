/** The planner: what a checked catalog becomes, key by key. */
import assert from "node:assert/strict";
import { plan } from "../../generator/4-plan/index.js";
import { CompilerBug } from "../../generator/bug.js";
import type { ResolvedTool } from "../../generator/ir.js";
import type { Binding } from "../../runtime/abi/plan.js";
import { suite } from "../lib/suite.js";
import { checked, connection, HASHING, output, parameter, query, tool } from "./fixtures.js";

const test = suite("plan");

const at = [] as const;

function planOf(name: string, over: Partial<ResolvedTool>, catalog: Parameters<typeof checked>[1] = {}): unknown {
  return plan(checked([tool(name, over)], catalog)).tools[name];
}

/** As text, because the order of keys is what a reviewer reads. */
function sameText(actual: unknown, want: unknown): void {
  assert.equal(JSON.stringify(actual, null, 1), JSON.stringify(want, null, 1));
}

test("a search plan holds every decision in one fixed order and nothing else", () => {
  sameText(
    planOf("find_it", {
      query: query({ required: true, minScore: 0.2, ef: 64 }),
      parameters: [parameter("genre", { path: "major_genre", op: "in" }), parameter("plain")],
      staticFilters: { must: [{ path: "studio", op: "eq", value: "A", at }], mustNot: [] },
      output: output({ fields: ["title"], limitDefault: 5, limitMax: 20, redact: [{ path: "b", mode: "hash", patterns: [], at }] }),
    }),
    {
      kind: "search",
      connection: "main",
      collection: "things",
      query: { arg: "query", required: true, embedding: "default", mode: "dense", min_score: 0.2, ef: 64 },
      guard: { and: [{ path: "studio", op: "eq", value: "A" }] },
      bind: [{ arg: "genre", path: "major_genre", op: "in" }],
      limit: { arg: "limit", default: 5, max: 20 },
      output: { fields: ["title"], id: true, score: true, redact: [{ path: "b", mode: "hash" }] },
    },
  );
});

test("lookup, count and scroll plans have the keys of their kind", () => {
  sameText(planOf("get_it", { kind: "lookup", output: output({ limitDefault: 1, limitMax: 1, includeScore: false }) }), {
    kind: "lookup", connection: "main", collection: "things", bind: [], rows: 1, output: { id: true, score: false },
  });
  sameText(planOf("count_it", { kind: "count" }), { kind: "count", connection: "main", collection: "things", bind: [] });
  sameText(planOf("list_it", { kind: "scroll", output: output({ maxFieldLength: 9, truncateSuffix: "..." }) }), {
    kind: "scroll", connection: "main", collection: "things", bind: [], limit: { arg: "limit", default: 10, max: 50 },
    output: { id: true, score: true, max_field_length: 9, truncate_suffix: "..." },
  });
});

test("a tool's own deadline is the last key of its plan, whatever its kind", () => {
  sameText(planOf("count_it", { kind: "count", deadlineS: 2.5 }), { kind: "count", connection: "main", collection: "things", bind: [], deadline_s: 2.5 });
  for (const kind of ["search", "lookup", "scroll", "meta"] as const) {
    assert.equal(Object.entries(planOf("it", { kind, deadlineS: 7 }) as object).at(-1)?.join(" "), "deadline_s 7", kind);
  }
});

test("must entries are ANDed as written, must_not entries each as their opposite", () => {
  const ops = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"] as const;
  const value = (op: string): number | readonly number[] => (op === "in" || op === "nin" ? [1, 2] : 1);
  const guarded = planOf("find_it", {
    kind: "count",
    staticFilters: {
      must: [{ path: "a", op: "gte", value: 1, at }],
      mustNot: ops.map((op) => ({ path: "b", op, value: value(op), at })),
    },
  }) as { guard: { and: readonly { path: string; op: string; value: unknown }[] } };
  assert.deepEqual(guarded.guard.and.map(({ path, op }) => `${path} ${op}`), [
    "a gte", "b ne", "b eq", "b lte", "b lt", "b gte", "b gt", "b nin", "b in",
  ]);
});

test("an operator that has no opposite is a bug, not a hole in the guard", () => {
  assert.throws(() => planOf("find_it", { staticFilters: { must: [], mustNot: [{ path: "a", op: "like", value: "x", at }] } }), CompilerBug);
});

test("a parameter with an operator but no path filters the field of its name", () => {
  const { bind } = planOf("count_it", { kind: "count", parameters: [parameter("status", { op: "eq" }), parameter("year", { path: "released" })] }) as {
    bind: unknown;
  };
  assert.deepEqual(bind, [{ arg: "status", path: "status", op: "eq" }, { arg: "year", path: "released", op: "eq" }]);
});

test("tenancy from a claim or a header is in every plan, static tenancy in none", () => {
  const tenancy = { claim: "org", header: "X-Org", encoding: null, path: "org_id", enforce: "strict", at } as const;
  const tools = (["search", "lookup", "count", "scroll"] as const).map((kind) => tool(`${kind}_it`, { kind }));
  const plans = (mode: "claim" | "header" | "static") => Object.values(plan(checked(tools, { tenancy: { ...tenancy, mode } })).tools);
  for (const each of plans("claim")) assert.deepEqual("tenant" in each && each.tenant, { from: "claim", name: "org", path: "org_id", enforce: "strict" });
  for (const each of plans("header")) assert.deepEqual("tenant" in each && each.tenant, { from: "header", name: "X-Org", path: "org_id", enforce: "strict" });
  for (const each of plans("static")) assert.equal("tenant" in each, false);
});

test("a namespace or a native tenant of the connection is a route of the plan", () => {
  const pinecone = connection("main", { backend: "pinecone", settings: { host: "h", namespace: "eu", api_key: { env: "KEY" } } });
  assert.deepEqual((planOf("find_it", {}, { connections: [pinecone] }) as { route: unknown }).route, { namespace: "eu" });
  const weaviate = connection("main", { backend: "weaviate", settings: { url: "u", tenant: { env: "T" } } });
  assert.deepEqual((planOf("find_it", {}, { connections: [weaviate] }) as { route: unknown }).route, { tenant: { env: "T" } });
});

test("a directory parameter knows where to look and which members need no look", () => {
  const resolve = { kind: "directory", connection: null, collection: "names", field: "name", minConfidence: 0.72, maxCandidates: 5000, cacheTtlS: 600, dates: [], staticFilters: { must: [], mustNot: [] } } as const;
  const { bind } = planOf("find_it", { parameters: [parameter("client", { path: "client", op: "eq", enum: ["Acme"], resolve })] }) as { bind: unknown };
  assert.deepEqual(bind, [{
    arg: "client", path: "client", op: "eq",
    resolve: { connection: "main", collection: "names", field: "name", min_confidence: 0.72, max_candidates: 5000, cache_ttl_s: 600, known: ["Acme"] },
  }]);
});

test("a directory's own filters guard it, beside the tool's where it is the tool's own collection", () => {
  const filters = (path: string) => ({ must: [{ path, op: "eq", value: 1, at: [] }], mustNot: [{ path: `${path}_out`, op: "eq", value: 2, at: [] }] }) as const;
  const directory = (collection: string | null) => ({ kind: "directory", connection: null, collection, field: "name", minConfidence: 0.72, maxCandidates: 5000, cacheTtlS: 600, dates: [], staticFilters: filters("b") }) as const;
  const guardOf = (collection: string | null): unknown => {
    const { bind } = planOf("find_it", { staticFilters: filters("a"), parameters: [parameter("client", { path: "client", op: "eq", resolve: directory(collection) })] }) as { bind: readonly Binding[] };
    return bind[0]?.resolve?.guard;
  };
  const own = [{ path: "b", op: "eq", value: 1 }, { path: "b_out", op: "ne", value: 2 }];
  assert.deepEqual(guardOf("names"), { and: own });
  assert.deepEqual(guardOf(null), { and: [{ path: "a", op: "eq", value: 1 }, own[0], { path: "a_out", op: "ne", value: 2 }, own[1]] });
});

test("equal embeddings share one name; the catalog's own is called default", () => {
  const other = { provider: "hosted", model: "m", dims: null, config: {}, space: null, origin: "stated", at: ["tools", 0] } as const;
  const plans = plan(checked([
    tool("aaa", { query: query({ embedding: other }) }),
    tool("bbb", { query: query({ embedding: { ...other, config: { base_url: "u" } } }) }),
    tool("ccc", { query: query({ embedding: { ...HASHING, at: ["tools", 2] } }) }),
    tool("ddd", { query: query() }),
  ]));
  assert.deepEqual(plans.embeddings, {
    "hosted/m": { provider: "hosted", model: "m" },
    "hosted/m#2": { provider: "hosted", model: "m", config: { base_url: "u" } },
    default: { provider: "local", model: "hashing-512", dims: 512 },
  });
  const names = Object.values(plans.tools).map((each) => "query" in each && each.query?.embedding);
  assert.deepEqual(names, ["hosted/m", "hosted/m#2", "default", "default"]);
});

test("a pipeline keeps its steps, with expressions as trees, and advertises the query of its retrieve step", () => {
  const pipeline = tool("rank_it", {
    kind: "pipeline", target: null, parameters: [parameter("per", { dtype: "integer" })],
    staticFilters: { must: [{ path: "a", op: "eq", value: 1, at }], mustNot: [] },
    steps: [
      {
        kind: "retrieve", at, target: { connection: "main", collection: "things", at }, query: query({ param: "topic", required: true }),
        filter: { path: "b", op: "eq", param: "per" }, kParam: "limit", overfetchFactor: 10, maxCandidates: 2000,
      },
      { kind: "post_filter", at, expr: "score >= 2 and not hidden" },
      { kind: "group_by", at, keys: ["studio"], perGroup: { sortBy: "score", desc: true, take: "params.per" } },
      { kind: "sort", at, by: "score", desc: false, nulls: "last" },
      { kind: "project", at, fields: ["title"] },
    ],
  });
  const plans = plan(checked([pipeline]));
  sameText(plans.tools["rank_it"], {
    kind: "pipeline",
    retrieve: {
      connection: "main", collection: "things", query: { arg: "topic", required: true, embedding: "default", mode: "dense" },
      guard: { and: [{ path: "a", op: "eq", value: 1 }] }, bind: [], filter: { path: "b", op: "eq", param: "per" },
      overfetch_factor: 10, max_candidates: 2000,
    },
    steps: [
      {
        kind: "post_filter",
        text: "score >= 2 and not hidden",
        expr: { op: "and", l: { op: ">=", l: { field: "score" }, r: { lit: 2 } }, r: { not: { field: "hidden" } } },
      },
      { kind: "group_by", keys: ["studio"], per_group: { sort_by: "score", desc: true, take: { param: "per" } } },
      { kind: "sort", by: "score", desc: false, nulls: "last" },
      { kind: "project", fields: ["title"] },
    ],
    limit: { arg: "limit", default: 10, max: 50 },
    output: { id: true, score: true },
  });
  assert.deepEqual(plans.inputs["rank_it"]?.params.map(({ name }) => name), ["topic", "per", "limit"]);
});

test("plans are plain JSON", () => {
  const plans = plan(checked([tool("find_it", { query: query() }), tool("count_it", { kind: "count" })]));
  assert.deepEqual(JSON.parse(JSON.stringify(plans)), plans);
});

test("the catalog is known by its file name, and tools by their line", () => {
  const plans = plan(checked([tool("aaa"), tool("bbb")]));
  assert.equal(plans.catalog.file, "tools.yaml");
  assert.deepEqual(plans.origins, { aaa: { line: 3 }, bbb: { line: 5 } });
});

test("the hash changes with a guard, a description and the order of tools, not with the place of the file", () => {
  const hash = (tools: readonly ResolvedTool[]): string => plan(checked(tools)).catalog.hash;
  const [a, b] = [tool("aaa"), tool("bbb")];
  const base = hash([a, b]);
  assert.match(base, /^sha256:[0-9a-f]{64}$/);
  assert.equal(hash([{ ...a, at: ["elsewhere"] }, b]), base);
  const others = [
    hash([b, a]),
    hash([{ ...a, description: `${a.description}!` }, b]),
    hash([{ ...a, staticFilters: { must: [{ path: "x", op: "eq", value: 1, at }], mustNot: [] } }, b]),
  ];
  assert.equal(new Set([base, ...others]).size, 4);
});

test("names that are special to JavaScript objects stay ordinary names", () => {
  const plans = plan(checked([tool("find_it", { target: { connection: "__proto__", collection: "c", at } })], { connections: [connection("__proto__")] }));
  assert.deepEqual(Object.keys(plans.connections), ["__proto__"]);
});

test.run();
