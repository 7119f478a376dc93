/** The drafts file on the disk: read, and changed by one process at a time. */
import { join } from "node:path";
import type { Host } from "../host.js";
import { DraftsProblem, readDrafts, withChange, type DraftsFile } from "./drafts-file.js";
import { withLock } from "./lock.js";
import { DRAFTS_FILE, isExpired } from "./record.js";

/** Only the user who runs the server reads what models proposed. */
const MODE = 0o600;

/** Path of the drafts file of a working directory. */
export function draftsPath(cwd: string): string {
  return join(cwd, DRAFTS_FILE);
}

/** The drafts of a working directory; null when there is no file. @throws DraftsProblem */
export async function loadDrafts(host: Host, cwd: string): Promise<DraftsFile | null> {
  const bytes = await host.read(draftsPath(cwd));
  if (bytes === null) return null;
  try {
    return readDrafts(new TextDecoder("utf-8", { fatal: true }).decode(bytes), DRAFTS_FILE);
  } catch (error) {
    if (error instanceof TypeError) throw new DraftsProblem(`${DRAFTS_FILE} is not UTF-8 text`);
    throw error;
  }
}

/** A change of the drafts file: its new text, or null to leave it as it is. */
export interface Changed<T> {
  readonly text: string | null;
  readonly result: T;
}

/** Changes the drafts file while no other process does. What would be written is read back first. @throws DraftsProblem */
export async function changeDrafts<T>(host: Host, cwd: string, change: (file: DraftsFile | null) => Changed<T> | Promise<Changed<T>>): Promise<T> {
  return withLock(host, draftsPath(cwd), async () => {
    const { text, result } = await change(await loadDrafts(host, cwd));
    if (text !== null) await saveDrafts(host, cwd, text);
    return result;
  });
}

/** Writes the drafts file; only for who has its lock. @throws DraftsProblem for a text that could not be read again */
export async function saveDrafts(host: Host, cwd: string, text: string): Promise<void> {
  readDrafts(text, DRAFTS_FILE);
  await host.replace(draftsPath(cwd), text, MODE);
}

/** The file with every pending draft expired that is old enough; the same file when none is. */
export function expired(file: DraftsFile, nowMs: number): DraftsFile {
  return file.records.reduce((left, record, index) => (isExpired(record, nowMs) ? readDrafts(withChange(left, index, { status: "expired" }), left.shown) : left), file);
}

/** Lets old pending drafts expire; writes nothing when there are none. Returns how many expired. @throws DraftsProblem */
export async function expireDrafts(host: Host, cwd: string): Promise<number> {
  const file = await loadDrafts(host, cwd);
  const count = file?.records.filter((record) => isExpired(record, host.now())).length ?? 0;
  if (count === 0) return 0;
  return changeDrafts(host, cwd, (current) => (current === null ? { text: null, result: 0 } : { text: expired(current, host.now()).text, result: count }));
}
