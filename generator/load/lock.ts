/** One load at a time for each collection of a file. */
import { createHash } from "node:crypto";
import { chmodSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type FileLock, lockFile } from "../../runtime/base/file-lock.js";
import { makeFolder } from "../../runtime/base/make-folder.js";

/**
 * Two loads of one collection would write into the same tables: one would put its rows into the other's replacement, or
 * add fields that the other does not know. Loads of other collections of the file may run meanwhile. The lock ends with
 * the process; its empty file stays beside the database.
 * @throws RangeError while another load has the lock; what the file system reports.
 */
export function lockCollection(file: string, collection: string): FileLock {
  makeFolder(dirname(file));
  const name = createHash("sha256").update(collection).digest("hex").slice(0, 8);
  const path = join(dirname(file), `.${basename(file)}.${name}.lock`);
  const lock = lockFile(path);
  if (lock === null) throw new RangeError(`another load is writing collection '${collection}' of this file; run this one again when it has ended`);
  shareAs(file, path);
  return lock;
}

/** Who may write the database may lock it: others may fill it too, where somebody gave the file another mode. */
function shareAs(file: string, lock: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  try {
    chmodSync(lock, found.mode & 0o777);
  } catch {
    // Only the owner of the lock can change it; for others it is as the owner left it.
  }
}
