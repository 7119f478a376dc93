/** Drafts as data: their hash, their dates and the version of the catalog. */
import assert from "node:assert/strict";
import { draftHash, isExpired, nextVersion, stamp, type DraftRecord } from "../../generator/drafts/record.js";
import { suite } from "../lib/suite.js";

const test = suite("draft records");

test("a proposal has the hash that existing drafts files have for it", () => {
  const bills = {
    name: "bills_over_amount", kind: "search", description: "List bills whose total is at or over the given sum.",
    target: { connection: "main", collection: "invoices" }, parameters: [{ name: "min_amount", path: "amount", op: "gte", dtype: "float" }],
  };
  assert.equal(draftHash(bills), "4a53164816c7c385cbcfb535632ca92df849a99756e77cb6cdd23bb43be79424");
  assert.equal(draftHash({ b: [1, 2.5, true, null], a: "é東" }), "67be3087253dfbd40ca02d567680b33a23a250e4ca32b5ddb84fa06d9bcef256");
});

test("the hash depends on values and not on the order of keys", () => {
  assert.equal(draftHash({ a: { x: 1, y: 2 }, b: 0 }), draftHash({ b: 0, a: { y: 2, x: 1 } }));
  assert.notEqual(draftHash({ a: [1, 2] }), draftHash({ a: [2, 1] }));
  assert.notEqual(draftHash({ a: "1" }), draftHash({ a: 1 }));
});

test("the last number of a version counts up, and what is no number starts at 1", () => {
  const table: readonly (readonly [string | null, string])[] = [[null, "1"], ["7", "8"], ["1.2.3", "1.2.4"], ["9", "10"], ["2026-08-22", "1"], ["v3", "1"], ["", "1"]];
  for (const [before, after] of table) assert.equal(nextVersion(before), after, String(before));
});

const DAY = 24 * 3600 * 1000;
const record = (more: Partial<DraftRecord>): DraftRecord => ({ status: "pending", created_at: null, hash: null, provenance: null, tool: { name: "a" }, issues: [], catalog_version: null, ...more });

test("a pending draft expires when it is 30 days old, and no other one does", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  const at = (ms: number): string => stamp(now - ms);
  assert.equal(isExpired(record({ created_at: at(30 * DAY) }), now), true);
  assert.equal(isExpired(record({ created_at: at(30 * DAY - 1) }), now), false);
  assert.equal(isExpired(record({ provenance: { created_at: at(31 * DAY) } }), now), true);
  assert.equal(isExpired(record({ created_at: "2020-01-01T00:00:00Z" }), now), true);
  assert.equal(isExpired(record({ created_at: "some day" }), now), false);
  assert.equal(isExpired(record({}), now), false);
  assert.equal(isExpired(record({ status: "rejected", created_at: at(99 * DAY) }), now), false);
});

test("a date has microseconds and an offset", () => {
  assert.equal(stamp(Date.parse("2026-11-22T14:45:00.123Z")), "2026-11-22T14:45:00.123000+00:00");
});

test.run();
