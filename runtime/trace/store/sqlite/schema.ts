/**
 * The files of a data directory. Each has one writer: the recorder's thread writes traces.db and payloads.db, the
 * indexer's thread writes index.db. traces.db holds runs, steps and their sums; payloads.db the compressed
 * payloads, gzip, by blocks (trace/block.ts) or one by one, by the step's sequence number; index.db what is derived from both
 * and can be made again: full text, and steps by id. The number of a block is that of one of its steps. Nothing random
 * is indexed in traces.db, because every step would then dirty a page of its own.
 */
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { makeFolder } from "../../../base/make-folder.js";
import { StoreOpenError } from "../store.js";
import { inTransaction } from "./full.js";

export type Db = Database.Database;

/** Where the files of a data directory are. */
export interface Layout {
  readonly directory: string;
  readonly traces: string;
  readonly payloads: string;
  readonly index: string;
  /** Held by the process that writes. */
  readonly lock: string;
  /** Where the running instance can be reached. */
  readonly instance: string;
}

export type StoreFile = "traces" | "payloads" | "index";

export function layoutOf(directory: string, traces = "traces.db", payloadFolder = "blobs"): Layout {
  return {
    directory,
    traces: join(directory, traces),
    payloads: join(directory, payloadFolder, "payloads.db"),
    index: join(directory, "index.db"),
    lock: join(directory, "lock.db"),
    instance: join(directory, "instance.json"),
  };
}

/** Stored in `user_version` of traces.db. */
export const SCHEMA_VERSION = 14;
/** The first version whose files a writer brings up to date as they are. */
const OLDEST_VERSION = 10;

const TRACES = `
CREATE TABLE IF NOT EXISTS runs (
  key INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, status INTEGER NOT NULL, started_at INTEGER NOT NULL, completed_at INTEGER,
  tags TEXT NOT NULL, steps INTEGER NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, errors INTEGER NOT NULL,
  graph TEXT, error TEXT, name TEXT, session TEXT, user TEXT, models TEXT NOT NULL, cost_nano INTEGER NOT NULL, unpriced INTEGER NOT NULL,
  preview TEXT, rooted INTEGER NOT NULL, settled INTEGER NOT NULL, throttled INTEGER NOT NULL, last_seq INTEGER NOT NULL, touched_ms INTEGER NOT NULL,
  answer TEXT, calls INTEGER, tools TEXT, servers TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS runs_started ON runs (started_at DESC, run_id DESC);
CREATE INDEX IF NOT EXISTS runs_status ON runs (status, started_at DESC, run_id DESC);
CREATE INDEX IF NOT EXISTS runs_tags ON runs (tags);
CREATE INDEX IF NOT EXISTS runs_session ON runs (session, started_at DESC) WHERE session IS NOT NULL;
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY, root INTEGER NOT NULL, at INTEGER NOT NULL, type INTEGER NOT NULL, event_id TEXT NOT NULL, run_id TEXT NOT NULL,
  parent_id TEXT, agent TEXT, tool TEXT, server TEXT, summary TEXT NOT NULL, payload INTEGER, duration_ms INTEGER, tokens_in INTEGER,
  tokens_out INTEGER, error TEXT, model TEXT, cost_nano INTEGER, attributes TEXT, block INTEGER, line INTEGER, details INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS events_root ON events (root, at, seq);
-- Summaries and attributes of the steps whose column details is 1, by their columns block and line.
CREATE TABLE IF NOT EXISTS details (block INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS nodes (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, events INTEGER NOT NULL, invocations INTEGER NOT NULL, errors INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL, timed INTEGER NOT NULL, max_ms INTEGER NOT NULL, last_at INTEGER NOT NULL, agent INTEGER NOT NULL, registered INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS durations (node INTEGER NOT NULL, bucket INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (node, bucket)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edges (
  source INTEGER NOT NULL, target INTEGER NOT NULL, count INTEGER NOT NULL, last_at INTEGER NOT NULL, PRIMARY KEY (source, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- Runs that are deleted for every reader and wait to be overwritten.
CREATE TABLE IF NOT EXISTS doomed (root INTEGER PRIMARY KEY, run_id TEXT NOT NULL, indexed INTEGER NOT NULL) STRICT;
-- Blocks of payloads.db that no step refers to any more and that wait to be overwritten.
CREATE TABLE IF NOT EXISTS spent (block INTEGER PRIMARY KEY) STRICT;
`;

const PAYLOADS = `
CREATE TABLE IF NOT EXISTS payloads (seq INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS blocks (block INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
`;

const INDEX = `
CREATE TABLE IF NOT EXISTS ids (hash INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (hash, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS progress (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text, content='', tokenize="unicode61 remove_diacritics 2");
`;

/** Opens a file of the directory for writing, with the tables it must have. @throws StoreOpenError */
export function openForWriting(layout: Layout, file: StoreFile): Db {
  const path = layout[file];
  return guarded(path, () => {
    makeFolder(dirname(path), 0o700);
    keepPrivate(path);
    const db = new Database(path);
    db.pragma("page_size = 8192");
    db.pragma("auto_vacuum = INCREMENTAL");
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = NORMAL");
    db.pragma("temp_store = MEMORY");
    db.pragma("busy_timeout = 5000");
    // Deleted content is overwritten with zeros, so that nothing of it can be read from the file.
    db.pragma("secure_delete = ON");
    db.pragma("wal_autocheckpoint = 0");
    db.pragma(`cache_size = ${file === "traces" ? -12_000 : -4_000}`);
    if (file === "traces") prepareTraces(db, path);
    else if (file === "payloads") db.exec(PAYLOADS);
    else if (file === "index") prepareIndex(db);
    return db;
  });
}

/** Makes a file that its owner alone can read, before SQLite does: its log and its shared memory get the same mode. */
export function keepPrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  // Earlier releases made files that everybody can read.
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o077) !== 0) chmodSync(file, mode & 0o700);
  }
}

/** Opens a file of the directory to copy its log: without a write, which a full disk would refuse. @throws StoreOpenError */
export function openForCheckpoint(layout: Layout, file: StoreFile): Db {
  const path = layout[file];
  return guarded(path, () => {
    const db = new Database(path, { fileMustExist: true });
    db.pragma("synchronous = NORMAL");
    db.pragma("busy_timeout = 5000");
    return db;
  });
}

/** Opens a file of the directory for reading; it must exist. @throws StoreOpenError */
export function openForReading(layout: Layout, file: StoreFile, cacheKb = 16_000): Db {
  const path = layout[file];
  return guarded(path, () => {
    const db = new Database(path, { readonly: true, fileMustExist: true });
    db.pragma("busy_timeout = 5000");
    db.pragma(`cache_size = -${cacheKb}`);
    db.pragma("temp_store = MEMORY");
    if (file === "traces") checkVersion(db, path);
    return db;
  });
}

function prepareTraces(db: Db, path: string): void {
  const version = db.pragma("user_version", { simple: true }) as number;
  if (version >= OLDEST_VERSION && version <= SCHEMA_VERSION) addColumns(db);
  else if (version !== 0) checkVersion(db, path);
  const tables = db.prepare("SELECT count(*) FROM sqlite_master WHERE name IN ('runs', 'events')").pluck().get() as number;
  if (version === 0 && tables > 0) {
    throw new StoreOpenError(`${path} was not made by this service; import it with: toolsrv trace import DIRECTORY`);
  }
  db.exec(TRACES);
  db.pragma(`user_version = ${SCHEMA_VERSION}`);
}

/** Columns that later versions have; steps without them stay as they are. */
function addColumns(db: Db): void {
  const added = { runs: { answer: "TEXT", calls: "INTEGER", tools: "TEXT", servers: "TEXT" }, events: { block: "INTEGER", line: "INTEGER", details: "INTEGER" } } as const;
  inTransaction(db, () => {
    for (const [table, columns] of Object.entries(added)) {
      const held = new Set(db.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck().all(table));
      for (const [name, type] of Object.entries(columns)) if (!held.has(name)) db.exec(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
    }
    db.exec(TRACES);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  });
}

function prepareIndex(db: Db): void {
  db.exec(INDEX);
  // Words of deleted steps leave the index at once, not when its segments are merged some day.
  db.prepare("INSERT INTO words (words, rank) VALUES ('secure-delete', 1)").run();
}

function checkVersion(db: Db, path: string): void {
  const version = db.pragma("user_version", { simple: true }) as number;
  if (version >= OLDEST_VERSION && version < SCHEMA_VERSION) throw new StoreOpenError(`${path} was made by an earlier release: start the service on it once`);
  if (version < SCHEMA_VERSION) throw new StoreOpenError(`${path} was made by another service; import it with: toolsrv trace import DIRECTORY`);
  if (version > SCHEMA_VERSION) throw new StoreOpenError(`${path} has format ${version}, this release knows ${SCHEMA_VERSION}: use a newer release`);
}

function guarded(path: string, open: () => Db): Db {
  try {
    return open();
  } catch (error) {
    if (error instanceof StoreOpenError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "SQLITE_CORRUPT" || code === "SQLITE_NOTADB") throw new StoreOpenError(`${path} is damaged; see: toolsrv trace doctor`);
    if (code === "SQLITE_FULL") throw new StoreOpenError(`${path} can't be opened: the disk is full`);
    throw new StoreOpenError(`${path} can't be opened: ${error instanceof Error ? error.message : String(error)}`);
  }
}
