/** One process writes a data directory. */
import { lockFile, type FileLock } from "../../../base/file-lock.js";
import { makeFolder } from "../../../base/make-folder.js";
import { StoreOpenError } from "../store.js";
import { keepPrivate, type Layout } from "./schema.js";

/** @throws StoreOpenError when another process holds it. */
export function createWriteLock({ directory, lock: path }: Layout): FileLock {
  let lock: FileLock | null;
  try {
    makeFolder(directory, 0o700);
    keepPrivate(path);
    lock = lockFile(path);
  } catch (error) {
    throw new StoreOpenError(`${path} can't be locked: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (lock === null) throw new StoreOpenError(`${directory} is in use by another trace service; stop it, or choose another --data-dir`);
  return lock;
}
