/**
 * A lock between processes: a file that only one of them can create. A process that was killed leaves its lock behind; the
 * next one sees that its owner is gone and takes it away.
 */
import { isRecord } from "../../runtime/base/paths.js";
import type { Host } from "../host.js";
import { DraftsProblem } from "./drafts-file.js";

/** Longest wait for a lock that another process has. */
const WAIT_MS = 5_000;
const POLL_MS = 25;
/** A lock without an owner after this time was left by a process that was killed while it wrote it. */
const UNOWNED_MS = 1_000;

interface Owner {
  readonly pid: number;
  readonly machine: string;
  readonly startedMs: number;
}

/**
 * Runs `use` while this process alone has the lock of `path`.
 * @throws DraftsProblem when another process keeps it; NodeJS.ErrnoException when no lock can be made there
 */
export async function withLock<T>(host: Host, path: string, use: () => Promise<T>, waitMs = WAIT_MS): Promise<T> {
  const lock = `${path}.lock`;
  const mine = JSON.stringify(host.process);
  await acquire(host, lock, mine, waitMs);
  try {
    return await use();
  } finally {
    await host.remove(lock);
  }
}

async function acquire(host: Host, lock: string, mine: string, waitMs: number): Promise<void> {
  const startedMs = host.monotonic();
  let unownedSinceMs: number | null = null;
  while (!(await host.create(lock, mine))) {
    const found = await read(host, lock);
    const owner = found === null ? null : ownerOf(found);
    unownedSinceMs = found !== null && owner === null ? (unownedSinceMs ?? host.monotonic()) : null;
    const isLeft = owner === null ? unownedSinceMs !== null && host.monotonic() - unownedSinceMs >= UNOWNED_MS : isGone(host, owner);
    if (found !== null && isLeft) await takeAway(host, lock, found);
    else if (host.monotonic() - startedMs >= waitMs) throw new DraftsProblem(busy(lock, owner));
    else await host.sleep(POLL_MS);
  }
}

function busy(lock: string, owner: Owner | null): string {
  const who = owner === null ? "another process" : `process ${owner.pid} on ${owner.machine}`;
  return `${who} is changing the file: ${lock} exists. If no such process runs, remove ${lock}`;
}

function isGone(host: Host, { pid, machine, startedMs }: Owner): boolean {
  if (machine !== host.process.machine) return false;
  // In containers the next process often has the same id.
  return pid === host.process.pid ? startedMs !== host.process.startedMs : !host.isRunning(pid);
}

/** Under another name first: of two processes that find the same lock only one can rename it. */
async function takeAway(host: Host, lock: string, found: string): Promise<void> {
  const aside = `${lock}.${host.process.pid}`;
  try {
    await host.rename(lock, aside);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  const taken = await read(host, aside);
  // Meanwhile somebody else removed the old lock and made a new one: it is given back.
  if (taken !== null && taken !== found) await host.create(lock, taken);
  await host.remove(aside);
}

async function read(host: Host, path: string): Promise<string | null> {
  const bytes = await host.read(path);
  return bytes === null ? null : Buffer.from(bytes).toString("utf8");
}

function ownerOf(text: string): Owner | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return null;
    const { pid, machine, startedMs } = value;
    return typeof pid === "number" && typeof machine === "string" && typeof startedMs === "number" ? { pid, machine, startedMs } : null;
  } catch {
    return null;
  }
}
