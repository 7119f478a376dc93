/** Conditions of dtype datetime: instants on every store, whatever their spelling. */
import * as assert from "node:assert/strict";
import { compareText, evaluate, type Condition, type Filter, type Op, type Operand } from "../../runtime/abi/filter.js";
import { compileFilter as chroma } from "../../runtime/adapters/chroma/filter.js";
import { compileFilter as milvus } from "../../runtime/adapters/milvus/filter.js";
import { compileFilter as pgvector } from "../../runtime/adapters/pgvector/filter.js";
import { compileFilter as pinecone } from "../../runtime/adapters/pinecone/filter.js";
import { compileFilter as qdrant } from "../../runtime/adapters/qdrant/filter.js";
import { compileFilter as weaviate } from "../../runtime/adapters/weaviate/filter.js";
import { suite } from "../lib/suite.js";
import { never, record, scratch, storeOf } from "./store.js";

const test = suite("adapters/instants");
const due = (op: Op, value: Operand): Condition => ({ path: "due", op, value, dtype: "datetime" });

const RECORDS = {
  day: "2026-04-13", zulu: "2026-04-13T00:00:00Z", offset: "2026-04-13T02:00:00.000+02:00", half: "2026-04-13T00:00:00.5Z",
  before: "2026-04-12", next: "2026-04-14T00:00:00+01:00", naive: "2026-04-13T00:00:00", words: "yesterday", number: 20260413, list: ["x", "2026-04-13T00:00:00Z"], none: null,
};
const SAME = ["day", "offset", "zulu"];
const OTHER = ["before", "half", "list", "naive", "next", "none", "number", "words"];

const TABLE: readonly (readonly [Condition, readonly string[]])[] = [
  [due("eq", "2026-04-13"), SAME],
  [due("eq", "2026-04-12T19:00:00-05:00"), SAME],
  [due("ne", "2026-04-13T00:00:00Z"), OTHER],
  [due("gte", "2026-04-13T00:00:00Z"), [...SAME, "half", "next"]],
  [due("gt", "2026-04-13"), ["half", "next"]],
  [due("lte", "2026-04-13T00:00:00Z"), ["before", ...SAME]],
  [due("lt", "2026-04-13T00:00:00.500001Z"), ["before", ...SAME, "half"]],
  [due("in", ["2026-04-13", "2026-04-13T23:00:00Z"]), [...SAME, "list", "next"]],
  [due("nin", ["2026-04-13T00:00:00.0Z"]), OTHER.filter((id) => id !== "list")],
  [due("contains_any", ["2026-04-13", "2026-05-01"]), ["list"]],
  [due("contains_all", ["2026-04-13"]), ["list"]],
  [due("eq", "yesterday"), []],
  [due("gte", "yesterday"), []],
  [due("eq", 20260413), []],
];

test("every spelling of an instant is that instant: in evaluate and in the embedded store", async () => {
  const { folder, remove } = scratch();
  const store = await storeOf(folder, Object.entries(RECORDS).map(([id, value]) => record(id, { due: value })));
  for (const [condition, want] of TABLE) {
    const sorted = [...want].sort(compareText);
    const meant = Object.entries(RECORDS).filter(([id, value]) => evaluate(condition, { _id: id, due: value })).map(([id]) => id).sort(compareText);
    assert.deepEqual(meant, sorted, `evaluate ${condition.op} ${String(condition.value)}`);
    const { rows } = await store.fetch({ collection: "things", filter: condition, limit: 50, offset: 0, fields: null }, never);
    assert.deepEqual(rows.map((row) => row["_id"]), sorted, `sqlite ${condition.op} ${String(condition.value)}`);
    assert.equal(await store.count("things", condition, never), want.length);
  }
  await store.close();
  remove();
});

test("without the dtype a date is a text like any other", () => {
  assert.equal(evaluate({ path: "due", op: "eq", value: "2026-04-13" }, { due: "2026-04-13T00:00:00Z" }), false);
});

test("stores with a type for time are asked in their own terms", () => {
  const at = "2026-04-13T00:00:00Z";
  assert.deepEqual(qdrant(due("gte", "2026-04-13")), { must: [{ key: "due", range: { gte: at } }], must_not: [{ key: "due[]", range: { gte: at } }] });
  assert.deepEqual(qdrant(due("eq", "2026-04-13T02:00:00+02:00")), { must: [{ key: "due", range: { gte: at, lte: at } }], must_not: [{ key: "due[]", range: { gte: at, lte: at } }] });
  assert.deepEqual(qdrant(due("nin", ["2026-04-13"])), { must_not: [{ key: "due", range: { gte: at, lte: at } }] });
  assert.deepEqual(weaviate(due("lt", "2026-04-13")), { operator: "LessThan", target: { property: "due" }, value: at, valueType: "date" });
  const sql = pgvector(due("gte", "2026-04-13"));
  assert.ok(typeof sql === "object");
  assert.match(sql.sql, /::timestamptz END >= \$\d+::timestamptz$/);
  assert.equal(sql.params.at(-1), at);
});

test("stores that only order numbers refuse dates, instead of comparing their spelling", () => {
  for (const [name, compile] of Object.entries({ chroma, pinecone, milvus })) {
    for (const [condition] of TABLE.slice(0, 9)) assert.throws(() => compile(condition as Filter), { name: "BackendError", message: new RegExp(`^${name} does not support dtype datetime; store the time as a number`) });
  }
});

test.run();
