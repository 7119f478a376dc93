/**
 * A lock on a file that a process holds while it runs. It is SQLite's own, so the system takes it back however the
 * process ends, and nothing is left behind that could block the next one. The file itself stays and is empty.
 */
import { chmodSync, closeSync, constants, openSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";

export interface FileLock {
  release(): void;
}

// No symbolic link is followed. Absent on systems without them.
const SAFELY = constants.O_NOFOLLOW ?? 0;

/** `null` when somebody else holds the lock, in this process or another. @throws what the file system or SQLite reports. */
export function lockFile(path: string): FileLock | null {
  closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | SAFELY, 0o600));
  const db = new Database(path, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return null;
    throw error;
  }
  return {
    release() {
      if (db.inTransaction) db.exec("ROLLBACK");
      db.close();
    },
  };
}

/**
 * Locks a file that others open or replace: on `.FILE.lock` beside it, so that replacing the file does not touch the lock.
 * @param part What of the file is locked, where several may work on different parts of it.
 * @throws as lockFile
 */
export function lockBeside(file: string, part?: string): FileLock | null {
  const path = join(dirname(file), `.${basename(file)}${part === undefined ? "" : `.${part}`}.lock`);
  const lock = lockFile(path);
  if (lock !== null) shareAs(file, path);
  return lock;
}

/** Who may write the file may lock it: others may change it too, where somebody gave the file another mode. */
function shareAs(file: string, lock: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  try {
    chmodSync(lock, found.mode & 0o777);
  } catch {
    // Only the owner of the lock can change it; for others it is as the owner left it.
  }
}
