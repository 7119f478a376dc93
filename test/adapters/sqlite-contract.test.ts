import * as assert from "node:assert/strict";
import fc from "fast-check";
import { compareText, evaluate, type Filter, type Row } from "../../runtime/abi/filter.js";
import type { IndexSpec } from "../../runtime/adapters/sqlite/indexes.js";
import { instantPath, listPath } from "../../runtime/adapters/sqlite/layout.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { suite } from "../lib/suite.js";
import { conditions, filters, PATHS, payloads } from "./random.js";
import { DIMS, MODEL, never, record, scratch, storeOf } from "./store.js";

const test = suite("adapters/sqlite contract");
const RUNS = Number(process.env["FC_RUNS"] ?? 60);
const FILTERS_PER_STORE = 40;

interface Case {
  readonly rows: readonly Row[];
  readonly filters: readonly Filter[];
  readonly query: string;
  readonly limit: number;
  readonly isIndexed: boolean;
}

const cases: fc.Arbitrary<Case> = fc.record({
  rows: fc.array(payloads, { minLength: 1, maxLength: 30 }),
  filters: fc.array(fc.oneof(filters, conditions), { minLength: FILTERS_PER_STORE, maxLength: FILTERS_PER_STORE }),
  query: fc.constantFrom("red fox", "abc", "straße", "!!!", "🦊"),
  limit: fc.integer({ min: 1, max: 40 }),
  isIndexed: fc.boolean(),
});

/** An index of every path that records have, alone and behind another one, of its instants and of its lists. */
const INDEXES: readonly IndexSpec[] = PATHS.flatMap((path) => [[path], ["kind", path], [instantPath(path)], [listPath(path)], [listPath(instantPath(path))]]);

/** Runs a check over many random stores, with and without indexes; each store is written once and asked with many filters. */
async function overStores(check: (store: Awaited<ReturnType<typeof storeOf>>, rows: readonly Row[], one: Case) => Promise<void>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const { folder, remove } = scratch();
      const records = one.rows.map((payload, index) => record(`r${index % 7}-${index}`, payload));
      const store = await storeOf(folder, records, "things", one.isIndexed ? INDEXES : []);
      try {
        // What JSON keeps of a record is the record: -0 is 0.
        await check(store, records.map(({ id, record: payload }) => ({ ...(JSON.parse(JSON.stringify(payload)) as Row), _id: id })), one);
      } finally {
        await store.close();
        remove();
      }
    }),
    { numRuns: RUNS },
  );
}

test("fetch and count select exactly the rows for which evaluate is true, in id order", async () => {
  await overStores(async (store, rows, { filters, limit }) => {
    for (const filter of filters) {
      const expected = rows.filter((row) => evaluate(filter, row)).sort((a, b) => compareText(String(a["_id"]), String(b["_id"])));
      const found = await store.fetch({ collection: "things", filter, limit, offset: 0, fields: null }, never);
      assert.deepEqual(found.rows, expected.slice(0, limit), JSON.stringify(filter));
      assert.equal(await store.count("things", filter, never), expected.length, JSON.stringify(filter));
      const rest = await store.fetch({ collection: "things", filter, limit: 100, offset: limit, fields: null }, never);
      assert.deepEqual(rest.rows, expected.slice(limit));
    }
  });
}, { timeoutMs: 120_000 });

test("search ranks exactly the rows for which evaluate is true, by cosine and then by id", async () => {
  await overStores(async (store, rows, { filters, query, limit }) => {
    const vector = hashText(query, DIMS);
    for (const filter of [null, ...filters.slice(0, 10)]) {
      const expected = rows
        .filter((row) => evaluate(filter, row))
        .map((row) => ({ id: String(row["_id"]), score: cosine(vector, hashText(textOf(row), DIMS)) }));
      const request = { collection: "things", vector, text: query, mode: "dense" as const, alpha: 0.5, filter, limit, fields: null, embeddedBy: MODEL };
      const { rows: found, exact } = await store.search(request, never);
      assert.equal(exact, true);
      assert.equal(found.length, Math.min(limit, expected.length));
      const byId = new Map(expected.map((one) => [one.id, one.score]));
      for (const [index, row] of found.entries()) {
        const score = byId.get(String(row["_id"]));
        assert.ok(score !== undefined, `${String(row["_id"])} is not selected by ${JSON.stringify(filter)}`);
        assert.ok(Math.abs(score - Number(row["_score"])) < 1e-5);
        const before = found[index - 1];
        if (before === undefined) continue;
        assert.ok(Number(before["_score"]) >= Number(row["_score"]));
        if (textOf(before) === textOf(row)) assert.ok(compareText(String(before["_id"]), String(row["_id"])) < 0, "equal rows are in id order");
      }
      const worst = Number(found.at(-1)?.["_score"] ?? 0);
      const left = expected.filter(({ id }) => !found.some((row) => row["_id"] === id));
      assert.ok(left.every(({ score }) => score <= worst + 1e-5), "nothing better was left out");
    }
  });
}, { timeoutMs: 120_000 });

/** The text that `record` of store.ts embedded. */
function textOf(row: Row): string {
  const { _id, _score, ...payload } = row;
  return JSON.stringify(payload);
}

function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] ?? 0) * (b[i] ?? 0);
  return dot;
}

test.run();
