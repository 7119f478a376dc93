/** What counts as drift, and what each change means for the tools of a catalog. */
import assert from "node:assert/strict";
import { analyze } from "../../generator/compile.js";
import { driftReport, driftText } from "../../generator/schema/drift.js";
import type { SchemaCollection, SchemaExport, SchemaField } from "../../generator/schema/export.js";
import { usesOf } from "../../generator/schema/uses.js";
import { suite } from "../lib/suite.js";

const test = suite("schema/drift");

const CATALOG = (backend: string): string => `tds_version: '2'
connections:
  main: { backend: ${backend}${backend === "sqlite" ? ", path: a.db" : ", url: 'http://localhost:6333'"} }
  other: { backend: sqlite, path: b.db }
defaults: { embedding: local/hashing-256 }
security: { tenancy: { mode: claim, claim: org, path: org } }
tools:
  - name: find
    kind: search
    description: Find the things of the store by their texts.
    target: { connection: main, collection: things }
    query: { param: query }
    static_filters: [{ path: live, value: true }]
    parameters: [{ name: min, path: size, dtype: integer, op: gte }]
    output: { fields: [title, meta.color], redact: [{ path: owner, mode: omit }] }
  - name: newest
    kind: pipeline
    description: The newest things of the store, one for each kind.
    steps:
      - retrieve: { target: { connection: main, collection: things }, query: { param: query } }
      - post_filter: { expr: "weight > 3" }
      - sort: { by: made, desc: true }
  - name: elsewhere
    kind: count
    description: Count the things of another store entirely.
    target: { connection: other, collection: things }
`;

const field = (path: string, dtype: SchemaField["dtype"] = "keyword", indexed = false): SchemaField => ({ path, dtype, null_rate: 0, enum: null, examples: [], provenance: "native", nullable: true, indexed });
const things = (over: Partial<SchemaCollection> = {}): SchemaCollection => ({
  name: "things", sampled_n: 1, introspection: "typed", vector: { sparse: true, dim: 256 },
  fields: [field("live", "boolean", true), field("made", "datetime"), field("meta.color"), field("org"), field("owner"), field("size", "integer", true), field("title"), field("weight", "float")],
  native: { dim: 256, sparse: true, embedded_by: "local/hashing-256", indexed_paths: {} }, ...over,
});
const schema = (...collections: readonly SchemaCollection[]): SchemaExport => ({ connection: "main", backend: "sqlite", redacted: false, collections });

function report(before: SchemaExport, after: SchemaExport, backend = "sqlite") {
  const { resolved } = analyze({ path: "tools.yaml", text: CATALOG(backend) }, { target: "validate" });
  assert.ok(resolved);
  return driftReport(before, after, usesOf(resolved), "schema.json");
}

/** `tool: effect` of every effect. */
const effects = ({ affected_tools: tools }: ReturnType<typeof report>): readonly string[] => tools.flatMap(({ tool, effects: own }) => own.map(({ effect, path }) => `${tool} ${effect} ${path ?? "-"}`));
const without = (path: string): SchemaCollection => things({ fields: things().fields.filter((one) => one.path !== path) });
const changed = (path: string, over: Partial<SchemaField>): SchemaCollection => things({ fields: things().fields.map((one) => (one.path === path ? { ...one, ...over } : one)) });

test("the same schema is no drift, and neither is another sample of it", () => {
  const { has_drift: drifted, affected_tools: tools } = report(schema(things()), schema(changed("title", { null_rate: 0.5, enum: ["a"], examples: ["b"], nullable: false })));
  assert.deepEqual([drifted, tools], [false, []]);
});

test("an added field is drift that affects no tool", () => {
  const { added, has_drift: drifted, affected_tools: tools } = report(schema(without("title")), schema(things()));
  assert.deepEqual([added, drifted, tools], [[{ collection: "things", path: "title", dtype: "keyword" }], true, []]);
});

const GONE: readonly (readonly [path: string, effects: readonly string[]])[] = [
  ["live", ["find fails live"]], ["org", ["find fails org", "newest fails org"]], ["size", ["find fails size"]], ["title", ["find changes title"]],
  ["meta.color", ["find changes meta.color"]], ["owner", ["find changes owner"]], ["weight", ["newest fails weight"]], ["made", ["newest fails made"]],
];

for (const [path, want] of GONE) {
  test(`a schema without '${path}' names the tools that use it`, () => {
    const found = report(schema(things()), schema(without(path)));
    assert.deepEqual([found.removed, effects(found)], [[{ collection: "things", path, dtype: things().fields.find((one) => one.path === path)?.dtype }], want]);
  });
}

test("another type fails the arguments that can no longer equal it, and changes the others", () => {
  assert.deepEqual(effects(report(schema(things()), schema(changed("size", { dtype: "keyword" })))), ["find fails size"]);
  assert.deepEqual(effects(report(schema(things()), schema(changed("size", { dtype: "float" })))), ["find changes size"]);
  assert.deepEqual(report(schema(things()), schema(changed("size", { dtype: "float" }))).type_changed, [{ collection: "things", path: "size", before: "integer", after: "float" }]);
});

test("a lost index is slower, and fails where the store needs one to filter", () => {
  assert.deepEqual(effects(report(schema(things()), schema(changed("live", { indexed: false })))), ["find slower live"]);
  assert.deepEqual(effects(report(schema(things()), schema(changed("live", { indexed: false })), "qdrant")), ["find fails live"]);
  assert.deepEqual(report(schema(changed("live", { indexed: false })), schema(things())).has_drift, false, "a new index is none");
});

test("another vector length or another model fails every search", () => {
  assert.deepEqual(effects(report(schema(things()), schema(things({ vector: { sparse: true, dim: 512 } })))), ["find fails -", "newest fails -"]);
  const native = { dim: 256, sparse: true, embedded_by: "local/other", indexed_paths: {} };
  const found = report(schema(things()), schema(things({ native })));
  assert.deepEqual(found.vector_changed, [{ collection: "things", what: "embedded_by", before: "local/hashing-256", after: "local/other" }]);
  assert.deepEqual(effects(found), ["find fails -", "newest fails -"]);
});

test("an export that does not know a fact about vectors makes no drift of it", () => {
  assert.equal(report(schema(things({ native: null, vector: { sparse: true, dim: null } })), schema(things())).has_drift, false);
});

test("a collection that is gone fails its tools once, and one of another connection is not meant", () => {
  const found = report(schema(things()), schema());
  assert.deepEqual([found.collections_removed, effects(found)], [["things"], ["find fails -", "newest fails -"]]);
});

test("collections that a partial export did not ask for are no drift", () => {
  const more = things({ name: "more" });
  assert.deepEqual(report(schema(things()), schema(more, things())).collections_added, ["more"]);
  assert.equal(report({ ...schema(things()), partial: true }, schema(more, things())).has_drift, false);
});

test("a field's name cannot write to the terminal, nor look like another", () => {
  const text = driftText(report(schema(things()), schema(things({ fields: [...things().fields, field("a\u001b[2Jb"), field("c\u202ed\nfails")] }))));
  assert.match(text, /\+ things\.a\\u\{001B\}\[2Jb \(keyword\)\n\+ things\.c\\u\{202E\}d\\u\{000A\}fails \(keyword\)\n/);
});

test.run();
