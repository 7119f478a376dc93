/** One process at a time changes a file; the others wait for it. */
import type { FileLock } from "../../runtime/base/file-lock.js";
import type { Host } from "../host.js";
import { DraftsProblem } from "./drafts-file.js";

/** Longest wait for a lock that another process has. */
const WAIT_MS = 5_000;
const POLL_MS = 25;

/**
 * Runs `use` while this process alone has the lock of `path`. A process that is killed leaves none behind.
 * @throws DraftsProblem when another process keeps it; NodeJS.ErrnoException when no lock can be made there
 */
export async function withLock<T>(host: Host, path: string, use: () => Promise<T>, waitMs = WAIT_MS): Promise<T> {
  const lock = await acquire(host, path, waitMs);
  try {
    return await use();
  } finally {
    lock.release();
  }
}

async function acquire(host: Host, path: string, waitMs: number): Promise<FileLock> {
  const startedMs = host.monotonic();
  for (;;) {
    const lock = await host.lock(path);
    if (lock !== null) return lock;
    if (host.monotonic() - startedMs >= waitMs) throw new DraftsProblem(`another process is changing ${path} and does not end; run this again when it has`);
    await host.sleep(POLL_MS);
  }
}
