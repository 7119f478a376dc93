/** The connection to one database file: opened read-only, with the functions that filters use and cached statements. */
import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import Database from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import { likeMatcher } from "../../base/like.js";
import { wordMatcher } from "../../base/text.js";
import type { OpenOptions } from "../adapter.js";
import { aboutDatabase, isUnfinished, sqliteError } from "./errors.js";
import { FUNCTIONS } from "./filter.js";
import { extensionProblem } from "./native.js";
import { COLLECTIONS_TABLE, FORMAT, FORMATS } from "./layout.js";

export type Connection = Database.Database;

/** Milliseconds that SQLite itself waits for a lock; it blocks the process, so the adapter's own retries wait longer. */
const LOCK_WAIT_MS = 20;
const MAX_STATEMENTS = 200;

/** A file to open: its absolute path, the path as the catalog writes it, and the command that fills it. */
export interface Place {
  readonly file: string;
  readonly name: string;
  readonly load: string;
}

/** The command that fills a connection of a catalog; with names to fill in where the caller did not say which. */
export function loadCommand(from: OpenOptions["from"]): string {
  const word = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const { catalog, connection } = from ?? { catalog: "CATALOG", connection: "NAME" };
  return `toolsrv load ${word(catalog)} FILE --connection ${word(connection)} --collection NAME`;
}

/**
 * Opens an existing file that `toolsrv load` wrote; never creates one.
 * @throws BackendError with what to do: no file, not a database, not ours, another format, no native module.
 */
export async function openDatabase(place: Place): Promise<Connection> {
  const { file, name, load } = place;
  const found = await stat(file).catch((error: unknown) => error);
  if (found instanceof Error) {
    const isMissing = "code" in found && (found.code === "ENOENT" || found.code === "ENOTDIR");
    throw isMissing ? aboutDatabase("not_found", `does not exist; create it with: ${load}`, name, found) : aboutDatabase("auth", "cannot be opened; check the permissions of the file and its folder", name, found);
  }
  if (!(found as Stats).isFile()) throw aboutDatabase("not_found", "is not a file", name);
  try {
    try {
      return connect(place);
    } catch (error) {
      if (!isUnfinished(error) || !rollBack(place)) throw error;
      return connect(place);
    }
  } catch (error) {
    throw sqliteError(error, name);
  }
}

function connect({ file, name, load }: Place): Connection {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_WAIT_MS });
  try {
    prepareConnection(db);
    checkFormat(db, name, load);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Takes back the transaction of a load that was killed while it wrote: SQLite does so when a connection that may write
 * reads, and refuses every read of others until then. Nothing else is written.
 * @returns false where that is not possible, as in a folder that may not be written
 */
export function rollBack({ file }: Place): boolean {
  try {
    const db = new Database(file, { fileMustExist: true, timeout: LOCK_WAIT_MS });
    try {
      db.prepare("SELECT count(*) FROM sqlite_schema").get();
      return true;
    } finally {
      db.close();
    }
  } catch {
    return false;
  }
}

/** What reading and loading connections share. */
export function prepareConnection(db: Connection): void {
  db.pragma("cache_size = -65536");
  db.pragma("mmap_size = 1073741824");
  try {
    sqliteVec.load(db);
  } catch (error) {
    throw extensionProblem(error);
  }
  db.function(FUNCTIONS.like, { deterministic: true }, cachedMatcher(likeMatcher));
  db.function(FUNCTIONS.turn, (_row: unknown) => 1);
  db.function(FUNCTIONS.words, { deterministic: true }, cachedMatcher(wordMatcher));
}

/** Patterns whose matchers are kept for a connection. */
const MAX_MATCHERS = 32;

/** A function of SQLite, which calls it once a row with the same few patterns: their matchers are cached. */
function cachedMatcher(make: (pattern: string) => (value: string) => boolean): (value: unknown, pattern: unknown) => number {
  const matchers = new Map<string, (value: string) => boolean>();
  return (value, pattern) => {
    if (typeof value !== "string" || typeof pattern !== "string") return 0;
    let matches = matchers.get(pattern);
    if (matches === undefined) {
      if (matchers.size >= MAX_MATCHERS) matchers.clear();
      matches = make(pattern);
      matchers.set(pattern, matches);
    }
    return matches(value) ? 1 : 0;
  };
}

function checkFormat(db: Connection, name: string, load: string): void {
  const ours = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(COLLECTIONS_TABLE.slice(1, -1));
  if (ours === undefined) throw aboutDatabase("internal", `was not written by toolsrv; fill a new file with: ${load}`, name);
  const format = db.pragma("user_version", { simple: true });
  if (!FORMATS.includes(format)) throw aboutDatabase("internal", `has format ${String(format)}, this toolsrv reads format ${FORMAT}; remove the file and load it again`, name);
}

/** Prepared statements by their text; the least recently used one is dropped first. */
export class Statements {
  readonly #db: Connection;
  readonly #prepared = new Map<string, Database.Statement>();

  constructor(db: Connection) {
    this.#db = db;
  }

  /** A statement that is not kept. */
  once(sql: string): Database.Statement {
    return this.#db.prepare(sql);
  }

  get(sql: string): Database.Statement {
    const before = this.#prepared.get(sql);
    if (before !== undefined) {
      this.#prepared.delete(sql);
      this.#prepared.set(sql, before);
      return before;
    }
    const statement = this.#db.prepare(sql);
    this.#prepared.set(sql, statement);
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size > MAX_STATEMENTS && oldest !== undefined) this.#prepared.delete(oldest);
    return statement;
  }
}
