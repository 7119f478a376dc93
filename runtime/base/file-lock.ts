/**
 * A lock on a file that a process holds while it runs. It is SQLite's own, so the system takes it back however the
 * process ends, and nothing is left behind that could block the next one. The file itself stays and is empty.
 */
import { closeSync, constants, openSync } from "node:fs";
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
