/** The contract of an adapter: pages with vectors, and `toolsrv copy` through them. */
import assert from "node:assert/strict";
import { evaluate, type Filter, type Row } from "../../runtime/abi/filter.js";
import type { Json } from "../../runtime/abi/plan.js";
import type { Page, StoredRow } from "../../runtime/adapters/adapter.js";
import { never, plain, sorted, type ContractSubject, type RegisterCase } from "./contract-case.js";
import { cosine, DIMS, RECORDS } from "./contract-data.js";
import { copiedRows } from "./copied.js";

export function copyCases(test: RegisterCase, c: ContractSubject): void {
  test("pages for a copy have each row that passes once, with its vector", async () => {
    for (const filter of [null, { path: "tenant", op: "eq", value: "acme" }] as readonly (Filter | null)[]) {
      const copied: StoredRow[] = [];
      for (let after: Json = null, pages = 0; pages === 0 || after !== null; pages++) {
        const page: Page = (await c.adapter.page?.({ collection: c.store.name("things"), filter, limit: 7, after }, never())) ?? assert.fail("the adapter has no pages");
        copied.push(...page.rows);
        assert.ok(page.rows.length <= 7 && pages < 100);
        after = page.next;
      }
      const passing = RECORDS.filter((_, index) => evaluate(filter, c.rows[index] ?? {}));
      assert.equal(copied.length, passing.length);
      const byId = new Map(copied.map((one) => [one.row["_id"], one]));
      for (const { n, vector } of passing) {
        const found = byId.get(c.store.id(n));
        assert.deepEqual(plain(found === undefined ? [] : [found.row], c.rows), sorted(c.rows.slice(n, n + 1)), `row ${n}`);
        assert.ok(found?.vector?.length === DIMS && cosine([...found.vector], vector) > 0.9999, `vector of row ${n}`);
      }
    }
  });

  test("toolsrv copy brings the rows that pass, as they are, into an embedded file", async () => {
    for (const [words, passes] of [[[], () => true], [["--where", "tenant=acme"], (row: Row) => row["tenant"] === "acme"]] as const) {
      const copied = new Map((await copiedRows(c.store, "things", words)).map(({ row, vector }) => [row["_id"], { row, vector }]));
      const passing = RECORDS.filter((_, index) => passes(c.rows[index] ?? {}));
      assert.equal(copied.size, passing.length);
      for (const { n, vector } of passing) {
        const found = copied.get(String(c.store.id(n)));
        assert.deepEqual(plain([{ ...found?.row, _id: c.store.id(n) }], c.rows), sorted(c.rows.slice(n, n + 1)), `row ${n}`);
        assert.ok(found?.vector?.length === DIMS && cosine([...found.vector], vector) > 0.9999, `vector of row ${n}`);
      }
    }
  }, { timeoutMs: 60_000 });
}
