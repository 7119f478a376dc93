/** What every thread of the embedded store does so that a full disk is survived in every statement. */
import { statfsSync } from "node:fs";
import type { Db } from "./schema.js";

/** A log, its shared memory or a file that could not grow. */
const FULL: ReadonlySet<string> = new Set(["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_TRUNCATE", "ENOSPC"]);

/** Whether an error says that the disk is full. */
export function isFull(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return FULL.has(code);
}

/**
 * `work` in a transaction of `db`; none is left open when it fails. SQLite ends a transaction by itself only after some
 * failures: one that stayed open would refuse every later one, and the checkpoint of a stop.
 */
export function inTransaction<T>(db: Db, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Copies a log into its file; false when that fails, for lack of room as a rule. What is in a log is stored and read as
 * it is, so nothing is lost: a later checkpoint, or the next start, copies it.
 */
export function checkpoint(db: Db, mode: "PASSIVE" | "TRUNCATE"): boolean {
  try {
    db.pragma(`wal_checkpoint(${mode})`);
    return true;
  } catch {
    return false;
  }
}

/** Bytes that are free where a directory is; Infinity where the file system does not say. */
export function freeBytes(directory: string): number {
  const { blocks, bavail, bsize } = statfsSync(directory);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}
