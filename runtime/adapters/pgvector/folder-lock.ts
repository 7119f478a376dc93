/** Keeps other processes out of a folder of PGlite, which has no lock of its own that works across processes. */
import { join } from "node:path";
import { BackendError } from "../../abi/errors.js";
import { lockFile, type FileLock } from "../../base/file-lock.js";

const LOCK = "toolsrv.lock";

/** @throws BackendError busy where another process has the folder, auth where nothing can be written */
export function lockFolder(folder: string, name: string): FileLock {
  let lock: FileLock | null;
  try {
    lock = lockFile(join(folder, LOCK));
  } catch (error) {
    throw new BackendError("auth", "pgvector", `the folder '${name}' cannot be written to, which PGlite needs`, { cause: error });
  }
  if (lock === null) throw new BackendError("busy", "pgvector", `another process has the database in '${name}' open; PGlite allows one`);
  return lock;
}
