/**
 * The only code that writes a store: the tables of one collection in the embedded database. Upserts by record id,
 * one transaction a batch, so that an interrupted load leaves whole batches and can be run again.
 */
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { makeFolder } from "../../runtime/base/make-folder.js";
import {
  COLLECTIONS_TABLE, columnName, columnsOf, type ColumnValue, escapeName, FORMAT, FORMATS, type Part, PARTS, pathOfColumn, SPACES_TABLE, tableName,
} from "../../runtime/adapters/sqlite/layout.js";
import type { IndexSpec } from "../../runtime/adapters/sqlite/indexes.js";
import { movedSpace } from "../../runtime/embed/space.js";
import { CodesWriter, createCodes } from "./codes-writer.js";
import type { LoadRecord } from "./convert.js";
import { analyzeIndexes, dropIndexes, LOCK_WAIT_MS, renameWithIndexes, syncIndexes } from "./indexer.js";
import { prepareStatements, type Statements } from "./statements.js";
import { wordsOfRecord } from "./words.js";
import { WrittenIds } from "./written-ids.js";

/** How a collection's vectors are made; stored with it, and compared by later loads and by every search. */
export interface Embedding {
  /** `provider/model`. */
  readonly embeddedBy: string;
  readonly dims: number;
  /** Paths of the embedded texts as given to `--text`, or "" for all. */
  readonly text: string;
  /** The space of the vectors; absent where nobody measured it. */
  readonly space?: string;
}

export interface WriterOptions {
  readonly file: string;
  readonly collection: string;
  readonly embedding: Embedding;
  /** Build a new collection beside the old one, and swap them at the end. */
  readonly replace: boolean;
  /** Indexes that the tools need; those whose columns no record has are left out. */
  readonly indexes: readonly IndexSpec[];
}

/** A record with its vector, ready to be stored. */
export interface EmbeddedRecord extends LoadRecord {
  readonly vector: Float32Array;
}

/** Columns that SQLite's tables can have, less the two of our own. */
const MAX_PATHS = 1990;
/** Larger than SQLite's default: a row with its vector stays on one page. */
const PAGE_BYTES = 16_384;
/** Records whose columns are made together: few enough that they are garbage before they become old. */
const COLUMNS_TOGETHER = 256;
/** What one transaction changes stays in memory until it ends: others read the file as long, and each page is written once. */
const CACHE_KB = 65_536;

export type Outcome = "added" | "updated" | "unchanged";

/** An open load. A class because it owns the file. */
export class Writer {
  readonly #db: Database.Database;
  readonly #options: WriterOptions;
  /** Collection whose tables are written: a temporary one while replacing. */
  readonly #target: string;
  /** Whether this load made the tables that it writes. */
  readonly #isNew: boolean;
  #columns: readonly string[] = [];
  #statements: Statements;
  readonly #codes: CodesWriter;
  /** What this load has written, where the collection was empty before it; absent where ids must be looked up. */
  readonly #written: WrittenIds | null;
  /** Vectors that the open transaction has written, by their rows. */
  readonly #changed = new Map<number, Float32Array>();

  private constructor(db: Database.Database, options: WriterOptions, target: string, isNew: boolean) {
    this.#db = db;
    this.#isNew = isNew;
    this.#options = options;
    this.#target = target;
    this.#columns = readColumns(db, target);
    this.#statements = prepareStatements(db, target, this.#columns.length);
    this.#written = this.#statements.lastRow.get() === null ? new WrittenIds() : null;
    this.#codes = new CodesWriter(db, target, options.embedding.dims);
  }

  /**
   * Opens or creates the file and the collection.
   * @throws RangeError when the file is not ours, or the collection was embedded otherwise.
   */
  static async open(options: WriterOptions): Promise<Writer> {
    makeFolder(dirname(options.file));
    createPrivate(options.file);
    const db = new Database(options.file, { timeout: LOCK_WAIT_MS });
    try {
      db.pragma(`page_size = ${PAGE_BYTES}`);
      db.pragma("synchronous = NORMAL");
      db.pragma(`cache_size = -${CACHE_KB}`);
      const target = options.replace ? `@replace ${options.collection}` : options.collection;
      const isNew = db.transaction(() => prepareFile(db, options, target)).immediate();
      return new Writer(db, options, target, isNew);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /**
   * Those that are not stored word for word; the others need no embedding. One transaction looks all of them up, because
   * to open one costs more than a look.
   */
  withoutStored(records: readonly LoadRecord[]): readonly LoadRecord[] {
    const written = this.#written;
    if (written !== null && !records.some(({ id }) => written.mayHave(id))) return records;
    return this.#db.transaction(() => records.filter((record) => !this.#isStored(record)))();
  }

  #isStored({ id, record }: LoadRecord): boolean {
    const row = this.#statements.findRow.get(id) as number | undefined;
    return row !== undefined && this.#statements.readRecord.get(row) === JSON.stringify(record);
  }

  /** Stores a batch in one transaction; of two records with one id the later stays. */
  write(records: readonly EmbeddedRecord[]): readonly Outcome[] {
    const write = this.#db.transaction(() => {
      this.#changed.clear();
      const first = ((this.#statements.lastRow.get() as number | null) ?? 0) + 1;
      let added = 0;
      const outcomes: Outcome[] = [];
      for (let from = 0; from < records.length; from += COLUMNS_TOGETHER) {
        const batch = records.slice(from, from + COLUMNS_TOGETHER);
        const columns = batch.map(({ record }) => columnsOf(record));
        this.#addColumns(columns);
        for (const [index, record] of batch.entries()) {
          const outcome = this.#writeOne(record, columns[index] ?? new Map(), first + added);
          if (outcome === "added") added++;
          outcomes.push(outcome);
        }
      }
      this.#codes.rewrite(this.#changed);
      return outcomes;
    });
    return write.immediate();
  }

  /** Finishes: indexes and statistics are made, and then the new collection replaces the old one. */
  finish(): void {
    const { collection, replace, indexes } = this.#options;
    this.#codes.complete();
    this.#db.transaction(() => syncIndexes(this.#db, this.#target, indexes)).immediate();
    if (replace) this.#db.transaction(() => this.#swap()).immediate();
    analyzeIndexes(this.#db, collection);
  }

  #swap(): void {
    const { collection } = this.#options;
    dropTables(this.#db, collection);
    renameWithIndexes(this.#db, this.#target, collection, () => {
      for (const part of PARTS) this.#db.exec(`ALTER TABLE ${tableName(this.#target, part)} RENAME TO ${tableName(collection, part)}`);
    });
    saveCollection(this.#db, this.#options);
  }

  /** Ends without a result: a collection that was to replace another one, or a new one without rows, is removed. */
  abandon(): void {
    const { collection, replace } = this.#options;
    if (!this.#isNew || (!replace && this.#statements.lastRow.get() !== null)) return;
    const abandon = this.#db.transaction(() => {
      dropTables(this.#db, this.#target);
      if (!replace) this.#db.prepare(`DELETE FROM ${COLLECTIONS_TABLE} WHERE "name" = ?`).run(collection);
    });
    abandon.immediate();
  }

  close(): void {
    this.#db.close();
  }

  /** @param next The row of a record that is new. */
  #writeOne({ id, record, text, vector }: EmbeddedRecord, columns: ReadonlyMap<string, ColumnValue>, next: number): Outcome {
    const statements = this.#statements;
    const values: (ColumnValue | null)[] = [next, id];
    for (const path of this.#columns) values.push(columns.get(path) ?? null);
    // Most records of a load are new: that is known when the insert has been tried, without a look before it.
    const isNew = statements.addFields.run(values).changes === 1;
    const row = isNew ? next : (statements.findRow.get(id) as number);
    if (!isNew) {
      for (const statement of statements.deletes) statement.run(row);
      values[0] = row;
      statements.addFields.run(values);
    }
    this.#changed.set(row, vector);
    this.#written?.add(id);
    statements.insertVector.run(row, id, Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength));
    statements.insertText.run(row, ...wordsOfRecord(text, columns));
    statements.insertRecord.run(row, JSON.stringify(record));
    return isNew ? "added" : "updated";
  }

  #addColumns(records: readonly ReadonlyMap<string, ColumnValue>[]): void {
    const known = new Set(this.#columns);
    const added: string[] = [];
    for (const columns of records) {
      for (const path of columns.keys()) {
        if (known.has(path)) continue;
        known.add(path);
        added.push(path);
      }
    }
    if (added.length === 0) return;
    if (known.size > MAX_PATHS) throw new RangeError(`the records have more than ${MAX_PATHS} different fields; put varying keys into a list`);
    for (const path of added) this.#db.exec(`ALTER TABLE ${tableName(this.#target, "fields")} ADD COLUMN ${columnName(path)}`);
    this.#columns = readColumns(this.#db, this.#target);
    this.#statements = prepareStatements(this.#db, this.#target, this.#columns.length);
  }
}

/**
 * A new file is readable by its owner alone; SQLite gives its journals the mode of the file. One that exists keeps the
 * mode that somebody gave it.
 */
function createPrivate(file: string): void {
  closeSync(openSync(file, "a", 0o600));
}

/** Initialises a new file, and creates the collection's tables if they do not exist; returns whether it created them. */
function prepareFile(db: Database.Database, options: WriterOptions, target: string): boolean {
  const tables = db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() as number;
  const format = db.pragma("user_version", { simple: true }) as number;
  const ours = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = ?").pluck().get(COLLECTIONS_TABLE.slice(1, -1)) as number;
  if (tables > 0 && ours === 0) throw new RangeError("the file contains another program's tables; choose another path");
  if (ours > 0 && !FORMATS.includes(format)) throw new RangeError(`the file has format ${format}, this toolsrv writes format ${FORMAT}; remove the file and load it again`);
  db.exec(`CREATE TABLE IF NOT EXISTS ${COLLECTIONS_TABLE}("name" TEXT PRIMARY KEY, "embedded_by" TEXT NOT NULL, "dims" INTEGER NOT NULL, "text" TEXT NOT NULL) WITHOUT ROWID`);
  if (options.replace) {
    dropTables(db, target);
  } else {
    checkEmbedding(db, options);
    checkSpace(db, options);
    saveCollection(db, options);
  }
  const table = (part: Part): string => tableName(target, part);
  const isNew = db.prepare("SELECT count(*) FROM pragma_table_info(?)").pluck().get(escapeName(target, "fields")) === 0;
  db.exec(`CREATE TABLE IF NOT EXISTS ${table("fields")}("@row" INTEGER PRIMARY KEY, "@id" TEXT NOT NULL UNIQUE)`);
  db.exec(`CREATE TABLE IF NOT EXISTS ${table("vectors")}("@row" INTEGER PRIMARY KEY, "@id" TEXT NOT NULL, "vector" BLOB NOT NULL)`);
  createCodes(db, target);
  db.exec(`CREATE TABLE IF NOT EXISTS ${table("records")}("@row" INTEGER PRIMARY KEY, "record" TEXT NOT NULL)`);
  db.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS ${table("text")} USING fts5("text", "more", content='', contentless_delete=1, tokenize='ascii')`);
  return isNew;
}

function checkEmbedding(db: Database.Database, { collection, embedding }: WriterOptions): void {
  const sql = `SELECT "embedded_by" AS embeddedBy, "dims", "text" FROM ${COLLECTIONS_TABLE} WHERE "name" = ?`;
  const before = db.prepare(sql).get(collection) as Embedding | undefined;
  if (before === undefined) return;
  if (before.embeddedBy !== embedding.embeddedBy || before.dims !== embedding.dims) {
    throw new RangeError(`collection '${collection}' was embedded by ${before.embeddedBy} (${before.dims} dimensions), the catalog says ${embedding.embeddedBy} (${embedding.dims}); load it anew with --replace`);
  }
  if (before.text !== embedding.text) {
    throw new RangeError(`collection '${collection}' was loaded with --text ${before.text || "(all)"}, not ${embedding.text || "(all)"}; load it anew with --replace`);
  }
}

/** The rows that are there and those that come must be of one space, also where name and length agree. */
function checkSpace(db: Database.Database, { collection, embedding }: WriterOptions): void {
  const there = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = ?").pluck().get(SPACES_TABLE.slice(1, -1)) as number;
  const before = there === 0 ? undefined : (db.prepare(`SELECT "space" FROM ${SPACES_TABLE} WHERE "name" = ?`).pluck().get(collection) as string | undefined);
  const moved = before === undefined || embedding.space === undefined ? null : movedSpace(before, embedding.space);
  if (moved !== null) throw new RangeError(`collection '${collection}' was filled in another embedding space: ${moved}; load it anew with --replace`);
}

function saveCollection(db: Database.Database, { collection, embedding }: WriterOptions): void {
  db.prepare(`INSERT OR REPLACE INTO ${COLLECTIONS_TABLE} VALUES (?, ?, ?, ?)`).run(collection, embedding.embeddedBy, embedding.dims, embedding.text);
  db.exec(`CREATE TABLE IF NOT EXISTS ${SPACES_TABLE}("name" TEXT PRIMARY KEY, "space" TEXT NOT NULL) WITHOUT ROWID`);
  if (embedding.space === undefined) db.prepare(`DELETE FROM ${SPACES_TABLE} WHERE "name" = ?`).run(collection);
  else db.prepare(`INSERT OR REPLACE INTO ${SPACES_TABLE} VALUES (?, ?)`).run(collection, embedding.space);
}

function dropTables(db: Database.Database, collection: string): void {
  dropIndexes(db, collection);
  for (const part of PARTS) db.exec(`DROP TABLE IF EXISTS ${tableName(collection, part)}`);
}

function readColumns(db: Database.Database, collection: string): readonly string[] {
  const names = db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(escapeName(collection, "fields")) as string[];
  return names.filter((name) => !name.startsWith("@")).map(pathOfColumn);
}
