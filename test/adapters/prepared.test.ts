/** Native queries that are compiled once: a template filled for a call is the query that its filter compiles to. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { isBackendError } from "../../runtime/abi/errors.js";
import type { Condition, Filter, Operand, Scalar } from "../../runtime/abi/filter.js";
import type { SearchRequest } from "../../runtime/adapters/adapter.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { Hole, later, templateOf } from "../../runtime/adapters/hole.js";
import { compileFilter as milvus } from "../../runtime/adapters/milvus/filter.js";
import type { Fields } from "../../runtime/adapters/milvus/fields.js";
import { compileFilter as pgvector } from "../../runtime/adapters/pgvector/filter.js";
import type { ColumnKind } from "../../runtime/adapters/pgvector/table.js";
import { PreparedReads } from "../../runtime/adapters/prepared.js";
import { compileFilter as qdrant } from "../../runtime/adapters/qdrant/filter.js";
import { type Shape, splitFilter } from "../../runtime/adapters/shape.js";
import { compileFilter as sqlite } from "../../runtime/adapters/sqlite/filter.js";
import { instantPath, listIndexPath } from "../../runtime/adapters/sqlite/layout.js";
import { compileFilter as weaviate } from "../../runtime/adapters/weaviate/filter.js";
import { propertiesOf } from "../../runtime/adapters/weaviate/properties.js";
import { suite } from "../lib/suite.js";
import { filters } from "./random.js";

const test = suite("prepared queries");
const search = (filter: Filter | null, rest: Partial<SearchRequest> = {}): SearchRequest => ({ collection: "things", vector: Float32Array.of(1, 0), text: null, mode: "dense", alpha: 0, filter, limit: 3, fields: null, ...rest });

const FIELDS: Fields = { id: "pk", idKind: "integer", others: "dynamic", declared: new Map([["kind", { kind: "text", nullable: true }], ["size", { kind: "integer", nullable: false }], ["tags", { kind: "list", nullable: false }]]) };
const COLUMNS = new Map<string, ColumnKind>([["kind", "text"], ["size", "integer"], ["tags", "json"], ["absent", "uuid"], ["rowid", "instant"]]);
const PATHS = new Set(["kind", "size", "size[]", "tags", "tags[]", listIndexPath("tags"), instantPath("rowid")]);
const PROPERTIES = propertiesOf([{ name: "kind", dataType: "text", tokenization: "field" }, { name: "size", dataType: "int" }, { name: "rowid", dataType: "date" }, { name: "tags", dataType: "text[]" }, { name: "absent", dataType: "number" }]);

/** Each store's compiler, also for collections whose declared types decide how a value is written. */
const COMPILERS: { readonly [name: string]: (filter: Shape) => unknown } = {
  ...Object.fromEntries(Object.values(DESCRIPTORS).map(({ name, compileFilter }) => [name, compileFilter as (filter: Shape) => unknown])),
  "sqlite, known columns": (filter) => sqlite(filter, { name: "things", paths: PATHS }),
  "qdrant, wide": (filter) => qdrant(filter, "wide"),
  "milvus, declared": (filter) => milvus(filter, FIELDS),
  "pgvector, declared": (filter) => pgvector(filter, { idColumn: "id", idKind: "integer", columns: COLUMNS, others: "payload", payloadIndex: true, first: 2 }),
  "weaviate, declared": (filter) => weaviate(filter, PROPERTIES),
};

/** What a compiler returns, or that it refuses; of several reasons any may come first. */
function outcome(compile: () => unknown): unknown {
  try {
    return compile();
  } catch (error) {
    if (!isBackendError(error)) throw error;
    return { refused: error.kind };
  }
}

/** As it travels: a whole number of JSON has one spelling. */
const plain = (native: unknown): unknown => JSON.parse(JSON.stringify({ native }));

const texts = fc.constantFrom("a", "it's", "", "\\", "x'; --", "7", "-12", "00000000-0000-4000-8000-00000000000a", "2024-01-02", "100%", "a b c", "$and", "__proto__", "]", "\u0000", "\ud800", " a", "0000-01-01", "ab%".repeat(50), "é_".repeat(50));
const numbers = fc.constantFrom(0, -0, 1, -3, 2.5, -2.5, 1e21, 2 ** 53, 5e-324, 9007199254740991, 0.1 + 0.2, Number.MAX_VALUE, 1.5e-30, 123456.789);

/** A filter with the same conditions and other values of the same kinds: most often of the same shape. */
function sibling(filter: Filter, random: (value: Scalar) => Scalar): Filter {
  if ("and" in filter) return { and: filter.and.map((part) => sibling(part, random)) };
  if ("or" in filter) return { or: filter.or.map((part) => sibling(part, random)) };
  const { value } = filter;
  return { ...filter, value: Array.isArray(value) ? (value as readonly Scalar[]).map(random) : random(value as Scalar) };
}

for (const [name, compile] of Object.entries(COMPILERS)) {
  test(`${name}: a template that another call has made, filled, is what the filter itself compiles to`, () => {
    fc.assert(fc.property(filters, fc.array(texts, { minLength: 8, maxLength: 8 }), fc.array(numbers, { minLength: 8, maxLength: 8 }), fc.boolean(), (filter, someTexts, someNumbers, isFixed) => {
      let next = 0;
      const other = sibling(filter, (value) => (typeof value === "string" ? (someTexts[next++ % 8] ?? "") : typeof value === "number" ? (someNumbers[next++ % 8] ?? 0) : value));
      // The guard of a plan stands before the values of the call.
      const guard: Condition = { path: "tenant", op: "eq", value: "acme", ...(isFixed ? { fixed: true } : {}) };
      const reads = new PreparedReads();
      for (const part of [other, filter, other]) {
        const whole: Filter = { and: [guard, part] };
        const prepared = outcome(() => reads.count({ collection: "c", filter: whole }, "", (shape) => compile(shape.filter as Shape)));
        assert.deepEqual(plain(prepared), plain(outcome(() => compile(whole as Shape))), JSON.stringify(whole));
      }
    }), { numRuns: 600 });
  });
}

test("a pattern that a store refuses is refused beside a condition that no record meets, as it is without a template", () => {
  for (const [name, value] of [["milvus, declared", "\\%"], ["weaviate, declared", "a*"], ["weaviate, declared", "a?"]] as const) {
    const compile = COMPILERS[name] ?? assert.fail(name);
    const filter: Filter = { and: [{ path: "kind", op: "like", value }, { path: "kind", op: "lt", value: 0 }] };
    const prepared = outcome(() => new PreparedReads().count({ collection: "c", filter }, "", (shape) => compile(shape.filter as Shape)));
    assert.deepEqual([prepared, prepared], [outcome(() => compile(filter as Shape)), { refused: "unsupported" }], name);
  }
});

test("filters with one shape have the same conditions, operators and kinds of values in the same places", () => {
  const keys = new Map<string, unknown>();
  fc.assert(fc.property(filters, (filter) => {
    const { key, isReusable } = splitFilter(filter);
    if (!isReusable) return;
    const known = keys.get(key);
    if (known === undefined) keys.set(key, sizes(splitFilter(filter).shape(0)));
    else assert.deepEqual(sizes(splitFilter(filter).shape(0)), known, key);
  }), { numRuns: 3_000 });
  assert.ok(keys.size > 100);
});

/** A shape with its holes as their kinds. */
function sizes(shape: Shape | null): unknown {
  if (shape === null) return null;
  if ("and" in shape) return ["and", ...shape.and.map(sizes)];
  if ("or" in shape) return ["or", ...shape.or.map(sizes)];
  const slot = (one: unknown): unknown => (one instanceof Hole ? [one.kind, one.isNegative, one.words, one.index] : one);
  return [shape.path, shape.op, shape.dtype, Array.isArray(shape.value) ? (shape.value as readonly unknown[]).map(slot) : slot(shape.value)];
}

const count = (reads: PreparedReads, filter: Filter | null): unknown => reads.count({ collection: "c", filter }, "", (shape) => (shape.filter === null ? "all" : qdrant(shape.filter)));
const is = (path: string, value: Operand, op: Condition["op"] = "eq"): Condition => ({ path, op, value });

test("a query is compiled once for calls that differ in values alone", () => {
  const reads = new PreparedReads();
  for (let n = 0; n < 50; n++) count(reads, { and: [{ ...is("tenant", "acme"), fixed: true }, is("name", `n${n}`), is("size", n, "gte")] });
  assert.equal(reads.compiled, 1);
});

test("an absent argument, another type and another length of a list are queries of their own", () => {
  const reads = new PreparedReads();
  const calls: readonly (Filter | null)[] = [null, is("a", "x"), is("a", 1), is("a", 1.5), is("a", true), is("a", false), is("a", null), is("a", ["x"], "in"), is("a", ["x", "y"], "in"), { and: [is("a", "x"), is("b", "y")] }, { or: [is("a", "x"), is("b", "y")] }];
  for (const filter of [...calls, ...calls]) count(reads, filter);
  assert.equal(reads.compiled, calls.length);
});

test("the queries that are kept are bounded, and so is a value that makes a query of its own", () => {
  const reads = new PreparedReads();
  for (let n = 0; n < 1_000; n++) count(reads, is(`f${n}`, "x"));
  count(reads, is("f999", "y"));
  assert.equal(reads.compiled, 1_000, "the latest are kept");
  count(reads, is("f0", "y"));
  assert.equal(reads.compiled, 1_001, "the oldest are not");
  for (let n = 0; n < 1_000; n++) count(reads, is("f999", ` ${n}`));
  count(reads, is("f999", "z"));
  assert.equal(reads.compiled, 2_001, "a value that is a part of its query pushes nothing out");
});

test("a path cannot be written so that it looks like another condition", () => {
  const one = splitFilter({ and: [is("a", "x"), is("b", "y")] }).key;
  for (const path of ["a;eq 1:b", "a t", "at)eq 1:b", "1:a", `a${one}`]) assert.notEqual(splitFilter({ and: [is(path, "x"), is("b", "y")] }).key, one);
  assert.notEqual(splitFilter(is("at", "x")).key, splitFilter(is("a", "tx")).key);
});

test("a value is never read as the text of a guard: the guard's values are in the key", () => {
  const guarded = (tenant: string): Filter => ({ and: [{ ...is("tenant", tenant), fixed: true }, is("a", "x")] });
  const reads = new PreparedReads();
  const natives = ["acme", "globex", 'acme";', "acme"].map((tenant) => JSON.stringify(count(reads, guarded(tenant))));
  assert.equal(new Set(natives).size, 3);
  assert.equal(natives[0], natives[3]);
});

test("a client cannot change what the next call sends: shared parts are frozen, parts with values are the call's own", () => {
  const reads = new PreparedReads();
  const filter: Filter = { and: [{ ...is("tenant", "acme"), fixed: true }, is("tags", ["x"], "contains_any")] };
  type Body = { must: { key: string; match: { any: string[]; value: string } }[] };
  const first = count(reads, filter) as Body;
  assert.throws(() => (first.must[0] as { match: { value: string } }).match.value = "globex", TypeError);
  first.must.pop();
  const second = count(reads, filter) as Body;
  assert.equal(JSON.stringify(second), JSON.stringify(qdrant(filter)));
});

test("a hole that is used as a value is an error and never a part of a query", () => {
  const hole = new Hole(0, "text");
  for (const use of [() => `${hole as unknown as string}`, () => String(hole), () => JSON.stringify({ hole }), () => (hole as unknown as number) < 1]) assert.throws(use, /before the call gave it/);
  assert.throws(() => JSON.stringify({ late: later(hole, String) }), /before the call gave it/);
  assert.throws(() => templateOf({ a: new Hole(3, "text") }).fill(["x"]), /more holes/);
});

test("a field named __proto__ stays a field", () => {
  const filter: Filter = { and: [is("__proto__", "x"), is("b", "y")] };
  const reads = new PreparedReads();
  const native = reads.count({ collection: "c", filter }, "", (shape) => DESCRIPTORS.pinecone.compileFilter(shape.filter as Filter)) as object;
  assert.equal(JSON.stringify(native), '{"$and":[{"__proto__":{"$eq":"x"}},{"b":{"$eq":"y"}}]}');
});

for (const [name, { load }] of Object.entries(DESCRIPTORS).filter(([name]) => name !== "sqlite")) {
  test(`${name}: explain shows the vector by its length, and everything else as it runs`, async () => {
    const { adapter } = await load();
    const shown = JSON.stringify(adapter.explain({ search: search({ and: [is("tenant", "acme"), is("size", 7, "gte")] }) }, { dsn: "postgres://x/y", url: "http://x", uri: "http://x" }));
    assert.match(shown, /<vector of 2>/);
    assert.match(shown, /acme/);
  });
}

test.run();
