/** One load at a time for each collection of a file. */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { type FileLock, lockBeside } from "../../runtime/base/file-lock.js";
import { makeFolder } from "../../runtime/base/make-folder.js";

/**
 * Two loads of one collection would write into the same tables: one would put its rows into the other's replacement, or
 * add fields that the other does not know. Loads of other collections of the file may run meanwhile.
 * @throws RangeError while another load has the lock; what the file system reports.
 */
export function lockCollection(file: string, collection: string): FileLock {
  makeFolder(dirname(file));
  const lock = lockBeside(file, createHash("sha256").update(collection).digest("hex").slice(0, 8));
  if (lock === null) throw new RangeError(`another load is writing collection '${collection}' of this file; run this one again when it has ended`);
  return lock;
}
