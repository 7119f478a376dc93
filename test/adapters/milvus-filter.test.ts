/** Expressions of Milvus for what a collection declares: types, lists, values that may be missing. */
import assert from "node:assert/strict";
import { isBackendError } from "../../runtime/abi/errors.js";
import type { Condition, Filter } from "../../runtime/abi/filter.js";
import { compileFilter } from "../../runtime/adapters/milvus/filter.js";
import { ASSUMED_SCHEMA, queryBody, type Schema, schemaOf, widerSearch } from "../../runtime/adapters/milvus/requests.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/milvus filter");
const field = (name: string, type: string, rest: object = {}): object => ({ name, data_type: type, ...rest });
const schema = schemaOf({
  schema: {
    enable_dynamic_field: true,
    fields: [field("pk", "Int64", { is_primary_key: true }), field("title", "VarChar"), field("note", "VarChar", { nullable: true }), field("size", "Int32"), field("groups", "Array", { element_type: "VarChar" }), field("meta", "JSON"), field("vec", "FloatVector", { dim: "8" })] as never,
  },
}, [{ field_name: "vec", params: [{ key: "metric_type", value: "L2" }] }]);
const compile = (filter: Filter): unknown => compileFilter(filter, schema.fields);
const is = (path: string, op: Condition["op"], value: Condition["value"]): Condition => ({ path, op, value });

test("one of a list: an array is asked for its elements, a value for itself, and JSON for both", () => {
  const table: readonly (readonly [Condition, string])[] = [
    [is("groups", "in", ["a", "b"]), "ARRAY_CONTAINS_ANY(groups, ['a', 'b'])"],
    [is("title", "in", ["a", "b"]), "title in ['a', 'b']"],
    [is("dynamic", "in", ["a", 1]), "(dynamic == 'a') or (dynamic == 1) or ((ARRAY_CONTAINS_ANY(dynamic, ['a'])) or (ARRAY_CONTAINS_ANY(dynamic, [1])))"],
    [is("meta.groups", "in", ["a"]), `(meta["groups"] == 'a') or (ARRAY_CONTAINS_ANY(meta["groups"], ['a']))`],
    [is("groups", "nin", ["a"]), "not (ARRAY_CONTAINS_ANY(groups, ['a']))"],
  ];
  for (const [condition, want] of table) assert.equal(compile(condition), want);
});

test("a value that is missing differs from everything", () => {
  assert.equal(compile(is("title", "ne", "a")), "title != 'a'");
  assert.equal(compile(is("note", "ne", "a")), "(note != 'a') or (note is null)");
  assert.equal(compile(is("dynamic", "ne", "a")), "(dynamic != 'a') or (not exists dynamic)");
  assert.equal(compile(is("note", "nin", ["a"])), "(note not in ['a']) or (note is null)");
});

test("a value of another type than the field's equals nothing", () => {
  assert.equal(compile(is("size", "eq", "5")), "none");
  assert.equal(compile(is("size", "ne", "5")), "all");
  assert.equal(compile(is("size", "in", ["5", 5])), "size in [5]");
  assert.equal(compile(is("groups", "eq", "a")), "none");
  assert.equal(compile(is("id", "eq", "no number")), "none");
  assert.equal(compile(is("id", "in", ["1", "x", "007", "2"])), "pk in [1, 2]");
});

test("a pattern without wildcards is compared: servers let everything match an empty one", () => {
  assert.equal(compile(is("title", "like", "")), "title == ''");
  assert.equal(compile(is("dynamic", "like", "Drama")), "dynamic == 'Drama'");
  assert.equal(compile(is("title", "like", "%")), "title like '%'");
  assert.equal(compile(is("title", "like", "Dra%")), "title like 'Dra%'");
});

test("a pattern with _ comes with one that adds nothing: a server that would take _ for itself refuses that", () => {
  assert.equal(compile(is("title", "like", "Dr_ma")), "(title like 'Dr_ma') and (title like '%_')");
  assert.equal(compile(is("title", "like", "_")), "(title like '_') and (title like '%_')");
});

test("reads by filter have the collection's consistency, as the client gives it to searches", () => {
  const own = schemaOf({ schema: { enable_dynamic_field: true, fields: [field("pk", "Int64", { is_primary_key: true })] as never }, consistency_level: "Bounded" }, []);
  assert.equal(queryBody("films", null, ["pk"], own)?.consistency_level, "Bounded");
  assert.ok(!("consistency_level" in (queryBody("films", null, ["pk"], ASSUMED_SCHEMA) ?? {})));
});

test("a search that found fewer rows than it may have is asked again, as widely as the index allows", () => {
  const over = (type: string): Schema => schemaOf({ schema: { enable_dynamic_field: true, fields: [field("pk", "Int64", { is_primary_key: true }), field("vec", "FloatVector", { dim: "2" })] as never } }, [{ field_name: "vec", params: [{ key: "index_type", value: type }, { key: "metric_type", value: "COSINE" }] }]);
  const body = { collection_name: "films", filter: "tenant == 'acme'", limit: 10, output_fields: ["pk"], data: [0, 1] };
  for (const [type, params] of [["HNSW", { ef: 32_768 }], ["HNSW_SQ", { ef: 32_768 }], ["IVF_FLAT", { nprobe: 65_536 }], ["SCANN", { nprobe: 65_536 }]] as const) assert.deepEqual(widerSearch(body, 9, over(type)), { ...body, params }, type);
  assert.equal(widerSearch(body, 10, over("HNSW")), null);
  for (const type of ["FLAT", "AUTOINDEX"]) assert.equal(widerSearch(body, 9, over(type)), null, type);
});

test("a field with the name of a word of the language is written in full", () => {
  assert.equal(compile(is("In", "eq", 1)), `$meta["In"] == 1`);
});

test("many operands make a shallow tree", () => {
  const text = String(compile(is("dynamic", "in", Array.from({ length: 500 }, (_, n) => `v${n}`))));
  let depth = 0;
  let deepest = 0;
  for (const char of text) deepest = Math.max(deepest, (depth += char === "(" ? 1 : char === ")" ? -1 : 0));
  assert.ok(deepest < 20, String(deepest));
});

test("a path that the schema cannot have is refused, with what is the matter", () => {
  for (const [path, words] of [["title.sub", /no JSON field/], ["meta", /whole JSON field/], ["a-b", /the path/]] as const) {
    assert.throws(() => compile(is(path, "eq", "x")), (error: unknown) => isBackendError(error) && error.kind === "unsupported" && words.test(error.message));
  }
  const closed = { ...schema.fields, others: "none" as const };
  assert.throws(() => compileFilter(is("absent", "eq", "x"), closed), /no such field/);
});

test("the metric of the index says whether a score is a distance or a similarity", () => {
  assert.equal(schema.isDistance, true);
  assert.deepEqual(schema.shown, ["pk", "title", "note", "size", "groups", "meta", "$meta"]);
});

test.run();
