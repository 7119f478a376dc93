/**
 * Makes folders with their parents. Not `mkdir` with `recursive`: Node retries that call for ever where the parent
 * exists and the file system refuses the folder with ENOENT, as /proc does, and reports ENOENT for a full disk
 * (https://github.com/nodejs/node/issues/42808).
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a folder and those above it that are missing. `mode` is that of each folder made. @throws ErrnoException */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
    return;
  } catch (error) {
    if (isFolder(path)) return;
    const parent = dirname(path);
    const parentIsMissing = error instanceof Error && "code" in error && error.code === "ENOENT" && parent !== path && !existsSync(parent);
    if (!parentIsMissing) throw error;
    makeFolder(parent, mode);
  }
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it in between.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
