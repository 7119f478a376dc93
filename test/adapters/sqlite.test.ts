import * as assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type BackendError, isBackendError } from "../../runtime/abi/errors.js";
import type { Filter } from "../../runtime/abi/filter.js";
import type { SearchRequest } from "../../runtime/adapters/adapter.js";
import { compileFilter } from "../../runtime/adapters/sqlite/filter.js";
import { sqliteError } from "../../runtime/adapters/sqlite/errors.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import type { ListRequest } from "../../runtime/adapters/sqlite/queries.js";
import { listSql } from "../../runtime/adapters/sqlite/reads.js";
import { Session } from "../../runtime/adapters/sqlite/session.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { suite } from "../lib/suite.js";
import { DIMS, fill, MODEL, never, record, scratch, storeOf } from "./store.js";

const test = suite("adapters/sqlite");
const { folder, remove } = scratch();
test.after(remove);

async function failure(promise: Promise<unknown>): Promise<BackendError> {
  const error = await promise.then(() => null, (reason: unknown) => reason);
  assert.ok(isBackendError(error), `expected a BackendError, got ${String(error)}`);
  return error;
}

function searchOf(text: string, more: Partial<SearchRequest> = {}): SearchRequest {
  return { collection: "things", vector: hashText(text, DIMS), text, mode: "dense", alpha: 0.5, filter: null, limit: 10, fields: null, embeddedBy: MODEL, ...more };
}

test("a missing file, another file and a folder each say what to do, without the path; the cause has it", async () => {
  writeFileSync(join(folder, "text.db"), "this is no database, but it is long enough to have a header of a hundred bytes, which SQLite reads first");
  mkdirSync(join(folder, "sub.db"));
  new Database(join(folder, "other.db")).exec("CREATE TABLE t(a)").close();
  const table: readonly (readonly [path: string, kind: string, message: RegExp])[] = [
    ["none.db", "not_found", /^the database does not exist; create it with: toolsrv load/],
    ["none/none.db", "not_found", /^the database does not exist/],
    ["text.db", "internal", /^the database is not a SQLite database/],
    ["sub.db", "not_found", /^the database is not a file/],
    ["other.db", "internal", /^the database was not written by toolsrv/],
    ["", "unsupported", /has no path/],
  ];
  for (const [path, kind, message] of table) {
    const error = await failure(sqlite.open({ path }, { base: folder }));
    assert.equal(error.kind, kind, path);
    assert.match(error.message, message);
    // The path may come from the environment: the log may have it, callers may not.
    assert.ok(path === "" || !error.message.includes(path.replace(/\.db$/, "")), "no path");
    if (path !== "") assert.match(String((error.cause as Error).message), new RegExp(`'${path}'`));
    assert.equal(existsSync(join(folder, "none.db")), false, "reading creates no file");
  }
});

test("a native module for another Node says npm rebuild, and trying again never helps", () => {
  writeFileSync(join(folder, "bogus.node"), "no shared object");
  let thrown: unknown = null;
  try {
    new Database(":memory:", { nativeBinding: join(folder, "bogus.node") });
  } catch (error) {
    thrown = error;
  }
  for (const cause of [thrown, new Error("Could not locate the bindings file. Tried:\n → /some/where/build/better_sqlite3.node")]) {
    const error = sqliteError(cause, "store.db");
    assert.ok(isBackendError(error));
    assert.equal(error.kind, "setup");
    assert.match(error.message, /^the compiled part of better-sqlite3 does not load on Node \S+; run: npm rebuild better-sqlite3$/);
  }
});

test("a file of another format is refused, also one written before instants were stored", async () => {
  const other = scratch();
  await fill(other.folder, [record("1", { a: 1 })]);
  const db = new Database(join(other.folder, "store.db"));
  db.pragma("user_version = 99");
  db.close();
  assert.match((await failure(sqlite.open({ path: "store.db" }, { base: other.folder }))).message, /has format 99, this toolsrv reads format 3; remove the file and load it again/);
  other.remove();
});

test("a missing collection is named; those there are stand in the cause, which only the log shows", async () => {
  const store = await storeOf(folder, [record("1", { a: 1 })]);
  const error = await failure(store.count("thing", null, never));
  assert.equal(error.kind, "not_found");
  assert.equal(error.message, "there is no collection 'thing'; fill it with toolsrv load");
  assert.equal((error.cause as Error).message, "the database has 'things'");
  assert.equal(await store.describe("thing", never), null);
  assert.deepEqual(await store.collections(never), ["things"]);
  await store.health(never);
  await store.close();
});

test("the file stays as it is: nothing can be written through the adapter", async () => {
  const own = scratch();
  const store = await storeOf(own.folder, [record("1", { a: 1 }, "one")]);
  const file = join(own.folder, "store.db");
  const before = readFileSync(file);
  chmodSync(file, 0o444);
  await store.search(searchOf("one"), never);
  await store.count("things", { path: "a", op: "eq", value: 1 }, never);
  await store.close();
  assert.ok(before.equals(readFileSync(file)));
  assert.equal(statSync(file).size, before.length);
  assert.deepEqual(Object.getOwnPropertyNames(Object.getPrototypeOf(store)).filter((name) => /insert|upsert|update|delete|drop|write|exec/i.test(name)), []);
  own.remove();
});

test("no text of a caller becomes SQL, in values or in paths", async () => {
  const hostile = ["x' OR '1'='1", '"; DROP TABLE "things/fields"; --', "\\", "%' ESCAPE '", "a\0b", "'", '"', "]]", "${x}", "?", ":a"];
  const store = await storeOf(folder, hostile.filter((text) => !text.includes("\0")).map((name, index) => record(String(index), { name })), "hostile");
  for (const value of hostile) {
    const expected = value.includes("\0") ? 0 : 1;
    for (const op of ["eq", "like"] as const) {
      const operand = op === "like" ? value.replace(/[\\%_]/g, "\\$&") : value;
      assert.equal(await store.count("hostile", { path: "name", op, value: operand }, never), expected, `${op} ${value}`);
    }
    assert.equal(await store.count("hostile", { path: "name", op: "in", value: [value] }, never), expected);
    await store.count("hostile", { path: "name", op: "text_match", value }, never);
    await store.search(searchOf(value, { collection: "hostile", mode: "hybrid" }), never);
    const bad = await failure(store.count("hostile", { path: value, op: "eq", value: 1 }, never));
    assert.match(bad.message, /cannot filter on the path/);
    assert.equal((await failure(store.count(value, null, never))).kind, "not_found");
  }
  assert.equal(await store.count("hostile", null, never), hostile.length - 1);
  await store.close();
});

test("a path that no record has is missing everywhere", async () => {
  const store = await storeOf(folder, [record("1", { a: 1 })], "sparse");
  assert.equal(await store.count("sparse", { path: "b", op: "ne", value: 1 }, never), 1);
  assert.equal(await store.count("sparse", { path: "b.c.d", op: "exists", value: true }, never), 0);
  await store.close();
});

test("values go into parameters, the shape of the filter into the text", () => {
  const filter: Filter = { and: [{ path: "genre", op: "in", value: ["a", true] }, { or: [{ path: "profile.Region", op: "gte", value: "x" }, { path: "id", op: "eq", value: 7 }] }] };
  const { sql, params } = compileFilter(filter, { name: "movies", paths: null });
  assert.ok(sql.includes(`f."profile.^region" >= ? AND f."profile.^region" < x''`));
  assert.ok(sql.includes(`f."@id" = ?`));
  assert.deepEqual(params, ["a", `["a",true]`, "x", "7"]);
});

test("a read is compiled once for calls that differ in values alone, and the open store explains what it runs", async () => {
  const store = await storeOf(folder, [record("1", { kind: "a", size: 1 }), record("2", { kind: "b", size: 2 })], "compiled");
  const session = await Session.open({ file: join(folder, "store.db"), name: "store.db", load: "" });
  const collection = session.collections.get("compiled");
  const read = (kind: string): ListRequest => ({ fetch: { collection: "compiled", filter: { and: [{ path: "kind", op: "eq", value: kind }, { path: "absent", op: "ne", value: kind }] }, limit: 3, offset: 0, fields: null } });
  const statements = ["a", "b", "c"].map((kind) => listSql(session, read(kind)));
  assert.equal(collection.reads.compiled, 1);
  assert.deepEqual(new Set(statements.map(({ sql }) => sql)).size, 1);
  assert.deepEqual(statements.map(({ params }) => params), ["a", "b", "c"].map((kind) => [kind, kind, 3, 0]));
  await store.count("compiled", null, never);
  assert.deepEqual(store.explain?.(read("b")), statements[1], "with the columns that the file has");
  assert.match(String(statements[1]?.sql), /\(NULL IS NOT \?\)/);
  session.close();
  await store.close();
});

test("explain of a hybrid search has the number of candidates that both rankings give", () => {
  const request = searchOf("two words", { mode: "hybrid", limit: 3 });
  const { dense, words } = sqlite.explain({ search: request }, {}) as { readonly [half: string]: { readonly params: readonly unknown[] } };
  assert.deepEqual(dense?.params, ["<vector of 256>", 100]);
  assert.deepEqual(words?.params, [`{text} : ("two" OR "words")`, 100]);
});

test("explain shows the statement that search runs, without the vector", () => {
  const { embeddedBy: _, ...request } = searchOf("x", { filter: { path: "a", op: "eq", value: 1 }, limit: 3 });
  assert.deepEqual(sqlite.explain({ search: request }, {}), {
    sql: [
      `SELECT v."@row" AS "row", v."@id" AS "id", ifnull(1 - vec_distance_cosine(v."vector", ?), 0) AS "score"`,
      `FROM "things/fields" f CROSS JOIN "things/vectors" v ON v."@row" = f."@row"`,
      `WHERE f."a" = ?`,
      `ORDER BY "score" DESC, "id" LIMIT ?`,
    ].join("\n"),
    params: ["<vector of 256>", 1, 3],
  });
});

test("a query of another model or length is refused, even where the lengths agree", async () => {
  const store = await storeOf(folder, [record("1", { a: 1 })]);
  for (const more of [{ vector: new Float32Array(512) }, { embeddedBy: "hosted/other" }]) {
    const error = await failure(store.search(searchOf("x", more), never));
    assert.match(error.message, /was embedded by local\/hashing-256 \(256 dimensions\).*load it again with --replace/);
  }
  await store.close();
});

test("hybrid finds what either half finds, and the best of both scores one", async () => {
  const texts = ["quick red fox", "lazy dog", "the fox and the hound", "zebra"];
  const store = await storeOf(folder, texts.map((text, index) => record(`r${index}`, { text }, text)), "hybrid");
  const found = await store.search(searchOf("red fox", { collection: "hybrid", mode: "hybrid", limit: 2 }), never);
  assert.deepEqual(found.rows.map((row) => [row["_id"], row["_score"]]), [["r0", 1], ["r2", 0.983871]]);
  const words = await store.search(searchOf("hound", { collection: "hybrid", mode: "hybrid", alpha: 0, limit: 1 }), never);
  assert.equal(words.rows[0]?.["_id"], "r2");
  const filtered = await store.search(searchOf("red fox", { collection: "hybrid", mode: "hybrid", filter: { path: "text", op: "ne", value: "quick red fox" } }), never);
  assert.ok(filtered.rows.every((row) => row["_id"] !== "r0"));
  await store.close();
});

test("describe names types, nulls and indexes from all records", async () => {
  const own = scratch();
  const rows = [
    { n: 1, f: 1.5, s: "a", b: true, d: "2024-01-02", tags: ["x"], deep: { Key: "v" }, mixed: 1, gone: null },
    { n: 2, f: 2, s: "b", b: false, d: "2024-05-06T10:00:00Z", tags: [], deep: { Key: "w" }, mixed: "x", gone: null },
  ];
  await fill(own.folder, rows.map((row, index) => record(String(index), row)), "typed", [["s"], ["deep.Key"]]);
  const store = await sqlite.open({ path: "store.db" }, { base: own.folder });
  const info = await store.describe("typed", never);
  assert.deepEqual([info?.count, info?.dims, info?.sparse], [2, DIMS, true]);
  assert.deepEqual(
    Object.fromEntries((info?.fields ?? []).map(({ path, dtype, nullable, indexed }) => [path, [dtype, nullable, indexed]])),
    {
      b: ["boolean", false, false], d: ["datetime", false, false], deep: ["unknown", false, false], "deep.Key": ["keyword", false, true], f: ["float", false, false],
      gone: ["unknown", true, false], mixed: ["unknown", false, false], n: ["integer", false, false], s: ["keyword", false, true], tags: ["keyword[]", false, false],
    },
  );
  await store.close();
  own.remove();
});

test("a collection that grows while it is served is seen with its new fields", async () => {
  const own = scratch();
  const store = await storeOf(own.folder, [record("1", { a: 1 })]);
  assert.equal(await store.count("things", { path: "b", op: "eq", value: 1 }, never), 0);
  await fill(own.folder, [record("2", { b: 1 })]);
  assert.equal(await store.count("things", { path: "b", op: "eq", value: 1 }, never), 1);
  await store.close();
  own.remove();
});

test("a locked file is waited for, and an error when it stays locked", async () => {
  const own = scratch();
  const store = await storeOf(own.folder, [record("1", { a: 1 })]);
  const writer = new Database(join(own.folder, "store.db"));
  writer.exec("BEGIN EXCLUSIVE");
  const waiting = store.count("things", null, never);
  setImmediate(() => writer.exec("COMMIT"));
  assert.equal(await waiting, 1);
  writer.exec("BEGIN EXCLUSIVE");
  const client = new AbortController();
  const given = store.count("things", null, client.signal);
  setImmediate(() => client.abort(new Error("enough")));
  await assert.rejects(given, /enough|aborted/);
  const error = await failure(store.count("things", null, never));
  assert.deepEqual([error.kind, error.message], ["busy", "the database is locked by another process; try again"]);
  writer.close();
  await store.close();
  own.remove();
});

test.run();
