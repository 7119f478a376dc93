/** Watches files by their folders, because editors replace a file rather than write into it. */
import { watch as watchFolder, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";

/** An editor's save is several events; they count as one when they come within this time. */
const SETTLE_MS = 60;

/** Calls `onChange` once after files were written, created, replaced or removed. Returns what stops it. */
export function watchFiles(paths: readonly string[], onChange: () => void, onError: (error: Error) => void): () => void {
  let timer: NodeJS.Timeout | null = null;
  const settle = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  };
  const watchers: FSWatcher[] = [];
  for (const folder of new Set(paths.map((path) => dirname(path)))) {
    const names = new Set(paths.filter((path) => dirname(path) === folder).map((path) => basename(path)));
    try {
      const watcher = watchFolder(folder, { persistent: false }, (_, name) => {
        if (name === null || names.has(name)) settle();
      });
      watcher.on("error", onError);
      watchers.push(watcher);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
  }
  return () => {
    if (timer !== null) clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
