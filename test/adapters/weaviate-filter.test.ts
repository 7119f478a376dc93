/** Filters of Weaviate for the declared types of properties. */
import assert from "node:assert/strict";
import { isBackendError } from "../../runtime/abi/errors.js";
import type { Condition } from "../../runtime/abi/filter.js";
import { PreparedReads } from "../../runtime/adapters/prepared.js";
import { compileFilter } from "../../runtime/adapters/weaviate/filter.js";
import { propertiesOf } from "../../runtime/adapters/weaviate/properties.js";
import { ASSUMED, countQuery, fetchQuery, type Known } from "../../runtime/adapters/weaviate/queries.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/weaviate filter");
const properties = propertiesOf([
  { name: "tenant", dataType: "text", tokenization: "field", indexFilterable: true }, { name: "body", dataType: "text", tokenization: "word" }, { name: "size", dataType: "int" }, { name: "price", dataType: "number" },
  { name: "day", dataType: "date" }, { name: "groups", dataType: "text[]", tokenization: "field" }, { name: "open", dataType: "boolean" }, { name: "where", dataType: "geoCoordinates" },
]);
const compile = (path: string, op: Condition["op"], value: Condition["value"], dtype?: "datetime"): unknown => compileFilter({ path, op, value, ...(dtype === undefined ? {} : { dtype }) }, properties);
const is = (property: string, operator: string, value: unknown): object => ({ operator, target: { property }, value });

test("a value of another type than the property's equals nothing, and is never sent", () => {
  assert.equal(compile("size", "eq", "5"), "none");
  assert.equal(compile("size", "ne", "5"), "all");
  assert.equal(compile("tenant", "in", [1, true]), "none");
  assert.deepEqual(compile("tenant", "in", ["acme", 1]), is("tenant", "Equal", "acme"));
  assert.equal(compile("open", "gt", 0), "none");
});

test("a property that the collection does not have is missing in every record", () => {
  assert.equal(compile("nowhere", "eq", "a"), "none");
  assert.equal(compile("nowhere", "nin", ["a"]), "all");
});

test("whole numbers are compared with a fraction as numbers are", () => {
  assert.deepEqual(compile("size", "gt", 1.5), is("size", "GreaterThanEqual", 2));
  assert.deepEqual(compile("size", "lte", -1.5), is("size", "LessThanEqual", -2));
  assert.equal(compile("size", "eq", 1.5), "none");
});

test("one of a list: a list is asked for its elements", () => {
  assert.deepEqual(compile("groups", "in", ["a", "b"]), is("groups", "ContainsAny", ["a", "b"]));
  assert.deepEqual(compile("groups", "nin", ["a"]), { operator: "Not", filters: [is("groups", "ContainsAny", ["a"])], value: null });
  assert.equal(compile("groups", "eq", "a"), "none");
  assert.equal(compile("groups", "contains_all", ["a", 1]), "none");
});

test("what the server would compare otherwise is refused: words, spaces around a text, dates as texts", () => {
  for (const [path, op, value] of [["body", "eq", "acme"], ["body", "ne", "acme"], ["tenant", "eq", " acme"], ["tenant", "eq", "acme\u0085"], ["tenant", "eq", "\u0085acme"], ["tenant", "eq", "acme\u00a0"], ["day", "eq", "2024-01-01"], ["where", "eq", "here"], ["price", "eq", 1e21]] as const) {
    assert.throws(() => compile(path, op, value), (error: unknown) => isBackendError(error) && error.kind === "unsupported", `${path} ${op} ${String(value)}`);
  }
  assert.throws(() => compile("tenant", "gt", "2024-01-01", "datetime"), /no date/);
  assert.deepEqual(compile("day", "gt", "2024-01-01", "datetime"), { ...is("day", "GreaterThan", "2024-01-01T00:00:00Z"), valueType: "date" });
});

test("a tenant that the server would take for another one, without the spaces around it, is refused by a prepared query too", () => {
  const known: Known = { schema: { ...ASSUMED, properties }, reads: new PreparedReads() };
  const counted = (value: string): unknown => countQuery(known, { collection: "things", filter: { path: "tenant", op: "eq", value } })?.filters;
  assert.deepEqual(counted("acme"), is("tenant", "Equal", "acme"));
  for (const value of ["acme ", "acme\u0085", "\u0085acme", "acme\u3000", "\ufeffacme"]) assert.throws(() => counted(value), (error: unknown) => isBackendError(error) && error.kind === "unsupported", JSON.stringify(value));
  assert.deepEqual(counted("globex"), is("tenant", "Equal", "globex"));
});

test("a list asks a single range twice, because the server would sort only the rows with the first values; equality and counts do not", () => {
  const known: Known = { schema: { ...ASSUMED, properties }, reads: new PreparedReads() };
  const range = is("size", "GreaterThanEqual", 3);
  const list = (filter: Condition): unknown => fetchQuery(known, { collection: "things", filter, limit: 5, offset: 0, fields: null })?.filters;
  assert.deepEqual(list({ path: "size", op: "gte", value: 3 }), { operator: "And", filters: [range, range], value: null });
  assert.deepEqual(list({ path: "size", op: "eq", value: 3 }), is("size", "Equal", 3));
  assert.deepEqual(countQuery(known, { collection: "things", filter: { path: "size", op: "gte", value: 3 } })?.filters, range);
});

test.run();
