/** The contract of an adapter: describing, searching, listing, looking up and counting. */
import assert from "node:assert/strict";
import { evaluate, type Filter } from "../../runtime/abi/filter.js";
import { failure, ids, never, plain, sorted, type ContractSubject, type RegisterCase } from "./contract-case.js";
import { cosine, DIMS, RECORDS, vectorOf } from "./contract-data.js";
import type { StoredRecord } from "./live-store.js";

export function readCases(test: RegisterCase, c: ContractSubject): void {
  const { backend, can, fetch, search } = c;

  test("collections are listed, sorted", async () => {
    const names = await c.adapter.collections(never());
    assert.ok(names.includes(c.store.name("things")), String(names));
    assert.deepEqual(names, [...names].sort());
  });

  test("describe knows dimensions, count and fields", async () => {
    const info = await c.adapter.describe(c.store.name("things"), never());
    assert.ok(info !== null);
    assert.deepEqual([info.name, info.dims, info.count], [c.store.name("things"), DIMS, RECORDS.length]);
    const types = Object.fromEntries(info.fields.map(({ path, dtype }) => [path, dtype]));
    assert.deepEqual([types["tenant"], types["size"], types["price"], types["open"]], ["keyword", "integer", "float", "boolean"]);
    if (can.nestedPaths) assert.equal(types["nested.kind"], "keyword");
    if (can.arrays) assert.equal(types["tags"], "keyword[]");
  });

  test("describe says null for a collection that is not there", async () => {
    assert.equal(await c.adapter.describe(c.store.name("nowhere"), never()), null);
  });

  test("a search ranks by similarity, higher is better, and gives whole rows", async () => {
    const { rows: found } = await c.adapter.search(search("things", 7), never());
    const want = RECORDS.map(({ n, vector }) => ({ id: c.store.id(n), cosine: cosine(vectorOf(7), vector) })).sort((a, b) => b.cosine - a.cosine).slice(0, 10);
    assert.deepEqual(ids(found), want.map(({ id }) => id));
    for (const [index, row] of found.entries()) assert.ok(Math.abs(Number(row["_score"]) - c.store.score(want[index]?.cosine ?? 0)) < 1e-4, `${String(row["_score"])} for ${String(want[index]?.cosine)}`);
    assert.deepEqual(sorted(plain(found, c.rows)), sorted(found.map((row) => c.rows.find((one) => one["_id"] === row["_id"]) ?? {})));
  });

  test("a search under a guard ranks the rows that pass, and only those", async () => {
    const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "size", op: "lt", value: 40 }] };
    const { rows: found } = await c.adapter.search(search("things", 3, { filter, limit: 15 }), never());
    const want = RECORDS.filter(({ n }) => n % 2 === 0 && n < 40).map(({ n, vector }) => ({ id: c.store.id(n), cosine: cosine(vectorOf(3), vector) })).sort((a, b) => b.cosine - a.cosine).slice(0, 15);
    assert.deepEqual(ids(found), want.map(({ id }) => id));
  });

  test("a hint of fields may leave others out, never one that is asked for", async () => {
    const { rows: found } = await c.adapter.search(search("things", 3, { fields: ["tenant", "size"], limit: 3 }), never());
    for (const row of found) {
      const want = c.rows.find((one) => one["_id"] === row["_id"]);
      assert.deepEqual([row["tenant"], row["size"]], [want?.["tenant"], want?.["size"]]);
      assert.equal(typeof row["_score"], "number");
    }
  });

  test("a guard that keeps one row in five hundred loses none of them, on an approximate index", async () => {
    const many: readonly StoredRecord[] = Array.from({ length: 6000 }, (_, n) => ({ n, vector: vectorOf(n), payload: { tenant: n % 500 === 0 ? "rare" : "common", size: n } }));
    await c.store.fill("many", many, { approximate: true });
    const filter: Filter = { path: "tenant", op: "eq", value: "rare" };
    for (const n of [1, 77, 4999]) {
      const { rows: found } = await c.adapter.search(search("many", n, { filter, limit: 12 }), never());
      assert.equal(found.length, 12);
      assert.ok(found.every((row) => row["tenant"] === "rare"));
      const { rows: fewer } = await c.adapter.search(search("many", n, { filter, limit: 5 }), never());
      assert.equal(fewer.length, 5);
    }
  }, { timeoutMs: 60_000 });

  test("a fetch is in id order, and pages neither repeat nor lose a row", async () => {
    const { rows: all } = await c.adapter.fetch(fetch("things"), never());
    assert.deepEqual(ids(all), RECORDS.map(({ n }) => c.store.id(n)));
    const pages: unknown[] = [];
    for (let offset = 0; offset < 70; offset += 7) pages.push(...ids((await c.adapter.fetch(fetch("things", { limit: 7, offset }), never())).rows));
    assert.deepEqual(pages, ids(all));
    const filter: Filter = { path: "open", op: "eq", value: true };
    const passing = c.rows.filter((row) => evaluate(filter, row));
    assert.deepEqual(ids((await c.adapter.fetch(fetch("things", { filter, limit: 5, offset: 5 }), never())).rows), ids(passing.slice(5, 10)));
  });

  test("a list under one range is in id order too, whatever order its values have", async () => {
    const records = Array.from({ length: 40 }, (_, n): StoredRecord => ({ n, payload: { tenant: "acme", size: 40 - n }, vector: vectorOf(n) }));
    await c.store.fill("backwards", records);
    const expected = records.map(({ n }) => c.store.id(n));
    for (const range of [{ op: "gte", value: 1 }, { op: "lt", value: 100 }] as const) {
      const filter: Filter = { path: "size", ...range };
      for (const offset of [0, 5]) assert.deepEqual(ids((await c.adapter.fetch(fetch("backwards", { filter, limit: 5, offset }), never())).rows), expected.slice(offset, offset + 5), `${range.op} from ${offset}`);
    }
  });

  test("a lookup by ids keeps the guard", async () => {
    const wanted = [1, 2, 3, 4].map((n) => String(c.store.id(n)));
    const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "id", op: "in", value: wanted }] };
    assert.deepEqual(ids((await c.adapter.fetch(fetch("things", { filter }), never())).rows), [c.store.id(2), c.store.id(4)]);
    const one: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "id", op: "eq", value: String(c.store.id(3)) }] };
    assert.deepEqual((await c.adapter.fetch(fetch("things", { filter: one }), never())).rows, []);
    assert.equal(await c.adapter.count(c.store.name("things"), one, never()), 0);
    const strange: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, { path: "id", op: "in", value: ["no such id", "", "-1", "1e9", "'; --", "0x2"] }] };
    assert.deepEqual((await c.adapter.fetch(fetch("things", { filter: strange }), never())).rows, []);
  });

  test("count counts what fetch returns", async () => {
    assert.equal(await c.adapter.count(c.store.name("things"), null, never()), RECORDS.length);
    for (const filter of [{ path: "tenant", op: "eq", value: "acme" }, { path: "size", op: "gte", value: 50 }, { path: "note", op: "nin", value: ["note 1", "note 2"] }] as const) {
      assert.equal(await c.adapter.count(c.store.name("things"), filter, never()), c.rows.filter((row) => evaluate(filter, row)).length, JSON.stringify(filter));
    }
  });

  test("a sample is the first rows in id order", async () => {
    assert.deepEqual(ids(await c.adapter.sample(c.store.name("things"), 5, never())), [0, 1, 2, 3, 4].map((n) => c.store.id(n)));
  });

  test("a collection that is not there is not_found, and a retry is not advised", async () => {
    for (const read of [() => c.adapter.search(search("nowhere", 1), never()), () => c.adapter.fetch(fetch("nowhere"), never()), () => c.adapter.count(c.store.name("nowhere"), null, never())]) {
      const error = await failure(read());
      assert.deepEqual([error.kind, error.retryable, error.backend], ["not_found", false, backend]);
    }
  });

  test("a route that the adapter does not carry out is refused on every request", async () => {
    for (const key of ["namespace", "tenant"] as const) {
      if (can.routes.includes(key)) continue;
      const route = { [key]: "acme" };
      for (const read of [() => c.adapter.search(search("things", 1, { route }), never()), () => c.adapter.fetch(fetch("things", { route }), never()), () => c.adapter.count(c.store.name("things"), null, never(), route)]) assert.equal((await failure(read())).kind, "unsupported");
    }
  });

  /** The record with the words comes up although its vector is the farthest, and never that of the other tenant. */
  const hybrid = async (): Promise<void> => {
    const records = RECORDS.map((record): StoredRecord => ({ ...record, payload: { tenant: record.payload["tenant"], title: record.n === 40 || record.n === 41 ? "wombat burrow" : `thing number ${record.n}` } }));
    await c.store.fill("hybrid", records, { sparse: (payload) => String(payload["title"]) });
    const filter: Filter = { path: "tenant", op: "eq", value: "acme" };
    const vector = Float32Array.from(vectorOf(40), (value) => -value);
    const request = search("hybrid", 0, { mode: "hybrid", text: "wombat", vector, filter, limit: 3 });
    const { rows: found } = await c.adapter.search(request, never());
    assert.ok(ids(found).includes(c.store.id(40)), String(ids(found)));
    assert.ok(found.every((row) => row["tenant"] === "acme" && typeof row["_score"] === "number"));
    assert.deepEqual(found.map((row) => row["_score"]), found.map((row) => Number(row["_score"])).sort((a, b) => b - a));
    assert.ok(!ids((await c.adapter.search({ ...request, mode: "dense" }, never())).rows).includes(c.store.id(40)), "by vector alone it is not found");
    assert.match((await failure(c.adapter.search(search("things", 1, { mode: "hybrid", text: "red" }), never()))).message, /VB2013/);
  };

  test("hybrid search ranks by words as well, under the guard, or is refused as the table of capabilities says", async () => {
    if (can.hybrid) return hybrid();
    assert.equal((await failure(c.adapter.search(search("things", 1, { mode: "hybrid", text: "red" }), never()))).kind, "unsupported");
    return undefined;
  });

  test("a hundred searches at once all answer, each its own", async () => {
    const found = await Promise.all(Array.from({ length: 100 }, (_, index) => c.adapter.search(search("things", index % 60, { limit: 1 }), never())));
    assert.deepEqual(found.map(({ rows: [row] }) => row?.["_id"]), Array.from({ length: 100 }, (_, index) => c.store.id(index % 60)));
  }, { timeoutMs: 30_000 });
}
