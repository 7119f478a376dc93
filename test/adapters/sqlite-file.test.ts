/** What happens to the file of an embedded store while it is served: it is replaced, or its load is killed. */
import * as assert from "node:assert/strict";
import { copyFileSync, existsSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { isBackendError } from "../../runtime/abi/errors.js";
import { sqliteError } from "../../runtime/adapters/sqlite/errors.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { suite } from "../lib/suite.js";
import { DIMS, fill, MODEL, never, record, scratch, storeOf } from "./store.js";

const test = suite("adapters/sqlite file");

const list = async (store: Adapter): Promise<readonly unknown[]> => (await store.fetch({ collection: "things", filter: null, limit: 9, offset: 0, fields: null }, never)).rows.map((row) => row["_id"]);
const search = async (store: Adapter): Promise<readonly unknown[]> =>
  (await store.search({ collection: "things", vector: hashText("a", DIMS), text: "a", mode: "dense", alpha: 0.5, filter: { path: "name", op: "like", value: "%" }, limit: 9, fields: null, embeddedBy: MODEL }, never)).rows.map((row) => row["_id"]);

/** Reads until they return `wanted`; the store looks for another file now and then. */
async function until(read: () => Promise<unknown>, wanted: unknown): Promise<void> {
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await read();
    if (JSON.stringify(found) === JSON.stringify(wanted)) return;
    assert.ok(Date.now() < end, `still ${JSON.stringify(found)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a file that takes the place of the one that is served is read, by lists, counts and searches", async () => {
  const [own, other] = [scratch(), scratch()];
  const store = await storeOf(own.folder, [record("old", { name: "a" })]);
  await fill(other.folder, [record("new 1", { name: "a", more: 1 }), record("new 2", { name: "b" })]);
  assert.deepEqual([await list(store), await search(store)], [["old"], ["old"]]);
  renameSync(join(other.folder, "store.db"), join(own.folder, "store.db"));
  await until(() => list(store), ["new 1", "new 2"]);
  assert.deepEqual((await search(store)).slice().sort(), ["new 1", "new 2"]);
  assert.equal(await store.count("things", { path: "more", op: "eq", value: 1 }, never), 1);
  await store.health(never);
  await store.close();
  own.remove();
  other.remove();
});

test("while the new file cannot be read, the old rows are served and health says why", async () => {
  const own = scratch();
  const store = await storeOf(own.folder, [record("old", { name: "a" })]);
  writeFileSync(join(own.folder, "broken"), "not a database, but long enough to be looked at as one".repeat(40));
  renameSync(join(own.folder, "broken"), join(own.folder, "store.db"));
  const problem: unknown = await store.health(never).then(() => null, (error: unknown) => error);
  assert.ok(isBackendError(problem), String(problem));
  assert.equal(problem.message, "the database is not a SQLite database");
  assert.deepEqual(await list(store), ["old"]);
  await store.close();
  own.remove();
});

/** A database as a load leaves it that is killed while it writes pages: they are in the file, and its journal has the old ones. */
function killedLoad(from: string, to: string): void {
  const db = new Database(from);
  db.pragma("cache_size = 10");
  db.exec(`BEGIN IMMEDIATE; CREATE TABLE junk(a); UPDATE "things/records" SET "record" = '{"name":"half written"}'`);
  db.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO junk SELECT randomblob(1000) FROM n`).run();
  for (const end of ["", "-journal"]) copyFileSync(from + end, to + end);
  db.exec("ROLLBACK");
  db.close();
}

const whole = (store: Adapter): Promise<number> => store.count("things", { path: "name", op: "eq", value: "whole" }, never);

test("what a killed load has half written is taken back by a server that starts", async () => {
  const [own, other] = [scratch(), scratch()];
  const file = join(own.folder, "store.db");
  await fill(other.folder, Array.from({ length: 50 }, (_, n) => record(`r${n}`, { name: "whole" })));
  killedLoad(join(other.folder, "store.db"), file);
  const store = await sqlite.open({ path: "store.db" }, { base: own.folder });
  assert.equal(await whole(store), 50);
  const { rows } = await store.fetch({ collection: "things", filter: null, limit: 1, offset: 0, fields: null }, never);
  assert.deepEqual(rows, [{ name: "whole", _id: "r0" }]);
  assert.ok(statSync(file).size < 1_000_000, "the rows of the killed load are gone");
  await store.close();
  own.remove();
  other.remove();
});

test("what a killed load has half written is taken back by a server that runs", async () => {
  const [own, other] = [scratch(), scratch()];
  const [file, origin] = [join(own.folder, "store.db"), join(other.folder, "store.db")];
  await fill(other.folder, Array.from({ length: 50 }, (_, n) => record(`r${n}`, { name: "whole" })));
  copyFileSync(origin, file);
  const store = await sqlite.open({ path: "store.db" }, { base: own.folder });
  assert.equal(await whole(store), 50);
  killedLoad(origin, file);
  assert.ok(existsSync(`${file}-journal`));
  assert.equal(await whole(store), 50);
  assert.ok(!existsSync(`${file}-journal`), "nothing is left to take back");
  await store.close();
  own.remove();
  other.remove();
});

test("where nothing may be written, the error says that a load was killed, and not that permissions are wrong", () => {
  const error = sqliteError(Object.assign(new Error("attempt to write a readonly database"), { code: "SQLITE_READONLY_ROLLBACK" }), "store.db");
  assert.ok(isBackendError(error));
  assert.equal(error.message, "the database was left in the middle of a write by a load that was killed; run that load again, or let the server write to the file and its folder");
});

test.run();
