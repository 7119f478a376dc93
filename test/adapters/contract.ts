/**
 * The contract of an adapter: what every backend does the same way, on a real store. The oracle of filters is
 * `evaluate` over the same rows. A backend that lacks something is seen to refuse it.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { BackendError, isBackendError } from "../../runtime/abi/errors.js";
import { evaluate, EXTENDED_OPS, type Filter, type Row } from "../../runtime/abi/filter.js";
import type { Json } from "../../runtime/abi/plan.js";
import type { Adapter, FetchRequest, Page, SearchRequest, Settings, StoredRow } from "../../runtime/adapters/adapter.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { suite } from "../lib/suite.js";
import { copiedRows } from "./copied.js";
import { HOSTILE_TEXTS } from "./hostile.js";
import type { LiveStore, StoredRecord } from "./live-store.js";
import { filters, payloads } from "./random.js";
import { callAsTwoTenants } from "./tenants.js";
import { writeOutcomes } from "../live/outcomes.js";
import { blackHole, type Fault, Proxy, unusedPort } from "./proxy.js";

export const DIMS = 8;
/** Random filters that are compared with the oracle; TOOLSRV_FILTERS=2000 for more. */
const FILTERS = Number(process.env["TOOLSRV_FILTERS"] ?? 500);
const FILTERS_PER_STORE = 50;
const TENANT_CALLS = 1000;
/** A signal of its own for each read, as calls have. */
const never = (): AbortSignal => new AbortController().signal;

/** A number between -1 and 1 that looks random and is the same in every run. */
function noise(n: number): number {
  const x = Math.sin(n * 12.9898 + 4.1414) * 43758.5453;
  return (x - Math.floor(x)) * 2 - 1;
}

export function vectorOf(n: number): readonly number[] {
  const raw = Array.from({ length: DIMS }, (_, index) => noise(n * DIMS + index));
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

const searchOf = (collection: string, n: number, rest: Partial<SearchRequest>): SearchRequest => ({
  collection, vector: Float32Array.from(vectorOf(n)), text: null, mode: "dense", alpha: 0.5, filter: null, limit: 10, fields: null, ...rest,
});
const fetchOf = (collection: string, rest: Partial<FetchRequest>): FetchRequest => ({ collection, filter: null, limit: 1000, offset: 0, fields: null, ...rest });

/** Records of two tenants, interleaved, with one field of each type. */
export const RECORDS: readonly StoredRecord[] = Array.from({ length: 60 }, (_, n) => ({
  n,
  vector: vectorOf(n),
  payload: {
    tenant: n % 2 === 0 ? "acme" : "globex", size: n, price: n / 4, open: n % 3 === 0, day: `2024-01-${String((n % 28) + 1).padStart(2, "0")}`,
    ...(n % 5 === 0 ? {} : { note: `note ${n % 4}` }), tags: [`t${n % 3}`, "all"], nested: { kind: n % 2 === 0 ? "even" : "odd", deep: { level: n % 7 } },
  },
}));

/** What happens on the way, how long the caller waits, and whether an answer must come all the same. */
const FAULTS: readonly { readonly name: string; readonly does: Fault; readonly deadlineMs: number; readonly isHarmless: boolean }[] = [
  { name: "an answer that is late comes within the deadline", does: { kind: "delay", ms: 100 }, deadlineMs: 8_000, isHarmless: true },
  { name: "an answer that comes byte by byte is read", does: { kind: "slow" }, deadlineMs: 8_000, isHarmless: true },
  { name: "an answer that is reset in its midst is an error of the store", does: { kind: "reset" }, deadlineMs: 8_000, isHarmless: false },
  { name: "an answer that ends in its midst is an error of the store", does: { kind: "cut" }, deadlineMs: 8_000, isHarmless: false },
  { name: "a connection that looks alive and is not ends with the deadline", does: { kind: "half-open" }, deadlineMs: 1_500, isHarmless: false },
];

async function failure(promise: Promise<unknown>): Promise<BackendError> {
  const error = await promise.then(() => null, (reason: unknown) => reason);
  assert.ok(isBackendError(error), `expected a BackendError, got ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return error as BackendError;
}

/** Registers every case of the contract; `start` is a store, or the reason why there is none. */
export function contract(backend: LiveStore["backend"], start: (() => Promise<LiveStore>) | string): void {
  const cases = suite(`adapters/${backend} contract`);
  const outcomes = new Map<string, string>();
  const test = Object.assign((name: string, body: () => unknown, options?: { readonly timeoutMs?: number }): void => cases(name, async () => {
    outcomes.set(name, "FAILED");
    const outcome = await body();
    outcomes.set(name, typeof outcome === "string" ? outcome : "ok");
  }, options), cases);
  /** A case that a store within this process has nothing to do with. */
  const overNetwork = (name: string, body: (network: NonNullable<LiveStore["network"]>) => Promise<unknown>, options?: { readonly timeoutMs?: number }): void => test(name, () => (store.network === undefined ? "within this process" : body(store.network)), options);
  const { capabilities: can, load, provenOn, variant } = DESCRIPTORS[backend];
  let store: LiveStore;
  let adapter: Adapter;
  let rows: readonly Row[] = [];

  const search = (collection: string, n: number, rest: Partial<SearchRequest> = {}): SearchRequest => searchOf(store.name(collection), n, rest);
  const fetch = (collection: string, rest: Partial<FetchRequest> = {}): FetchRequest => fetchOf(store.name(collection), rest);
  const open = async (settings: Settings): Promise<Adapter> => {
    assert.ok(load !== undefined, `${backend} has no adapter`);
    return (await load()).adapter.open(settings, { base: process.cwd() });
  };
  /** Says which filter a failure is about. */
  const about = (shown: string) => (error: unknown): never => {
    throw new Error(`${shown}: ${String(error instanceof BackendError ? (error.cause ?? error) : error)}`, { cause: error });
  };
  const kept = (records: readonly StoredRecord[]): readonly Row[] => records.map(({ n, payload }) => ({ ...store.keep(payload), _id: store.id(n) }));
  const ids = (found: readonly Row[]): readonly unknown[] => found.map((row) => row["_id"]);
  /** The rows themselves, without keys that a store adds for its own columns. */
  const plain = (found: readonly Row[], like: readonly Row[]): readonly Row[] => found.map((row) => {
    const want = like.find((one) => one["_id"] === row["_id"]) ?? {};
    return Object.fromEntries(Object.keys(want).sort().map((key) => [key, row[key]]));
  });
  const sorted = (some: readonly Row[]): readonly Row[] => some.map((row) => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));

  if (typeof start === "string") {
    test.skip("every case", start);
    test.run();
    return;
  }

  test.before(async () => {
    store = await start();
    process.stdout.write(`  ${backend}: ${store.version}\n`);
    await store.fill("things", RECORDS.map((record) => ({ ...record, payload: store.keep(record.payload) ?? {} })));
    rows = kept(RECORDS);
    adapter = await open(store.settings);
  });
  test.after(async () => {
    await adapter?.close();
    await store?.close();
    await writeOutcomes(store?.variant ?? backend, store?.version ?? "not started", outcomes);
  });

  test("health answers", () => adapter.health(never()));

  test("the store is the one that the documentation says the contract ran on, or one of the user's own", () => {
    if (process.env[`${backend.toUpperCase()}_URL`] !== undefined || process.env["TOOLSRV_LIVE_OUTCOMES"] === undefined) return "a store of the user's own";
    assert.equal(store.version, store.variant === undefined ? provenOn : variant?.provenOn);
    return undefined;
  });

  test("collections are listed, sorted", async () => {
    const names = await adapter.collections(never());
    assert.ok(names.includes(store.name("things")), String(names));
    assert.deepEqual(names, [...names].sort());
  });

  test("describe knows dimensions, count and fields", async () => {
    const info = await adapter.describe(store.name("things"), never());
    assert.ok(info !== null);
    assert.deepEqual([info.name, info.dims, info.count], [store.name("things"), DIMS, RECORDS.length]);
    const types = Object.fromEntries(info.fields.map(({ path, dtype }) => [path, dtype]));
    assert.deepEqual([types["tenant"], types["size"], types["price"], types["open"]], ["keyword", "integer", "float", "boolean"]);
    if (can.nestedPaths) assert.equal(types["nested.kind"], "keyword");
    if (can.arrays) assert.equal(types["tags"], "keyword[]");
  });

  test("describe says null for a collection that is not there", async () => {
    assert.equal(await adapter.describe(store.name("nowhere"), never()), null);
  });

  test("a search ranks by similarity, higher is better, and gives whole rows", async () => {
    const { rows: found } = await adapter.search(search("things", 7), never());
    const want = RECORDS.map(({ n, vector }) => ({ id: store.id(n), cosine: cosine(vectorOf(7), vector) })).sort((a, b) => b.cosine - a.cosine).slice(0, 10);
    assert.deepEqual(ids(found), want.map(({ id }) => id));
    for (const [index, row] of found.entries()) assert.ok(Math.abs(Number(row["_score"]) - store.score(want[index]?.cosine ?? 0)) < 1e-4, `${String(row["_score"])} for ${String(want[index]?.cosine)}`);
    assert.deepEqual(sorted(plain(found, rows)), sorted(found.map((row) => rows.find((one) => one["_id"] === row["_id"]) ?? {})));
  });

  test("a search under a guard ranks the rows that pass, and only those", async () => {
    const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "size", op: "lt", value: 40 }] };
    const { rows: found } = await adapter.search(search("things", 3, { filter, limit: 15 }), never());
    const want = RECORDS.filter(({ n }) => n % 2 === 0 && n < 40).map(({ n, vector }) => ({ id: store.id(n), cosine: cosine(vectorOf(3), vector) })).sort((a, b) => b.cosine - a.cosine).slice(0, 15);
    assert.deepEqual(ids(found), want.map(({ id }) => id));
  });

  test("a hint of fields may leave others out, never one that is asked for", async () => {
    const { rows: found } = await adapter.search(search("things", 3, { fields: ["tenant", "size"], limit: 3 }), never());
    for (const row of found) {
      const want = rows.find((one) => one["_id"] === row["_id"]);
      assert.deepEqual([row["tenant"], row["size"]], [want?.["tenant"], want?.["size"]]);
      assert.equal(typeof row["_score"], "number");
    }
  });

  test("a guard that keeps one row in five hundred loses none of them, on an approximate index", async () => {
    const many: readonly StoredRecord[] = Array.from({ length: 6000 }, (_, n) => ({ n, vector: vectorOf(n), payload: { tenant: n % 500 === 0 ? "rare" : "common", size: n } }));
    await store.fill("many", many, { approximate: true });
    const filter: Filter = { path: "tenant", op: "eq", value: "rare" };
    for (const n of [1, 77, 4999]) {
      const { rows: found } = await adapter.search(search("many", n, { filter, limit: 12 }), never());
      assert.equal(found.length, 12);
      assert.ok(found.every((row) => row["tenant"] === "rare"));
      const { rows: fewer } = await adapter.search(search("many", n, { filter, limit: 5 }), never());
      assert.equal(fewer.length, 5);
    }
  }, { timeoutMs: 60_000 });

  test("a fetch is in id order, and pages neither repeat nor lose a row", async () => {
    const { rows: all } = await adapter.fetch(fetch("things"), never());
    assert.deepEqual(ids(all), RECORDS.map(({ n }) => store.id(n)));
    const pages: unknown[] = [];
    for (let offset = 0; offset < 70; offset += 7) pages.push(...ids((await adapter.fetch(fetch("things", { limit: 7, offset }), never())).rows));
    assert.deepEqual(pages, ids(all));
    const filter: Filter = { path: "open", op: "eq", value: true };
    const passing = rows.filter((row) => evaluate(filter, row));
    assert.deepEqual(ids((await adapter.fetch(fetch("things", { filter, limit: 5, offset: 5 }), never())).rows), ids(passing.slice(5, 10)));
  });

  test("pages for a copy have each row that passes once, with its vector", async () => {
    for (const filter of [null, { path: "tenant", op: "eq", value: "acme" }] as readonly (Filter | null)[]) {
      const copied: StoredRow[] = [];
      for (let after: Json = null, pages = 0; pages === 0 || after !== null; pages++) {
        const page: Page = (await adapter.page?.({ collection: store.name("things"), filter, limit: 7, after }, never())) ?? assert.fail("the adapter has no pages");
        copied.push(...page.rows);
        assert.ok(page.rows.length <= 7 && pages < 100);
        after = page.next;
      }
      const passing = RECORDS.filter((_, index) => evaluate(filter, rows[index] ?? {}));
      assert.equal(copied.length, passing.length);
      const byId = new Map(copied.map((one) => [one.row["_id"], one]));
      const listed = new Map((await adapter.fetch(fetch("things"), never())).rows.map((row) => [row["_id"], row]));
      for (const { n, vector } of passing) {
        const found = byId.get(store.id(n));
        assert.deepEqual(found?.row, listed.get(store.id(n)), `row ${n}`);
        assert.ok(found?.vector?.length === DIMS && cosine([...found.vector], vector) > 0.9999, `vector of row ${n}`);
      }
    }
  });

  test("toolsrv copy brings the rows that pass, as they are, into an embedded file", async () => {
    const listed = new Map((await adapter.fetch(fetch("things"), never())).rows.map((row) => [row["_id"], row]));
    for (const [words, passes] of [[[], () => true], [["--where", "tenant=acme"], (row: Row) => row["tenant"] === "acme"]] as const) {
      const copied = new Map((await copiedRows(store, "things", words)).map(({ row, vector }) => [row["_id"], { row, vector }]));
      const passing = RECORDS.filter((_, index) => passes(rows[index] ?? {}));
      assert.equal(copied.size, passing.length);
      for (const { n, vector } of passing) {
        const found = copied.get(String(store.id(n)));
        assert.deepEqual({ ...found?.row, _id: store.id(n) }, listed.get(store.id(n)), `row ${n}`);
        assert.ok(found?.vector?.length === DIMS && cosine([...found.vector], vector) > 0.9999, `vector of row ${n}`);
      }
    }
  }, { timeoutMs: 60_000 });

  test("a lookup by ids keeps the guard", async () => {
    const wanted = [1, 2, 3, 4].map((n) => String(store.id(n)));
    const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "id", op: "in", value: wanted }] };
    assert.deepEqual(ids((await adapter.fetch(fetch("things", { filter }), never())).rows), [store.id(2), store.id(4)]);
    const one: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "id", op: "eq", value: String(store.id(3)) }] };
    assert.deepEqual((await adapter.fetch(fetch("things", { filter: one }), never())).rows, []);
    assert.equal(await adapter.count(store.name("things"), one, never()), 0);
    const strange: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "id", op: "in", value: ["no such id", "", "-1", "1e9", "'; --", "0x2"] }] };
    assert.deepEqual((await adapter.fetch(fetch("things", { filter: strange }), never())).rows, []);
  });

  test("count counts what fetch returns", async () => {
    assert.equal(await adapter.count(store.name("things"), null, never()), RECORDS.length);
    for (const filter of [{ path: "tenant", op: "eq", value: "acme" }, { path: "size", op: "gte", value: 50 }, { path: "note", op: "nin", value: ["note 1", "note 2"] }] as const) {
      assert.equal(await adapter.count(store.name("things"), filter, never()), rows.filter((row) => evaluate(filter, row)).length, JSON.stringify(filter));
    }
  });

  test("a sample is the first rows in id order", async () => {
    assert.deepEqual(ids(await adapter.sample(store.name("things"), 5, never())), [0, 1, 2, 3, 4].map((n) => store.id(n)));
  });

  test("nested paths and lists are compared, or refused as the table of capabilities says", async () => {
    const samples: readonly (readonly [boolean, Filter])[] = [
      [can.nestedPaths, { path: "nested.kind", op: "eq", value: "even" }],
      [can.nestedPaths, { path: "nested.deep.level", op: "gte", value: 5 }],
      ...EXTENDED_OPS.map((op): readonly [boolean, Filter] => [
        can.extendedOps.includes(op),
        op === "contains_any" ? { path: "tags", op, value: ["t1", "t2"] } : op === "contains_all" ? { path: "tags", op, value: ["t1", "all"] } : op === "like" ? { path: "note", op, value: "note %1" } : op === "text_match" ? { path: "note", op, value: "Note" } : { path: "note", op, value: true },
      ]),
    ];
    for (const [able, filter] of samples) {
      if (able) assert.deepEqual(ids((await adapter.fetch(fetch("things", { filter }), never())).rows), ids(rows.filter((row) => evaluate(filter, row))), JSON.stringify(filter));
      else assert.equal((await failure(adapter.fetch(fetch("things", { filter }), never()))).kind, "unsupported", JSON.stringify(filter));
    }
  });

  test(`${FILTERS} random filters select the rows of evaluate`, async () => {
    let compared = 0;
    let seed = Number(process.env["TOOLSRV_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
    const first = seed;
    while (compared < FILTERS) {
      const sample = fc.sample(payloads, { numRuns: 60, seed }).map((payload) => store.keep(JSON.parse(JSON.stringify(payload)) as Row)).filter((payload) => payload !== null).slice(0, 25);
      const records = sample.map((payload, n): StoredRecord => ({ n, payload, vector: vectorOf(n) }));
      await store.fill("random", records);
      const stored = kept(records);
      for (const filter of fc.sample(filters, { numRuns: FILTERS_PER_STORE * 4, seed: seed + 1 })) {
        const meaning = store.means(filter);
        if (isRefused(filter) || meaning === null) continue;
        const want = stored.filter((row) => evaluate(meaning, row));
        const shown = `seed ${seed}: ${JSON.stringify(filter)}`;
        const { rows: found } = await adapter.fetch(fetch("random", { filter }), never()).catch(about(shown));
        assert.deepEqual(ids(found), ids(want), shown);
        assert.equal(await adapter.count(store.name("random"), filter, never()), want.length, shown);
        if (compared % 5 === 0) {
          const { rows: near } = await adapter.search(search("random", 2, { filter, limit: 30 }), never());
          assert.deepEqual(new Set(ids(near)), new Set(ids(want)), `search, ${shown}`);
        }
        if (++compared % FILTERS_PER_STORE === 0) break;
      }
      seed += 2;
    }
    process.stdout.write(`  ${backend}: ${compared} random filters compared, from seed ${first}\n`);
  }, { timeoutMs: 600_000 });

  /** The record with the words comes up although its vector is the farthest, and never that of the other tenant. */
  const hybrid = async (): Promise<void> => {
    const records = RECORDS.map((record): StoredRecord => ({ ...record, payload: { tenant: record.payload["tenant"], title: record.n === 40 || record.n === 41 ? "wombat burrow" : `thing number ${record.n}` } }));
    await store.fill("hybrid", records, { sparse: (payload) => String(payload["title"]) });
    const filter: Filter = { path: "tenant", op: "eq", value: "acme" };
    const vector = Float32Array.from(vectorOf(40), (value) => -value);
    const request = search("hybrid", 0, { mode: "hybrid", text: "wombat", vector, filter, limit: 3 });
    const { rows: found } = await adapter.search(request, never());
    assert.ok(ids(found).includes(store.id(40)), String(ids(found)));
    assert.ok(found.every((row) => row["tenant"] === "acme" && typeof row["_score"] === "number"));
    assert.deepEqual(found.map((row) => row["_score"]), found.map((row) => Number(row["_score"])).sort((a, b) => b - a));
    assert.ok(!ids((await adapter.search({ ...request, mode: "dense" }, never())).rows).includes(store.id(40)), "by vector alone it is not found");
    assert.match((await failure(adapter.search(search("things", 1, { mode: "hybrid", text: "red" }), never()))).message, /VB2013/);
  };

  const isRefused = (filter: Filter): boolean => {
    try {
      DESCRIPTORS[backend].compileFilter(filter);
      return false;
    } catch {
      return true;
    }
  };

  test("hostile texts are values and nothing else: in rows, in operands, in ids", async () => {
    const texts = HOSTILE_TEXTS.filter((text) => store.keep({ text }) !== null);
    const records = texts.map((text, n): StoredRecord => ({ n, payload: { tenant: n % 2 === 0 ? "acme" : "globex", text }, vector: vectorOf(n) }));
    await store.fill("hostile", records);
    const stored = kept(records);
    for (const value of HOSTILE_TEXTS) {
      for (const condition of [{ path: "text", op: "eq", value }, { path: "text", op: "ne", value }, { path: "text", op: "in", value: [value, "x"] }, { path: "text", op: "nin", value: [value] }, { path: "id", op: "eq", value }] as const) {
        const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, condition] };
        if (isRefused(filter)) continue;
        const want = ids(stored.filter((row) => evaluate(filter, row)));
        const shown = `${condition.path} ${condition.op} ${JSON.stringify(value).slice(0, 80)}`;
        assert.deepEqual(ids((await adapter.fetch(fetch("hostile", { filter }), never()).catch(about(shown))).rows), want, shown);
        assert.equal(await adapter.count(store.name("hostile"), filter, never()), want.length);
      }
    }
    const { rows: found } = await adapter.fetch(fetch("hostile"), never());
    assert.deepEqual(found.map((row) => row["text"]), stored.map((row) => row["text"]), "texts come back as they were stored");
  }, { timeoutMs: 60_000 });

  test("a path with quotes, backslashes or SQL in it selects as evaluate does, or is refused", async () => {
    for (const path of ['a"b', "a'b", "a\\b", "a b", "tenant\" = \"tenant", "x') OR 1=1 --", "a[]", "$ne", "tenant`", "a/*", "{a}", "a,b"]) {
      for (const condition of [{ path, op: "eq", value: "acme" }, { path, op: "ne", value: "acme" }, { path, op: "in", value: ["acme"] }] as const) {
        const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, condition] };
        const found = await adapter.fetch(fetch("things", { filter }), never()).then((set) => ids(set.rows), (error: unknown) => (isBackendError(error) ? "refused" : Promise.reject(error as Error)));
        if (found !== "refused") assert.deepEqual(found, ids(rows.filter((row) => evaluate(filter, row))), JSON.stringify(condition));
      }
    }
  });

  test("a vector of the wrong length is refused, and a retry is not advised", async () => {
    const error = await failure(adapter.search(search("things", 1, { vector: new Float32Array(DIMS + 1).fill(0.5) }), never()));
    assert.ok(error.kind === "unsupported" || error.kind === "bad_request", error.kind);
    assert.equal(error.retryable, false);
  });

  test("a vector of zeros or with a NaN ends in rows or in an error, never in a wrong guard", async () => {
    const filter: Filter = { path: "tenant", op: "eq", value: "acme" };
    for (const vector of [new Float32Array(DIMS), new Float32Array(DIMS).fill(Number.NaN)]) {
      const found: readonly Row[] = await adapter.search(search("things", 1, { vector, filter }), never()).then((set) => set.rows, (error: unknown) => (isBackendError(error) ? [] : Promise.reject(error as Error)));
      for (const row of found) {
        assert.equal(row["tenant"], "acme");
        assert.ok(Number.isFinite(row["_score"]));
      }
    }
  });

  test("a collection that is not there is not_found, and a retry is not advised", async () => {
    for (const read of [() => adapter.search(search("nowhere", 1), never()), () => adapter.fetch(fetch("nowhere"), never()), () => adapter.count(store.name("nowhere"), null, never())]) {
      const error = await failure(read());
      assert.deepEqual([error.kind, error.retryable, error.backend], ["not_found", false, backend]);
    }
  });

  test("a route that the adapter does not carry out is refused on every request", async () => {
    for (const key of ["namespace", "tenant"] as const) {
      if (can.routes.includes(key)) continue;
      const route = { [key]: "acme" };
      for (const read of [() => adapter.search(search("things", 1, { route }), never()), () => adapter.fetch(fetch("things", { route }), never()), () => adapter.count(store.name("things"), null, never(), route)]) assert.equal((await failure(read())).kind, "unsupported");
    }
  });

  test("hybrid search ranks by words as well, under the guard, or is refused as the table of capabilities says", async () => {
    if (can.hybrid) return hybrid();
    assert.equal((await failure(adapter.search(search("things", 1, { mode: "hybrid", text: "red" }), never()))).kind, "unsupported");
    return undefined;
  });

  test("a signal that has aborted ends every read with its reason, and the next read works", async () => {
    const reason = new Error("the client has gone");
    const signal = AbortSignal.abort(reason);
    for (const read of [() => adapter.health(signal), () => adapter.collections(signal), () => adapter.describe(store.name("things"), signal), () => adapter.search(search("things", 1), signal), () => adapter.fetch(fetch("things"), signal), () => adapter.count(store.name("things"), null, signal)]) {
      assert.equal(await read().then(() => "an answer", (error: unknown) => error), reason);
    }
    assert.equal(await adapter.count(store.name("things"), null, never()), RECORDS.length);
  });

  overNetwork("a signal that aborts while the store is silent ends the read at once, and later reads work", async (network) => {
    const proxy = await Proxy.to(network.host, network.port, 0, network.grpcPort);
    const through = await open(network.at(proxy.host, proxy.port));
    try {
      assert.equal(await through.count(store.name("things"), null, never()), RECORDS.length);
      proxy.silent = true;
      const controller = new AbortController();
      const reason = new Error("cancelled");
      const reading = through.fetch(fetch("things"), controller.signal).then(() => "an answer", (error: unknown) => error);
      await proxy.asked();
      controller.abort(reason);
      assert.equal(await reading, reason);
      proxy.silent = false;
      assert.equal(await through.count(store.name("things"), null, never()), RECORDS.length);
    } finally {
      await through.close();
      await proxy.close();
    }
  }, { timeoutMs: 20_000 });

  overNetwork("a connection that breaks before the answer is opened again once, without the caller", async (network) => {
    const proxy = await Proxy.to(network.host, network.port, 0, network.grpcPort);
    const through = await open(network.at(proxy.host, proxy.port));
    try {
      assert.equal(await through.count(store.name("things"), null, never()), RECORDS.length);
      proxy.cutNext = 1;
      assert.equal(await through.count(store.name("things"), null, never()), RECORDS.length);
      assert.equal(proxy.cut, 1);
    } finally {
      await through.close();
      await proxy.close();
    }
  }, { timeoutMs: 20_000 });

  overNetwork("a store that answers garbage is an error of the store", async (network) => {
    const proxy = await Proxy.to(network.host, network.port, 0, network.grpcPort);
    const through = await open(network.at(proxy.host, proxy.port));
    try {
      proxy.garbage = true;
      const error = await failure(through.count(store.name("things"), null, AbortSignal.timeout(8_000)));
      assert.ok(["unreachable", "internal", "bad_request", "timeout"].includes(error.kind), error.kind);
    } finally {
      await through.close();
      await proxy.close();
    }
  }, { timeoutMs: 20_000 });

  overNetwork("a store that is down is unreachable, which may be tried again; its address is in the cause alone", async (network) => {
    const port = await unusedPort();
    const down = await open(network.at("127.0.0.1", port));
    const error = await failure(down.health(never()));
    assert.deepEqual([error.kind, error.retryable], ["unreachable", true]);
    assert.doesNotMatch(error.message, new RegExp(`127|${port}|secret`));
    await down.close();
  });

  overNetwork("a store that is down when it is opened comes back without another open", async (network) => {
    const port = await unusedPort();
    const late = await open(network.at("127.0.0.1", port));
    assert.equal((await failure(late.count(store.name("things"), null, never()))).kind, "unreachable");
    const proxy = await Proxy.to(network.host, network.port, port, network.grpcPort);
    assert.equal(await late.count(store.name("things"), null, never()), RECORDS.length);
    await late.close();
    await proxy.close();
  });

  overNetwork("a host that accepts and never answers ends with the signal", async (network) => {
    const hole = await blackHole();
    const silent = await open(network.at(hole.host, hole.port));
    const controller = new AbortController();
    const reason = new Error("too late");
    const reading = silent.health(controller.signal).then(() => "an answer", (error: unknown) => error);
    await hole.asked();
    controller.abort(reason);
    assert.equal(await reading, reason);
    await hole.close();
    await silent.close();
  }, { timeoutMs: 20_000 });

  for (const fault of FAULTS) overNetwork(`${fault.name}, and the store is read again without another open`, async (network) => {
    const proxy = await Proxy.to(network.host, network.port, 0, network.grpcPort);
    const through = await open(network.at(proxy.host, proxy.port));
    const count = (deadlineMs: number): Promise<number> => through.count(store.name("things"), null, AbortSignal.timeout(deadlineMs));
    try {
      assert.equal(await count(8_000), RECORDS.length);
      proxy.fault = fault.does;
      const outcome: unknown = await count(fault.deadlineMs).catch((error: unknown) => error);
      if (fault.isHarmless) assert.equal(outcome, RECORDS.length, String(outcome));
      else if (outcome !== RECORDS.length) assert.ok((isBackendError(outcome) && ["unreachable", "internal", "timeout"].includes((outcome as BackendError).kind)) || (outcome instanceof Error && outcome.name === "TimeoutError"), String(outcome));
      proxy.fault = null;
      assert.equal(await count(8_000), RECORDS.length);
    } finally {
      await through.close();
      await proxy.close();
    }
  }, { timeoutMs: 30_000 });

  test("wrong credentials are an auth error without the credentials in it", async () => {
    if (store.wrongCredentials === undefined) return "no credentials";
    const refused = await open(store.wrongCredentials);
    const error = await failure(refused.health(never()));
    assert.deepEqual([error.kind, error.retryable], ["auth", false]);
    assert.doesNotMatch(error.message, /wrong-secret/);
    await refused.close();
    return undefined;
  });

  test("a hundred searches at once all answer, each its own", async () => {
    const found = await Promise.all(Array.from({ length: 100 }, (_, index) => adapter.search(search("things", index % 60, { limit: 1 }), never())));
    assert.deepEqual(found.map(({ rows: [row] }) => row?.["_id"]), Array.from({ length: 100 }, (_, index) => store.id(index % 60)));
  }, { timeoutMs: 30_000 });

  test(`${TENANT_CALLS} random calls of two tenants through compiled tools: no row crosses, none is lost`, () => callAsTwoTenants(store, TENANT_CALLS), { timeoutMs: 120_000 });

  test("the adapter has no method that writes", () => {
    const methods = new Set<string>();
    for (let part: object | null = adapter; part !== null && part !== Object.prototype; part = Object.getPrototypeOf(part) as object | null) for (const name of Object.getOwnPropertyNames(part)) methods.add(name);
    for (const name of ["insert", "upsert", "update", "delete", "drop", "dropCollection", "write", "execute"]) assert.ok(!methods.has(name), name);
  });

  test.run();
}
