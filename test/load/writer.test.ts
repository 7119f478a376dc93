/** What the writer of the embedded store does with files. */
import * as assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Writer, type WriterOptions } from "../../generator/load/writer.js";
import { DIMS, MODEL, record, scratch } from "../adapters/store.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { suite } from "../lib/suite.js";

const test = suite("load/writer");
const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);
const options = (file: string): WriterOptions => ({ file, collection: "things", embedding: { embeddedBy: MODEL, dims: DIMS, text: "" }, replace: false, indexes: [] });
const one = { ...record("1", { a: 1 }), vector: hashText("x", DIMS) };

test("a new database and its journals are readable by their owner alone, whatever the umask", async () => {
  const { folder, remove } = scratch();
  const before = process.umask(0);
  try {
    const file = join(folder, "data", "store.db");
    const writer = await Writer.open(options(file));
    writer.write([one]);
    writer.finish();
    writer.close();
    assert.equal(mode(file), "600");
    for (const journal of ["DELETE", "WAL"]) {
      const db = new Database(file);
      db.pragma(`journal_mode = ${journal}`);
      db.exec("BEGIN IMMEDIATE; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
      const files = readdirSync(join(folder, "data"));
      assert.ok(files.length > 1, files.join());
      for (const name of files) assert.equal(mode(join(folder, "data", name)), "600", name);
      db.exec("ROLLBACK");
      db.close();
    }
  } finally {
    process.umask(before);
    remove();
  }
});

test("a database that exists keeps the mode that it was given", async () => {
  const { folder, remove } = scratch();
  const file = join(folder, "store.db");
  (await Writer.open(options(file))).close();
  chmodSync(file, 0o640);
  (await Writer.open(options(file))).close();
  assert.equal(mode(file), "640");
  assert.ok(existsSync(file));
  remove();
});

test("a file of another format is refused with what to do", async () => {
  const { folder, remove } = scratch();
  const file = join(folder, "store.db");
  (await Writer.open(options(file))).close();
  const db = new Database(file);
  db.pragma("user_version = 1");
  db.close();
  await assert.rejects(Writer.open(options(file)), { name: "RangeError", message: "the file has format 1, this toolsrv writes format 3; remove the file and load it again" });
  remove();
});

test.run();
