/** The contract of an adapter: filters select the rows of `evaluate`. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { evaluate, EXTENDED_OPS, type Filter, type Row } from "../../runtime/abi/filter.js";
import { FILTERS } from "../live/outcomes.js";
import { about, failure, ids, never, type ContractSubject, type RegisterCase } from "./contract-case.js";
import { vectorOf } from "./contract-data.js";
import type { StoredRecord } from "./live-store.js";
import { filters, payloads } from "./random.js";

const FILTERS_PER_STORE = 50;

export function filterCases(test: RegisterCase, c: ContractSubject): void {
  const { backend, can, fetch, isRefused, kept, search } = c;

  test("nested paths and lists are compared, or refused as the table of capabilities says", async () => {
    const likes = can.extendedOps.includes("like");
    const samples: readonly (readonly [boolean, Filter])[] = [
      [likes, { path: "note", op: "like", value: "note%" }],
      [likes, { path: "note", op: "like", value: "note 1" }],
      [likes, { path: "note", op: "like", value: "" }],
      [likes && c.store.likes === undefined, { path: "note", op: "like", value: "note_1" }],
      [can.nestedPaths, { path: "nested.kind", op: "eq", value: "even" }],
      [can.nestedPaths, { path: "nested.deep.level", op: "gte", value: 5 }],
      ...EXTENDED_OPS.map((op): readonly [boolean, Filter] => [
        can.extendedOps.includes(op) && (op !== "like" || c.store.likes === undefined),
        op === "contains_any" ? { path: "tags", op, value: ["t1", "t2"] } : op === "contains_all" ? { path: "tags", op, value: ["t1", "all"] } : op === "like" ? { path: "note", op, value: "note %1" } : op === "text_match" ? { path: "note", op, value: "Note" } : { path: "note", op, value: true },
      ]),
    ];
    for (const [able, filter] of samples) {
      if (able) assert.deepEqual(ids((await c.adapter.fetch(fetch("things", { filter }), never())).rows), ids(c.rows.filter((row) => evaluate(filter, row))), JSON.stringify(filter));
      else assert.equal((await failure(c.adapter.fetch(fetch("things", { filter }), never()))).kind, "unsupported", JSON.stringify(filter));
    }
    return likes && c.store.likes === "prefix" ? "ok, like with text% alone: this release refuses other patterns" : undefined;
  });

  test(`${FILTERS} random filters select the rows of evaluate`, async () => {
    let compared = 0;
    let seed = Number(process.env["TOOLSRV_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
    const first = seed;
    while (compared < FILTERS) {
      const sample = fc.sample(payloads, { numRuns: 60, seed }).map((payload) => c.store.keep(JSON.parse(JSON.stringify(payload)) as Row)).filter((payload) => payload !== null).slice(0, 25);
      const records = sample.map((payload, n): StoredRecord => ({ n, payload, vector: vectorOf(n) }));
      await c.store.fill("random", records);
      const stored = kept(records);
      for (const filter of fc.sample(filters, { numRuns: FILTERS_PER_STORE * 4, seed: seed + 1 })) {
        const meaning = c.store.means(filter);
        if (isRefused(filter) || meaning === null) continue;
        const want = stored.filter((row) => evaluate(meaning, row));
        const shown = `seed ${seed}: ${JSON.stringify(filter)}`;
        const { rows: found } = await c.adapter.fetch(fetch("random", { filter }), never()).catch(about(shown));
        assert.deepEqual(ids(found), ids(want), shown);
        assert.equal(await c.adapter.count(c.store.name("random"), filter, never()), want.length, shown);
        if (compared % 5 === 0) {
          const { rows: near } = await c.adapter.search(search("random", 2, { filter, limit: 30 }), never());
          assert.deepEqual(new Set(ids(near)), new Set(ids(want)), `search, ${shown}`);
        }
        if (++compared % FILTERS_PER_STORE === 0) break;
      }
      seed += 2;
    }
    process.stdout.write(`  ${backend}: ${compared} random filters compared, from seed ${first}\n`);
  }, { timeoutMs: 800_000 });
}
