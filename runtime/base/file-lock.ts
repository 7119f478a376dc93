/**
 * A lock on a file that a process holds while it runs. It is SQLite's own, so the system takes it back however the
 * process ends, and nothing is left behind that could block the next one. The file itself stays and is empty.
 */
import { accessSync, chmodSync, closeSync, constants, lstatSync, openSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";

export interface FileLock {
  release(): void;
}

// No symbolic link is followed. Absent on systems without them.
const SAFELY = constants.O_NOFOLLOW ?? 0;

/** `null` when somebody else holds the lock, in this process or another. @throws what the file system or SQLite reports. */
export function lockFile(path: string): FileLock | null {
  make(path);
  const db = new Database(path, { timeout: 0, fileMustExist: true });
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
 * Makes the file unless it is there. One that is there is not opened: whoever closes a file gives up every lock that the
 * process has on it, and another caller in this process may hold one.
 */
function make(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    // The system refuses to open a link this way and says so.
    if (lstatSync(path).isSymbolicLink()) closeSync(openSync(path, constants.O_WRONLY | SAFELY));
    accessSync(path, constants.W_OK);
  }
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
