/** The contract of an adapter: hostile texts, keys, numbers and vectors are values and nothing else. */
import assert from "node:assert/strict";
import { isBackendError } from "../../runtime/abi/errors.js";
import { evaluate, type Filter, type Row } from "../../runtime/abi/filter.js";
import { about, failure, ids, never, type ContractSubject, type RegisterCase } from "./contract-case.js";
import { DIMS, vectorOf } from "./contract-data.js";
import { HOSTILE_KEYS, HOSTILE_TEXTS, LONG_TEXT } from "./hostile.js";
import type { StoredRecord } from "./live-store.js";

export function hostileCases(test: RegisterCase, c: ContractSubject): void {
  const { fetch, isRefused, kept, search } = c;

  test("hostile texts are values and nothing else: in rows, in operands, in ids", async () => {
    const texts = HOSTILE_TEXTS.filter((text) => c.store.keep({ text }) !== null);
    const records = texts.map((text, n): StoredRecord => ({ n, payload: { tenant: n % 2 === 0 ? "acme" : "globex", text }, vector: vectorOf(n) }));
    await c.store.fill("hostile", records);
    const stored = kept(records);
    for (const value of [...HOSTILE_TEXTS, LONG_TEXT]) {
      for (const condition of [{ path: "text", op: "eq", value }, { path: "text", op: "ne", value }, { path: "text", op: "in", value: [value, "x"] }, { path: "text", op: "nin", value: [value] }, { path: "id", op: "eq", value }] as const) {
        const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, condition] };
        if (isRefused(filter)) continue;
        const want = ids(stored.filter((row) => evaluate(filter, row)));
        const shown = `${condition.path} ${condition.op} ${JSON.stringify(value).slice(0, 80)}`;
        assert.deepEqual(ids((await c.adapter.fetch(fetch("hostile", { filter }), never()).catch(about(shown))).rows), want, shown);
        assert.equal(await c.adapter.count(c.store.name("hostile"), filter, never()), want.length);
      }
    }
    const { rows: found } = await c.adapter.fetch(fetch("hostile"), never());
    assert.deepEqual(found.map((row) => row["text"]), stored.map((row) => row["text"]), "texts come back as they were stored");
  }, { timeoutMs: 240_000 });

  test("a path with quotes, backslashes or SQL in it selects as evaluate does, or is refused", async () => {
    for (const path of ['a"b', "a'b", "a\\b", "a b", "tenant\" = \"tenant", "x') OR 1=1 --", "a[]", "$ne", "tenant`", "a/*", "{a}", "a,b"]) {
      for (const condition of [{ path, op: "eq", value: "acme" }, { path, op: "ne", value: "acme" }, { path, op: "in", value: ["acme"] }] as const) {
        const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, condition] };
        const found = await c.adapter.fetch(fetch("things", { filter }), never()).then((set) => ids(set.rows), (error: unknown) => (isBackendError(error) ? "refused" : Promise.reject(error as Error)));
        if (found !== "refused") assert.deepEqual(found, ids(c.rows.filter((row) => evaluate(filter, row))), JSON.stringify(condition));
      }
    }
  });

  test("a vector of the wrong length is refused, and a retry is not advised", async () => {
    const error = await failure(c.adapter.search(search("things", 1, { vector: new Float32Array(DIMS + 1).fill(0.5) }), never()));
    assert.ok(error.kind === "unsupported" || error.kind === "bad_request", error.kind);
    assert.equal(error.retryable, false);
  });

  test("a vector of zeros or with a NaN ends in rows or in an error, never in a wrong guard", async () => {
    const filter: Filter = { path: "tenant", op: "eq", value: "acme" };
    for (const vector of [new Float32Array(DIMS), new Float32Array(DIMS).fill(Number.NaN)]) {
      const found: readonly Row[] = await c.adapter.search(search("things", 1, { vector, filter }), never()).then((set) => set.rows, (error: unknown) => (isBackendError(error) ? [] : Promise.reject(error as Error)));
      for (const row of found) {
        assert.equal(row["tenant"], "acme");
        assert.ok(Number.isFinite(row["_score"]));
      }
    }
  });

  test("hostile names of fields are names and nothing else: each selects as evaluate does or is refused, and rows come back with them", async () => {
    const stored = HOSTILE_KEYS.filter((key) => c.store.keepsKey?.(key) !== false && c.store.keep({ [key]: "acme" }) !== null);
    // Each key has a value that only half of the records have, and another one in a record of the other tenant.
    const records = stored.map((key, n): StoredRecord => ({ n, payload: { tenant: n % 2 === 0 ? "acme" : "globex", [key]: "mine" }, vector: vectorOf(n) }));
    await c.store.fill("keys", records);
    const own = kept(records);
    const { rows: all } = await c.adapter.fetch(fetch("keys"), never());
    for (const [index, key] of stored.entries()) assert.equal(Object.getOwnPropertyDescriptor(all[index] ?? {}, key)?.value, "mine", JSON.stringify(key));
    let asked = 0;
    for (const path of HOSTILE_KEYS) {
      for (const condition of [{ path, op: "eq", value: "mine" }, { path, op: "ne", value: "mine" }, { path, op: "in", value: ["mine", "acme"] }, { path, op: "exists", value: true }] as const) {
        const filter: Filter = { and: [{ path: "tenant", op: "eq", value: "acme" }, condition] };
        if (isRefused(filter)) continue;
        asked += 1;
        const shown = `${JSON.stringify(path).slice(0, 60)} ${condition.op}`;
        const want = ids(own.filter((row) => evaluate(filter, row)));
        assert.deepEqual(ids((await c.adapter.fetch(fetch("keys", { filter }), never()).catch(about(shown))).rows), want, shown);
        assert.equal(await c.adapter.count(c.store.name("keys"), filter, never()), want.length, shown);
      }
    }
    process.stdout.write(`  ${c.backend}: ${stored.length} hostile names of ${HOSTILE_KEYS.length} stored, ${asked} conditions on them asked\n`);
    return c.store.losesProto === undefined ? undefined : `ok, without a field named __proto__: ${c.store.losesProto} loses it`;
  }, { timeoutMs: 240_000 });
}
