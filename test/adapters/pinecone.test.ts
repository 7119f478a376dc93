/**
 * The adapter of Pinecone on a stand-in of ours, whose requests are checked with the models of the official client:
 * nothing here is proven on the service itself.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { connect } from "../../generator/connect.js";
import { isBackendError, type BackendError } from "../../runtime/abi/errors.js";
import { evaluate, type Filter, type Row } from "../../runtime/abi/filter.js";
import type { Adapter, SearchRequest } from "../../runtime/adapters/adapter.js";
import { compileFilter } from "../../runtime/adapters/pinecone/filter.js";
import { adapter as pinecone } from "../../runtime/adapters/pinecone/index.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { KEY, type Standin, startStandin } from "../live/pinecone-standin.js";
import { suite } from "../lib/suite.js";
import { DIMS, RECORDS, vectorOf } from "./contract-data.js";
import { HOSTILE_TEXTS } from "./hostile.js";
import { blackHole, Proxy, unusedPort } from "./proxy.js";
import { filters } from "./random.js";

const test = suite("adapters/pinecone on a stand-in");
const never = (): AbortSignal => new AbortController().signal;
const idOf = (n: number): string => `r${String(n).padStart(5, "0")}`;
/** Metadata has texts, numbers, booleans and lists of texts. */
const metadataOf = (payload: Row): { readonly [key: string]: unknown } => Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null && (typeof value !== "object" || (Array.isArray(value) && value.every((one) => typeof one === "string")))));
const ROWS: readonly Row[] = RECORDS.map(({ n, payload }) => ({ ...metadataOf(payload), _id: idOf(n) }));

async function failure(promise: Promise<unknown>): Promise<BackendError> {
  const error = await promise.then(() => null, (reason: unknown) => reason);
  assert.ok(isBackendError(error), String(error));
  return error as BackendError;
}

async function withIndex(run: (adapter: Adapter, standin: Standin) => Promise<void>): Promise<void> {
  const standin = await startStandin(DIMS);
  standin.namespaces.set("things", RECORDS.map(({ n, payload, vector }) => ({ id: idOf(n), values: vector, metadata: metadataOf(payload) })));
  const adapter = await open(standin.host, standin.port);
  try {
    await run(adapter, standin);
  } finally {
    await adapter.close();
    await standin.close();
  }
}

function open(host: string, port: number, api_key = KEY): Promise<Adapter> {
  return pinecone.open({ host: `http://${host}:${port}`, api_key }, { base: process.cwd() });
}

const search = (n: number, rest: Partial<SearchRequest> = {}): SearchRequest => ({ collection: "things", vector: Float32Array.from(vectorOf(n)), text: null, mode: "dense", alpha: 0.5, filter: null, limit: 10, fields: null, ...rest });
const ids = (rows: readonly Row[]): readonly unknown[] => rows.map((row) => row["_id"]);

test("a search ranks by similarity under the guard, and a collection is a namespace", () => withIndex(async (adapter, standin) => {
  const { rows } = await adapter.search(search(7, { filter: { path: "tenant", op: "eq", value: "acme" } }), never());
  assert.equal(rows.length, 10);
  assert.ok(rows.every((row) => row["tenant"] === "acme"));
  assert.deepEqual(rows.map((row) => row["_score"]), rows.map((row) => Number(row["_score"])).sort((a, b) => b - a));
  assert.equal((await adapter.search(search(7), never())).rows[0]?.["_id"], idOf(7));
  assert.deepEqual((await adapter.search(search(7, { collection: "nowhere" }), never())).rows, []);
  assert.deepEqual(standin.queries[0]?.["namespace"], "things");
}));

test("the namespace of the connection is read, and another collection is refused", () => withIndex(async (adapter) => {
  assert.equal((await adapter.search(search(7, { collection: "", route: { namespace: "things" } }), never())).rows.length, 10);
  assert.deepEqual((await adapter.search(search(7, { collection: "", route: { namespace: "other" } }), never())).rows, []);
  assert.equal((await failure(adapter.search(search(7, { route: { namespace: "other" } }), never()))).kind, "unsupported");
  assert.equal((await failure(adapter.search(search(7, { route: { tenant: "acme" } }), never()))).kind, "unsupported");
}));

test("300 random filters select the rows of evaluate, or are refused before anything is sent", () => withIndex(async (adapter, standin) => {
  let compared = 0;
  for (const filter of fc.sample(renamed(filters), { numRuns: 1500, seed: 7 })) {
    const before = standin.queries.length;
    try {
      compileFilter(filter);
    } catch {
      assert.equal((await failure(adapter.search(search(2, { filter, limit: 100 }), never()))).kind, "unsupported");
      assert.equal(standin.queries.length, before);
      continue;
    }
    // A list with the value in it passes \`ne\` nowhere there.
    if (JSON.stringify(filter).includes('"ne"') && JSON.stringify(filter).includes('"tags"')) continue;
    const { rows } = await adapter.search(search(2, { filter, limit: 100 }), never());
    assert.deepEqual(new Set(ids(rows)), new Set(ids(ROWS.filter((row) => evaluate(filter, row)))), JSON.stringify(filter));
    if (++compared === 300) break;
  }
  assert.equal(compared, 300);
}), { timeoutMs: 60_000 });

/** Random filters over fields of the records. */
function renamed(some: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> {
  const names: { readonly [path: string]: string } = { kind: "tenant", Kind: "note", size: "size", tags: "tags", "nested.kind": "day", "nested.deep.size": "price", rowid: "open", id: "size" };
  const values = ["acme", "globex", "note 1", "all", "t1", 3, 7.5, true];
  const rename = (filter: Filter, salt: number): Filter => {
    if ("and" in filter) return { and: filter.and.map((part, index) => rename(part, salt + index)) };
    if ("or" in filter) return { or: filter.or.map((part, index) => rename(part, salt + index)) };
    const value = Array.isArray(filter.value) ? [...(filter.value as unknown as readonly string[]), values[salt % 8] ?? "acme"] : salt % 2 === 0 ? values[salt % 8] ?? "acme" : filter.value;
    return { ...filter, path: names[filter.path] ?? "absent", value };
  };
  return fc.tuple(some, fc.nat(1000)).map(([filter, salt]) => rename(filter, salt));
}

test("hostile texts are values and nothing else", () => withIndex(async (adapter, standin) => {
  standin.namespaces.set("hostile", HOSTILE_TEXTS.map((text, n) => ({ id: idOf(n), values: vectorOf(n), metadata: { tenant: n % 2 === 0 ? "acme" : "globex", text } })));
  for (const value of HOSTILE_TEXTS.filter((text) => !/\p{Surrogate}/u.test(text))) {
    const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "text", op: "eq", value }] };
    const { rows } = await adapter.search(search(1, { collection: "hostile", filter, limit: 100 }), never());
    assert.deepEqual(rows.map((row) => row["text"]), HOSTILE_TEXTS.filter((text, n) => n % 2 === 0 && text === value), JSON.stringify(value).slice(0, 60));
  }
}), { timeoutMs: 30_000 });

test("what the service cannot do is refused: reads and counts by a filter, hybrid search", () => withIndex(async (adapter) => {
  const read = { collection: "things", filter: null, limit: 5, offset: 0, fields: null };
  for (const refused of [adapter.fetch(read, never()), adapter.sample("things", 5, never()), adapter.count("things", { path: "size", op: "gt", value: 1 }, never()), adapter.search(search(1, { mode: "hybrid", text: "x" }), never())]) assert.equal((await failure(refused)).kind, "unsupported");
  assert.equal(await adapter.count("things", null, never()), RECORDS.length);
}));

test("health, namespaces and their descriptions come from the index", () => withIndex(async (adapter) => {
  await adapter.health(never());
  assert.deepEqual(await adapter.collections(never()), ["things"]);
  assert.deepEqual(await adapter.describe("things", never()), { name: "things", dims: DIMS, count: RECORDS.length, sparse: false, fields: [] });
  assert.equal(await adapter.describe("nowhere", never()), null);
}));

test("failures have kinds: credentials, dimensions, a service that is down", () => withIndex(async (adapter, { host, port }) => {
  const refused = await failure((await open(host, port, "wrong-secret")).health(never()));
  assert.deepEqual([refused.kind, refused.retryable], ["auth", false]);
  assert.doesNotMatch(refused.message, /wrong-secret/);
  assert.equal((await failure(adapter.search(search(1, { vector: new Float32Array(DIMS + 1) }), never()))).kind, "bad_request");
  const down = await open(host, await unusedPort());
  const error = await failure(down.health(never()));
  assert.deepEqual([error.kind, error.retryable], ["unreachable", true]);
  assert.doesNotMatch(error.message, /127|secret/);
}));

test("a call that ends is let go at once, from a service that is silent and from one that never answered", () => withIndex(async (_, standin) => {
  const hole = await blackHole();
  const proxy = await Proxy.to(standin.host, standin.port);
  proxy.silent = true;
  for (const place of [hole, proxy]) {
    const adapter = await open(place.host, place.port);
    const controller = new AbortController();
    const reason = new Error("cancelled");
    const reading = adapter.search(search(1), controller.signal).catch((error: unknown) => error);
    await place.asked();
    controller.abort(reason);
    assert.equal(await reading, reason);
  }
  assert.equal(await (await open(standin.host, standin.port)).search(search(1), AbortSignal.abort("over")).catch((error: unknown) => error), "over");
  await hole.close();
  await proxy.close();
}));

test("a connection that breaks is opened again once, and garbage is an error", () => withIndex(async (_, standin) => {
  const proxy = await Proxy.to(standin.host, standin.port);
  const adapter = await open(proxy.host, proxy.port);
  proxy.cutNext = 1;
  assert.equal((await adapter.search(search(1), never())).rows.length, 10);
  proxy.garbage = true;
  assert.ok(["unreachable", "internal"].includes((await failure(adapter.search(search(1), AbortSignal.timeout(8_000)))).kind));
  await proxy.close();
}));

test("two tenants through a compiled tool: no row crosses", async () => {
  const standin = await startStandin(256);
  const words = ["red", "blue", "green", "fox", "whale", "frog"];
  standin.namespaces.set("shared", Array.from({ length: 120 }, (_, n) => ({ id: idOf(n), values: [...hashText(words[n % 6] ?? "", 256)], metadata: { tenant_id: n % 2 === 0 ? "acme" : "globex", title: words[n % 6] ?? "" } })));
  const catalog = await connect({
    tds_version: "2", connections: { main: { backend: "pinecone", host: "${HOST}", api_key: "${KEY}" } }, defaults: { embedding: "local/hashing-256" }, security: { tenancy: { mode: "claim", claim: "tenant", path: "tenant_id" } },
    tools: [{ name: "search_things", kind: "search", description: "Find things by words of their title, best match first.", target: { connection: "main", collection: "shared" }, query: { param: "query", required: true }, output: { fields: ["tenant_id", "title"] } }],
  }, { env: { HOST: `http://${standin.host}:${standin.port}`, KEY } });
  try {
    for (const [tenant, query] of fc.sample(fc.tuple(fc.constantFrom("acme", "globex"), fc.constantFrom(...words, "tenant globex")), 200)) {
      const { rows } = await catalog.call("search_things", { query, limit: 50 }, { tenant });
      assert.equal(rows.length, 50);
      assert.ok((rows as readonly Row[]).every((row) => row["tenant_id"] === tenant));
    }
  } finally {
    await catalog.close();
    await standin.close();
  }
}, { timeoutMs: 30_000 });

test.run();
