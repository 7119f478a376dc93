/** What a load does once for many rows has the same result as doing it row by row. */
import * as assert from "node:assert/strict";
import { join } from "node:path";
import Database from "better-sqlite3";
import { reindexFile } from "../../generator/load/indexer.js";
import { type EmbeddedRecord, Writer } from "../../generator/load/writer.js";
import { WrittenIds } from "../../generator/load/written-ids.js";
import { BLOCK_ROWS, SMALL_COMPONENTS } from "../../runtime/adapters/sqlite/codes.js";
import { hashText, hashTexts } from "../../runtime/embed/local/hashing.js";
import { scratch } from "../adapters/store.js";
import { suite } from "../lib/suite.js";

const test = suite("load/bulk");
const DIMS = 1024;
/** Some more than what makes a collection large. */
const ROWS = SMALL_COMPONENTS / DIMS + 3 * BLOCK_ROWS + 100;

function recordsOf(from: number, count: number, word = "row"): readonly EmbeddedRecord[] {
  return Array.from({ length: count }, (_, index) => ({ id: `r${from + index}`, record: { n: from + index }, text: "", vector: hashText(`${word} ${from + index}`, DIMS) }));
}

function codesOf(file: string): readonly unknown[] {
  const db = new Database(file);
  const codes = db.prepare('SELECT * FROM "things/codes" WHERE "block" >= 0 ORDER BY "block"').all();
  db.close();
  return codes;
}

async function withWriter(use: (writer: Writer, file: string) => void | Promise<void>): Promise<void> {
  const { folder, remove } = scratch();
  const file = join(folder, "store.db");
  const writer = await Writer.open({ file, collection: "things", embedding: { embeddedBy: "m/m", dims: DIMS, text: "" }, replace: false, indexes: [] });
  try {
    await use(writer, file);
  } finally {
    writer.close();
    remove();
  }
}

test("codes that were made while rows were written are those of the vectors that are stored", () =>
  withWriter(async (writer, file) => {
    writer.write(recordsOf(0, ROWS - 500));
    const early = codesOf(file);
    assert.ok(early.length >= 2 && early.length < ROWS / BLOCK_ROWS, `${early.length} blocks before the end`);
    // An update in a block that has codes, an id twice in one transaction, and rows that end in the middle of a block.
    writer.write([...recordsOf(2 * BLOCK_ROWS + 5, 1, "other"), ...recordsOf(ROWS - 500, 500), ...recordsOf(ROWS - 1, 1, "later")]);
    writer.finish();
    const made = codesOf(file);
    assert.equal(made.length, Math.ceil(ROWS / BLOCK_ROWS));
    const db = new Database(file);
    db.exec('DELETE FROM "things/codes"');
    db.close();
    await reindexFile({ file, name: "store.db" }, "things", []);
    assert.deepEqual(codesOf(file), made);
  }));

test("a transaction that fails leaves no codes and no rows of its own", () =>
  withWriter((writer, file) => {
    writer.write(recordsOf(0, ROWS - 100));
    const before = codesOf(file);
    const tooMany = { id: "wide", record: Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`f${n}`, n])), text: "", vector: hashText("wide", DIMS) };
    assert.throws(() => writer.write([...recordsOf(0, BLOCK_ROWS, "other"), ...recordsOf(ROWS, 600), tooMany]), /more than 1990 different fields/);
    assert.deepEqual(codesOf(file), before);
    assert.deepEqual(writer.withoutStored(recordsOf(0, 3)), []);
    assert.equal(writer.withoutStored(recordsOf(ROWS, 3)).length, 3);
  }));

test("in a load into an empty collection a record that comes again is stored", () =>
  withWriter((writer) => {
    assert.equal(writer.withoutStored(recordsOf(0, 10)).length, 10);
    writer.write(recordsOf(0, 10));
    assert.deepEqual(writer.withoutStored([...recordsOf(5, 2), ...recordsOf(40, 1)]).map(({ id }) => id), ["r40"]);
    assert.deepEqual(writer.withoutStored([{ id: "r5", record: { n: 6 }, text: "" }]).map(({ id }) => id), ["r5"]);
  }));

test("an id that was written is never taken for a new one, and few new ones for written ones", () => {
  const ids = new WrittenIds();
  for (let n = 0; n < 100_000; n++) ids.add(`f${n * 7}`);
  for (let n = 0; n < 100_000; n++) assert.ok(ids.mayHave(`f${n * 7}`));
  const mistaken = Array.from({ length: 10_000 }, (_, n) => `f${n * 7 + 3}`).filter((id) => ids.mayHave(id)).length;
  assert.ok(mistaken < 100, `${mistaken} of 10,000`);
});

test("vectors that share their memory are those of the texts by themselves", () => {
  const texts = ["", "Amélie of the long series", "a b c", "日本語 x", "word ".repeat(500)];
  assert.deepEqual(hashTexts(texts, 256), texts.map((text) => hashText(text, 256)));
});

test.run();
