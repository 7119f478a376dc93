/** Makes and removes the indexes of a collection. The writer uses it at the end of a load, `load --reindex` by itself. */
import Database from "better-sqlite3";
import { loadCommand, openDatabase, type Place } from "../../runtime/adapters/sqlite/database.js";
import { createIndexSql, dropIndexSql, type FoundIndex, indexKey, indexName, type IndexSpec, readIndexes, renameListSql } from "../../runtime/adapters/sqlite/indexes.js";
import { COLLECTIONS_TABLE, escapeName, pathOfColumn, tableName } from "../../runtime/adapters/sqlite/layout.js";
import { CodesWriter, createCodes } from "./codes-writer.js";

/** What was done to a collection's indexes; each as its key. */
export interface IndexChanges {
  readonly made: readonly string[];
  readonly dropped: readonly string[];
  readonly kept: readonly string[];
}

/** The indexes that a collection has. */
function indexesOf(db: Database.Database, collection: string): readonly FoundIndex[] {
  return readIndexes((sql, params) => db.prepare(sql).all(...params), collection);
}

/** Milliseconds to wait for another process that reads or writes the file. */
export const LOCK_WAIT_MS = 10_000;

/** Index entries that ANALYZE looks at for each value of a column: estimates without reading every row. */
const ANALYSIS_LIMIT = 4_000;

/**
 * Brings a collection's indexes to `wanted`: those whose columns exist. Must run in a transaction.
 * An index that no tool needs is dropped: each costs time in every load and room in the file.
 */
export function syncIndexes(db: Database.Database, collection: string, wanted: readonly IndexSpec[]): IndexChanges {
  const columns = new Set((db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(escapeName(collection, "fields")) as string[]).map(pathOfColumn));
  const needed = new Map(wanted.filter((spec) => spec.length > 0 && spec.every((path) => columns.has(path))).map((spec) => [indexKey(spec), spec]));
  const found = indexesOf(db, collection);
  const stale = found.filter(({ spec, isCurrent }) => !isCurrent || !needed.has(indexKey(spec)));
  for (const index of stale) for (const sql of dropIndexSql(index)) db.exec(sql);
  const kept = new Set(found.filter((index) => !stale.includes(index)).map(({ spec }) => indexKey(spec)));
  const made = [...needed].filter(([key]) => !kept.has(key));
  for (const [, spec] of made) for (const sql of createIndexSql(collection, spec, freeName(db, indexName(collection, spec)))) db.exec(sql);
  return { made: made.map(([key]) => key), dropped: stale.map(({ spec }) => indexKey(spec)), kept: [...kept] };
}

/** Indexes keep their name when their table is renamed, so the name of a collection that was replaced may be taken. */
function freeName(db: Database.Database, name: string): string {
  const taken = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?");
  let free = name;
  for (let n = 2; taken.get(free) !== undefined; n++) free = `${name} ${n}`;
  return free;
}

/** Removes everything that `syncIndexes` made and that does not go with the table itself. */
export function dropIndexes(db: Database.Database, collection: string): void {
  for (const index of indexesOf(db, collection)) for (const sql of dropIndexSql(index)) db.exec(sql);
}

/** Renames a collection's tables with `rename`, and moves its indexes with them. */
export function renameWithIndexes(db: Database.Database, from: string, to: string, rename: () => void): void {
  const found = indexesOf(db, from);
  rename();
  for (const index of found) for (const sql of renameListSql(from, to, index)) db.exec(sql);
}

/**
 * Counts how many rows a value of each index has, which the planner of SQLite reads. Samples of single values are left
 * out: with them SQLite plans a statement anew for each value that is bound, which takes longer than most queries.
 */
export function analyzeIndexes(db: Database.Database, collection: string): void {
  db.pragma(`analysis_limit = ${ANALYSIS_LIMIT}`);
  db.exec(`ANALYZE ${tableName(collection, "fields")}`);
  const samples = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat4'").get();
  if (samples !== undefined) db.prepare("DELETE FROM sqlite_stat4 WHERE tbl = ?").run(escapeName(collection, "fields"));
}

/**
 * Brings the indexes of a collection in a file to `wanted`, and makes the codes of its vectors that are missing.
 * @throws BackendError as openDatabase; RangeError when the file has no such collection.
 */
export async function reindexFile({ file, name, load = loadCommand(undefined) }: Omit<Place, "load"> & Partial<Place>, collection: string, wanted: readonly IndexSpec[]): Promise<IndexChanges> {
  (await openDatabase({ file, name, load })).close();
  const db = new Database(file, { fileMustExist: true, timeout: LOCK_WAIT_MS });
  try {
    const dims = db.prepare(`SELECT "dims" FROM ${COLLECTIONS_TABLE} WHERE "name" = ?`).pluck().get(collection) as number | undefined;
    if (dims === undefined) throw new RangeError(`the file has no collection '${collection}'; load it first`);
    const changes = db.transaction(() => syncIndexes(db, collection, wanted)).immediate();
    analyzeIndexes(db, collection);
    db.transaction(() => createCodes(db, collection)).immediate();
    new CodesWriter(db, collection, dims).complete();
    return changes;
  } finally {
    db.close();
  }
}
