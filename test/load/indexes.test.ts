/** The indexes of the embedded store: which ones a catalog needs, how load makes them, and that queries use them. */
import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { compile } from "../../generator/compile.js";
import { wantedIndexes } from "../../generator/load/indexes.js";
import { Writer } from "../../generator/load/writer.js";
import { type Condition, evaluate, type Filter, type Row } from "../../runtime/abi/filter.js";
import { prepareConnection } from "../../runtime/adapters/sqlite/database.js";
import { compileFilter } from "../../runtime/adapters/sqlite/filter.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import { indexKey, type IndexSpec, readIndexes } from "../../runtime/adapters/sqlite/indexes.js";
import { listIndexPath } from "../../runtime/adapters/sqlite/layout.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { DIMS, fill, MODEL, never, record, scratch } from "../adapters/store.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("load/indexes");

const catalogOf = (tools: string): string => `tds_version: '2'
connections:
  store: { backend: sqlite, path: ./store.db }
defaults: { embedding: local/hashing-256 }
tools:
${tools}`;

const tool = (name: string, rest: string, kind = "scroll"): string => `  - name: ${name}
    kind: ${kind}
    description: Things of the store, for the tests of its indexes and nothing else.
    target: { connection: store, collection: things }
${rest}`;

function wanted(tools: string): readonly string[] {
  const { value, diagnostics } = compile({ path: "t.yaml", text: catalogOf(tools) }, {});
  assert.ok(value !== null, JSON.stringify(diagnostics));
  return wantedIndexes(value.plans, "store", "things").map(({ spec }) => indexKey(spec));
}

test("a guard, a tenant and each parameter of a tool are fields of an index, what is fixed first", () => {
  const table: readonly (readonly [what: string, tools: string, want: readonly string[]])[] = [
    ["nothing filtered", tool("all", ""), []],
    ["a guard", tool("mine", "    static_filters: [{ path: owner, value: me }]\n"), ["owner"]],
    ["a parameter", tool("by_size", "    parameters: [{ name: min_size, path: size, dtype: integer, op: gte }]\n"), ["size"]],
    ["guard and parameters", tool("mine", "    static_filters: [{ path: owner, value: me }]\n    parameters:\n      - { name: kind, path: kind }\n      - { name: since, path: made, dtype: datetime, op: gte }\n"), ["owner", "owner,kind", "owner,made@"]],
    ["a required parameter is fixed", tool("one", "    parameters: [{ name: kind, path: kind, required: true }, { name: min_size, path: size, dtype: integer, op: gte }]\n"), ["kind", "kind,size"]],
    ["a list", tool("tagged", "    parameters: [{ name: tags, path: tags, dtype: 'keyword[]', op: contains_any }]\n"), ["tags[]"]],
    ["what no index serves", tool("others", "    parameters: [{ name: title, path: title, op: like }, { name: other, path: kind, op: ne }, { name: id, path: id }]\n"), []],
    ["twice the same", tool("find_a", "    parameters: [{ name: kind, path: kind }]\n") + tool("find_b", "    parameters: [{ name: kind, path: kind }]\n", "count"), ["kind"]],
  ];
  for (const [what, tools, want] of table) assert.deepEqual(wanted(tools), want, what);
});

test("another collection's tools need no index of this one", () => {
  const other = tool("find_a", "    parameters: [{ name: kind, path: kind }]\n").replace("collection: things", "collection: others");
  assert.deepEqual(wanted(other), []);
});

function keysOf(folder: string, collection = "things"): readonly string[] {
  const db = new Database(join(folder, "store.db"), { readonly: true });
  const found = readIndexes((sql, params) => db.prepare(sql).all(...params), collection);
  db.close();
  return found.filter(({ isCurrent }) => isCurrent).map(({ spec }) => indexKey(spec));
}

const things = [
  { owner: "a", kind: "x", tags: ["red", 1, true, null, ["red"]] }, { owner: "b", kind: "y", tags: "red" }, { owner: "a", kind: "x", tags: ["1", "red", "red"] }, { owner: "b", tags: [] },
].map((payload, index) => record(String(index), payload as Row));

test("a load makes the indexes whose fields exist, keeps them, and drops those that no tool needs", async () => {
  const { folder, remove } = scratch();
  await fill(folder, things, "things", [["owner"], ["owner", "kind"], ["tags[]"], ["absent"], ["owner", "absent"]]);
  assert.deepEqual(keysOf(folder), ["owner", "owner,kind", "tags[]"]);
  await fill(folder, [], "things", [["owner", "kind"], ["kind"]]);
  assert.deepEqual(keysOf(folder), ["kind", "owner,kind"]);
  const db = new Database(join(folder, "store.db"), { readonly: true });
  assert.deepEqual(db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' OR name LIKE '%tags%'").all(), []);
  db.close();
  remove();
});

test("a load leaves statistics of the indexes, and no samples of single values", async () => {
  const { folder, remove } = scratch();
  await fill(folder, things, "things", [["owner"]]);
  const db = new Database(join(folder, "store.db"));
  const rowsOf = (table: string): number => Number(db.prepare(`SELECT count(*) FROM ${table} WHERE tbl = 'things/fields'`).pluck().get());
  db.exec("ANALYZE");
  assert.ok(rowsOf("sqlite_stat4") > 0, "ANALYZE without a limit takes samples");
  await fill(folder, things, "things", [["kind"]]);
  assert.ok(rowsOf("sqlite_stat1") > 0);
  assert.equal(rowsOf("sqlite_stat4"), 0);
  db.close();
  remove();
});

test("an index of a version before, without the record id, is made anew", async () => {
  const { folder, remove } = scratch();
  await fill(folder, things);
  const db = new Database(join(folder, "store.db"));
  db.exec(`CREATE INDEX "things/fields:owner" ON "things/fields"("owner")`);
  db.close();
  assert.deepEqual(keysOf(folder), []);
  await fill(folder, [], "things", [["owner"]]);
  assert.deepEqual(keysOf(folder), ["owner"]);
  remove();
});

const TAGS: readonly Condition[] = [
  ...["red", 1, "1", true, "true", null, "null", "[]", "blue"].flatMap((value): Condition[] => [{ path: "tags", op: "in", value: [value] }, { path: "tags", op: "contains_any", value: [value] }, { path: "tags", op: "nin", value: [value] }]),
  { path: "tags", op: "contains_all", value: ["red", 1] }, { path: "tags", op: "contains_all", value: ["red", "1"] }, { path: "tags", op: "contains_any", value: [] }, { path: "tags", op: "contains_all", value: [] },
];

async function assertSame(folder: string, rows: readonly Row[]): Promise<void> {
  const store = await sqlite.open({ path: "store.db" }, { base: folder });
  for (const filter of TAGS) {
    const found = await store.fetch({ collection: "things", filter, limit: 100, offset: 0, fields: null }, never);
    assert.deepEqual(found.rows.map((row) => row["_id"]), rows.filter((row) => evaluate(filter, row)).map((row) => row["_id"]), JSON.stringify(filter));
  }
  await store.close();
}

const withIds = (records: typeof things): readonly Row[] => records.map(({ id, record: payload }) => ({ ...payload, _id: id }));

test("the index of a list follows records that are added, changed and replaced", async () => {
  const { folder, remove } = scratch();
  const indexes: readonly IndexSpec[] = [["tags[]"]];
  await fill(folder, things, "things", indexes);
  await assertSame(folder, withIds(things));
  const changed = [record("1", { tags: ["blue", "red"] }), record("2", { tags: "blue" }), record("4", { tags: [1, "blue"] })];
  await fill(folder, changed, "things", indexes);
  await assertSame(folder, withIds([things[0]!, changed[0]!, changed[1]!, things[3]!, changed[2]!]));
  const writer = await Writer.open({ file: join(folder, "store.db"), collection: "things", embedding: { embeddedBy: MODEL, dims: DIMS, text: "" }, replace: true, indexes });
  writer.write(changed.map((one) => ({ ...one, vector: hashText(one.text, DIMS) })));
  writer.finish();
  writer.close();
  assert.deepEqual(keysOf(folder), ["tags[]"]);
  await assertSame(folder, withIds(changed));
  await fill(folder, [record("2", { tags: ["1", true] })], "things", indexes);
  await assertSame(folder, withIds([changed[0]!, record("2", { tags: ["1", true] }), changed[2]!]));
  remove();
});

test("the table of a list that no trigger keeps complete is not read, and the next load makes it anew", async () => {
  const { folder, remove } = scratch();
  await fill(folder, things, "things", [["tags[]"]]);
  const db = new Database(join(folder, "store.db"));
  db.exec(`DROP TRIGGER "things/fields:tags[]+"; DELETE FROM "things/fields:tags[]"`);
  db.close();
  assert.deepEqual(keysOf(folder), []);
  await assertSame(folder, withIds(things));
  await fill(folder, [], "things", [["tags[]"]]);
  assert.deepEqual(keysOf(folder), ["tags[]"]);
  await assertSame(folder, withIds(things));
  remove();
});

test("a replacement that is given up leaves no index behind", async () => {
  const { folder, remove } = scratch();
  await fill(folder, things, "things", [["tags[]"], ["owner"]]);
  const writer = await Writer.open({ file: join(folder, "store.db"), collection: "things", embedding: { embeddedBy: MODEL, dims: DIMS, text: "" }, replace: true, indexes: [["tags[]"]] });
  writer.write(things.map((one) => ({ ...one, vector: hashText(one.text, DIMS) })));
  writer.abandon();
  writer.close();
  const db = new Database(join(folder, "store.db"), { readonly: true });
  assert.deepEqual(db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%replace%'").all(), []);
  db.close();
  assert.deepEqual(keysOf(folder), ["owner", "tags[]"]);
  remove();
});

test("comparisons of equality, order, sets, null and lists read an index", async () => {
  const { folder, remove } = scratch();
  const rows = Array.from({ length: 2_000 }, (_, n) => record(String(n), { n, kind: `k${n % 500}`, flag: n % 400 === 0, made: `2024-01-${String((n % 28) + 1).padStart(2, "0")}T00:00:00Z`, tags: [`t${n % 300}`], mixed: n % 2 === 0 ? [`t${n % 300}`] : `t${n % 300}`, rare: n % 900 === 0 ? null : n }));
  const paths = ["n", "kind", "flag", "made@", "rare", "mixed", "tags[]", "mixed[]"];
  await fill(folder, rows, "things", paths.map((path) => [path]));
  const known = new Set([...paths, "made", "tags", listIndexPath("tags"), listIndexPath("mixed")]);
  const conditions: readonly Condition[] = [
    { path: "n", op: "eq", value: 3 }, { path: "n", op: "gt", value: 1990 }, { path: "n", op: "gte", value: 1990 }, { path: "n", op: "lt", value: 9 }, { path: "n", op: "lte", value: 9 },
    { path: "kind", op: "in", value: ["k1", "k2"] }, { path: "kind", op: "in", value: Array.from({ length: 20 }, (_, n) => `k${n}`) }, { path: "kind", op: "lt", value: "k1" },
    { path: "flag", op: "eq", value: true }, { path: "rare", op: "is_null", value: true }, { path: "made", op: "eq", value: "2024-01-02T01:00:00+01:00", dtype: "datetime" },
    { path: "made", op: "gte", value: "2024-01-28", dtype: "datetime" }, { path: "tags", op: "contains_any", value: ["t1"] }, { path: "tags", op: "contains_all", value: ["t1"] }, { path: "mixed", op: "in", value: ["t1"] },
    { path: "id", op: "eq", value: "7" },
  ];
  const db = new Database(join(folder, "store.db"), { readonly: true });
  prepareConnection(db);
  for (const condition of conditions) {
    const { sql, params } = compileFilter(condition, { name: "things", paths: known });
    const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT count(*) FROM "things/fields" f WHERE ${sql}`).all(...params) as { detail: string }[];
    const details = plan.map(({ detail }) => detail).join("; ");
    assert.match(details, /SEARCH f USING/, `${JSON.stringify(condition)}: ${details}`);
    assert.doesNotMatch(details, /SCAN f/, `${JSON.stringify(condition)}: ${details}`);
  }
  db.close();
  const store = await sqlite.open({ path: "store.db" }, { base: folder });
  for (const condition of conditions) {
    const filter: Filter = condition;
    assert.equal(await store.count("things", filter, never), rows.filter(({ id, record: payload }) => evaluate(filter, { ...payload, _id: id })).length, JSON.stringify(filter));
  }
  await store.close();
  remove();
});

test("a list under a guard and a parameter reads one index, in its own order", async () => {
  const { folder, remove } = scratch();
  await fill(folder, Array.from({ length: 500 }, (_, n) => record(String(n), { owner: `o${n % 5}`, kind: `k${n % 10}` })), "things", [["owner"], ["owner", "kind"]]);
  const db = new Database(join(folder, "store.db"), { readonly: true });
  const { sql, params } = compileFilter({ and: [{ path: "owner", op: "eq", value: "o1" }, { path: "kind", op: "eq", value: "k1" }] }, { name: "things", paths: new Set(["owner", "kind"]) });
  const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT f."@row" FROM "things/fields" f WHERE ${sql} ORDER BY f."@id" LIMIT 10`).all(...params) as { detail: string }[];
  assert.deepEqual(plan.map(({ detail }) => detail), [`SEARCH f USING COVERING INDEX things/fields:owner,kind,@id (owner=? AND kind=?)`]);
  db.close();
  remove();
});

test("after a change of the catalog, validate --live notes the index that is missing and load --reindex makes it", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "toolsrv-reindex-"));
  const toolsrv = async (...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
    const io = memoryIo({ cwd });
    return { code: await run(args, io), out: io.out(), err: io.err() };
  };
  const write = (parameter: string): void => writeFileSync(join(cwd, "tools.yaml"), catalogOf(tool("find", `    parameters: [{ name: ${parameter}, path: ${parameter} }]\n`)));
  const names = ["--connection", "store", "--collection", "things"];
  writeFileSync(join(cwd, "rows.jsonl"), '{"id":"1","kind":"a","owner":"b"}\n');
  write("kind");
  assert.equal((await toolsrv("load", "tools.yaml", "rows.jsonl", ...names)).code, EXIT.OK);
  assert.doesNotMatch((await toolsrv("validate", "tools.yaml", "--live")).err, /TS0255/);
  write("owner");
  const noted = await toolsrv("validate", "tools.yaml", "--live");
  assert.equal(noted.code, EXIT.OK);
  assert.match(noted.err, /TS0255[^\n]*: collection 'things' has no index on 'owner': every row is compared\n[^]*run `toolsrv load tools\.yaml --connection store --collection things --reindex`/);
  const made = await toolsrv("load", "tools.yaml", ...names, "--reindex");
  assert.match(made.out, /^indexes of collection things in \.\/store\.db: 1 made \(owner\), 1 dropped \(kind\), 0 kept, \d+\.\d s\n$/, made.err);
  assert.doesNotMatch((await toolsrv("validate", "tools.yaml", "--live")).err, /TS0255/);
  const table: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [[...names], /give the FILE to load, or --reindex/],
    [["rows.jsonl", ...names, "--reindex"], /--reindex takes no FILE/],
    [[...names, "--reindex", "--replace"], /--replace has no meaning/],
    [["--connection", "store", "--collection", "none", "--reindex"], /the file has no collection 'none'; load it first/],
  ];
  for (const [words, message] of table) {
    const { code, err } = await toolsrv("load", "tools.yaml", ...words);
    assert.equal(code, EXIT.USAGE, words.join(" "));
    assert.match(err, message);
  }
  rmSync(join(cwd, "store.db"));
  const gone = await toolsrv("load", "tools.yaml", ...names, "--reindex");
  assert.equal(gone.code, EXIT.USAGE);
  assert.equal(gone.err, "toolsrv load: the database does not exist; create it with: toolsrv load tools.yaml FILE --connection store --collection NAME\n");
  rmSync(cwd, { recursive: true });
});

test.run();
