/**
 * Watches files. Events of their folders come at once, also where an editor replaces a file rather than write into it.
 * What gives no event (a file behind a link, a folder that is itself replaced, a mounted file system) is found by polling
 * each file once a second.
 */
import { statSync, unwatchFile, watch as watchFolder, watchFile, type BigIntStats, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";

/** An editor's save is several events; they count as one when they come within this time. */
const SETTLE_MS = 60;
const POLL_MS = 1000;

/** Calls `onChange` once after files were written, created, replaced or removed. Returns what stops it. */
export function watchFiles(paths: readonly string[], onChange: () => void): () => void {
  let timer: NodeJS.Timeout | null = null;
  /** The files as they were at the last report. */
  const reported = new Map(paths.map((path) => [path, stateOf(path)]));
  const settle = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      for (const path of paths) reported.set(path, stateOf(path));
      onChange();
    }, SETTLE_MS);
  };
  const watchers = [...new Set(paths.map((path) => dirname(path)))].flatMap((folder) => {
    const names = new Set(paths.filter((path) => dirname(path) === folder).map((path) => basename(path)));
    return watchNames(folder, names, settle) ?? [];
  });
  const polls = paths.map((path) => {
    const poll = (now: BigIntStats): void => {
      if (textOf(now) !== reported.get(path)) settle();
    };
    watchFile(path, { interval: POLL_MS, persistent: false, bigint: true }, poll);
    return () => unwatchFile(path, poll as never);
  });
  return () => {
    if (timer !== null) clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
    for (const stop of polls) stop();
  };
}

/** `null` where the system has no events for this folder; polling goes on without them. */
function watchNames(folder: string, names: ReadonlySet<string>, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watchFolder(folder, { persistent: false }, (_, name) => {
      if (name === null || names.has(name)) onEvent();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}

function stateOf(path: string): string {
  try {
    return textOf(statSync(path, { bigint: true }));
  } catch {
    return ABSENT;
  }
}

/** What polling compares; polling no file gives zeros. */
function textOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

const ABSENT = "0 0 0 0 0";
