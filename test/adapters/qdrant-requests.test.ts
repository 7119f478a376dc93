/** The bodies that Qdrant is sent, and what its ids, paths and texts cannot be. */
import assert from "node:assert/strict";
import { isBackendError } from "../../runtime/abi/errors.js";
import type { Filter } from "../../runtime/abi/filter.js";
import type { SearchRequest } from "../../runtime/adapters/adapter.js";
import { compileFilter } from "../../runtime/adapters/qdrant/filter.js";
import { adapter as qdrant } from "../../runtime/adapters/qdrant/index.js";
import { ASSUMED, filterBody, payloadOf, queryBody } from "../../runtime/adapters/qdrant/requests.js";
import { meaningOf } from "../../runtime/adapters/qdrant/verify.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/qdrant requests");
const filter: Filter = { path: "tenant", op: "eq", value: "acme" };
const wide = { must: [{ key: "tenant", match: { value: "acme" } }] };
const guard = { must: [{ key: "tenant", match: { value: "acme" } }], must_not: [{ key: "tenant[]", match: { value: "acme" } }] };
const request: SearchRequest = { collection: "things", vector: Float32Array.of(0.5, 1), text: "red fox", mode: "dense", alpha: 0.5, filter, limit: 3, fields: null };

test("a search has the guard, the vector's name, query.ef and the fields that are asked for", () => {
  assert.deepEqual(queryBody({ ...request, ef: 64, fields: ["title", "_id"] }, { ...ASSUMED, name: "dense" }, { exact: false, width: "wide" }), {
    query: [0.5, 1], using: "dense", filter: wide, params: { hnsw_ef: 64 }, limit: 3, with_payload: { include: ["title", "tenant"] },
  });
  assert.deepEqual(queryBody(request, ASSUMED, { exact: true, width: "exact" }), { query: [0.5, 1], filter: guard, params: { exact: true }, limit: 3, with_payload: true });
});

test("both halves of a hybrid search have the guard", () => {
  assert.deepEqual(queryBody({ ...request, mode: "hybrid" }, ASSUMED, { exact: false, width: "exact" }), {
    prefetch: [{ query: [0.5, 1], filter: guard, limit: 20 }, { query: { text: "red fox", model: "Qdrant/bm25" }, using: "text", filter: guard, limit: 20 }],
    query: { fusion: "rrf" }, limit: 3, with_payload: true,
  });
  assert.throws(() => queryBody({ ...request, mode: "hybrid" }, { ...ASSUMED, sparse: false }, { exact: false, width: "wide" }), /VB2013/);
});

test("a filter that nothing can pass asks nothing", () => {
  const nothing: Filter = { and: [filter, { path: "size", op: "in", value: [] }] };
  assert.equal(filterBody(nothing, "wide"), null);
  assert.equal(queryBody({ ...request, filter: nothing }, ASSUMED, { exact: false, width: "wide" }), null);
});

test("a row that a wide filter lets through is compared once more, its words and dates by Qdrant's rules", () => {
  assert.equal(meaningOf(filter)({ tenant: "acme" }), true);
  assert.equal(meaningOf(filter)({ tenant: ["acme", "globex"] }), false);
  assert.equal(meaningOf({ path: "size", op: "gt", value: 3 })({ size: [4] }), false);
  assert.equal(meaningOf({ path: "text", op: "text_match", value: "re" })({ text: "red" }), true);
  assert.equal(meaningOf({ path: "text", op: "text_match", value: "re" })({ text: ["re"] }), false);
  assert.equal(meaningOf({ path: "tags", op: "ne", value: 1 })({ tags: [1, 2] }), false);
  assert.equal(meaningOf({ path: "id", op: "ne", value: "1" })({ _id: 2 }), true);
  assert.equal(meaningOf({ path: "due", op: "gt", value: "2024-01-01" })({ due: "2024-01-01T00:00:00-01:00" }), true);
});

test("the exact filter differs from the wide one only where a value is compared", () => {
  const same: readonly Filter[] = [{ path: "a", op: "in", value: ["x"] }, { path: "a", op: "nin", value: ["x"] }, { path: "a", op: "ne", value: "x" }, { path: "a", op: "exists", value: true }, { path: "id", op: "eq", value: "1" }];
  for (const one of same) assert.deepEqual(compileFilter(one, "exact"), compileFilter(one, "wide"), one.toString());
});

test("ids are whole numbers and UUIDs in their own spelling; other texts are the id of nothing", () => {
  const uuid = "6f9619ff-8b86-d011-b42d-00cf4fc964ff";
  assert.deepEqual(compileFilter({ path: "id", op: "in", value: ["7", uuid, "07", "+7", "7.0", "-7", "1e3", "", uuid.toUpperCase(), "99999999999999999999", "x"] }), { must: [{ has_id: [7, uuid] }] });
  assert.deepEqual(compileFilter({ path: "id", op: "eq", value: "x" }), { must: [{ has_id: [] }] });
  assert.deepEqual(compileFilter({ path: "id", op: "ne", value: "x" }), { must_not: [{ has_id: [] }] });
});

test("a name in a path is quoted where Qdrant needs it, and refused where it cannot be", () => {
  assert.deepEqual(compileFilter({ path: "odd key.b", op: "in", value: ["x"] }), { must: [{ key: '"odd key".b', match: { any: ["x"] } }] });
  for (const path of ['a"b', "a\\b", "a..b", ""]) assert.throws(() => compileFilter({ path, op: "eq", value: "x" }), isBackendError, path);
});

test("half a surrogate pair is refused in every operand, because no stored text has it", () => {
  for (const op of ["eq", "ne", "in", "nin", "contains_any", "contains_all"] as const) assert.throws(() => compileFilter({ path: "a", op, value: op === "eq" || op === "ne" ? "\ud800" : ["x", "\ud800"] }), isBackendError, op);
});

test("a field that Qdrant would read as a path asks for the whole payload", () => {
  assert.deepEqual(payloadOf(["a", "b-c"], null), { include: ["a", "b-c"] });
  assert.deepEqual(payloadOf(["a"], { or: [{ path: "b.c", op: "eq", value: 1 }, { path: "id", op: "eq", value: "1" }] }), { include: ["a", "b", "id"] });
  assert.equal(payloadOf(["a", "b c"], null), true);
});

test("explain shows the bodies, and of a vector its length alone", () => {
  const then = "rows with a list where the filter compares a value are dropped";
  assert.deepEqual(qdrant.explain({ search: request }, {}), { collection: "things", query: "<vector of 2>", filter: wide, limit: 3, with_payload: true, then });
  assert.deepEqual(qdrant.explain({ fetch: { collection: "things", filter, limit: 3, offset: 4, fields: ["a"] } }, {}), { collection: "things", filter: guard, limit: 7, with_payload: { include: ["a", "tenant"] }, then });
  assert.deepEqual(qdrant.explain({ count: { collection: "things", filter } }, {}), { collection: "things", filter: guard, exact: true });
});

test("an address that is none is refused without its text", async () => {
  for (const url of ["", "localhost:6333", "ftp://user:s3cret@host", "s3cret"]) {
    const error: unknown = await qdrant.open({ url }, { base: process.cwd() }).catch((reason: unknown) => reason);
    assert.ok(isBackendError(error), url);
    assert.doesNotMatch(error.message, /s3cret/);
  }
});

test.run();
