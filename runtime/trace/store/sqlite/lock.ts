/** One process writes a data directory. The lock is SQLite's own on a file, so it ends with the process, however that ends. */
import Database from "better-sqlite3";
import { makeFolder } from "../../../base/make-folder.js";
import { StoreOpenError } from "../store.js";
import { keepPrivate, type Layout } from "./schema.js";

export interface WriteLock {
  release(): void;
}

/** @throws StoreOpenError when another process holds it. */
export function createWriteLock({ directory, lock: path }: Layout): WriteLock {
  let db: Database.Database | undefined;
  try {
    makeFolder(directory, 0o700);
    keepPrivate(path);
    db = new Database(path, { timeout: 0 });
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "SQLITE_BUSY") throw new StoreOpenError(`${directory} is in use by another trace service; stop it, or choose another --data-dir`);
    throw new StoreOpenError(`${path} can't be locked: ${error instanceof Error ? error.message : String(error)}`);
  }
  const held = db;
  return {
    release() {
      if (held.inTransaction) held.exec("ROLLBACK");
      held.close();
    },
  };
}
