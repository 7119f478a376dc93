/**
 * The embedded store: three threads over the files of one data directory. Recording, reading and indexing do not wait
 * for each other; this file passes messages between them and puts them together as a `TraceStore`.
 */
import { createWriteLock } from "./lock.js";
import type { WriterOptions } from "./writer.js";
import { type BatchOutcome, type Interest, type News, type RunUpdate, StorageFullError, StoreOpenError, type TraceReader, type TraceStore } from "../store.js";
import { Thread, threadEntry, type ThreadOptions } from "../../../base/thread.js";

export interface SqliteStoreOptions extends Omit<WriterOptions, "now"> {
  /** Threads that read. */
  readonly readers: number;
  readonly log: (level: "warn" | "error", message: string) => void;
  /** A thread ended on its own; the store answers nothing any more. */
  readonly onDeath: (error: Error) => void;
}

/** Steps overwritten between two batches. */
const ERASE_STEPS = 500;

/** All objects of a batch live until it is committed: with less, each collection copies them, which took a seventh of the recorder's time. */
const WRITER_YOUNG_MB = 16;

/** Opens the directory. @throws StoreOpenError when it is in use, damaged or not ours. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<TraceStore> {
  const { log, onDeath, readers: readerCount, ...data } = options;
  const pressure = new SharedArrayBuffer(8);
  const lock = createWriteLock(options.layout);
  let closing = false;
  const threads: Thread[] = [];
  const died = (error: Error): void => {
    if (!closing) onDeath(error);
  };
  const start = async (name: string, given: unknown, more: Pick<ThreadOptions, "onNotice" | "youngMb"> = {}): Promise<Thread> => {
    const thread = new Thread(threadEntry(`./${name}`, import.meta.url), { data: given, onDeath: died, ...more });
    threads.push(thread);
    await thread.call("open");
    return thread;
  };
  try {
    const writer = await start("writer-thread", { ...data, pressure }, { youngMb: WRITER_YOUNG_MB });
    const erase = async (): Promise<void> => {
      while (!closing && (await writer.call("erase", ERASE_STEPS)) === true);
    };
    const notices: { readonly [notice: string]: (value: unknown) => void } = {
      merged: (seq) => void writer.call("merged", seq).catch(died),
      copied: () => void writer.call("restartLogs").catch((error: unknown) => log("warn", `the logs can't be copied: ${String(error)}`)),
      unindexed: (root) => void writer.call("unindexed", root).then(erase).catch((error: unknown) => log("error", String(error))),
      failed: (message) => log("warn", `search can't be brought up to date: ${String(message)}`),
    };
    const readers = await Promise.all(
      Array.from({ length: readerCount }, () => start("reader-thread", { layout: options.layout }, { onNotice: (_, message) => log("warn", String(message)) })),
    );
    const indexer = await start("indexer-thread", { layout: options.layout, pressure }, { onNotice: (notice, value) => notices[notice]?.(value) });
    return compose(options.layout.directory, writer, readers, indexer, log, async () => {
      closing = true;
      await Promise.all(readers.map((reader) => reader.close()));
      await indexer.close();
      await writer.close();
      lock.release();
    });
  } catch (error) {
    closing = true;
    await Promise.allSettled(threads.map((thread) => thread.close()));
    lock.release();
    if (error instanceof Error && error.name === "StoreOpenError") throw new StoreOpenError(error.message);
    if (error instanceof Error && error.name === "SqliteError") throw new StoreOpenError(`the files in ${options.layout.directory} can't be read (${error.message}); see: toolsrv trace doctor`);
    throw error;
  }
}

function compose(place: string, writer: Thread, readers: readonly Thread[], indexer: Thread, log: SqliteStoreOptions["log"], close: () => Promise<void>): TraceStore {
  let waking = false;
  let tell: (news: News) => void = () => undefined;
  const wake = (): void => {
    if (waking) return;
    waking = true;
    indexer.call("wake").then(() => (waking = false), () => undefined);
  };
  /** Until nothing of a deleted run is left in any file. */
  const clean = async (): Promise<void> => {
    while (((await writer.call("doomed")) as readonly unknown[]).length > 0) {
      for (const root of (await indexer.call("unindex")) as readonly number[]) await writer.call("unindexed", root);
      if ((await writer.call("erase", ERASE_STEPS)) !== true) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    place,
    packs: true,
    read: threadReader(readers),
    subscribe: (listener) => void (tell = listener),
    async write(batch) {
      try {
        const { frames, updates, grown, ...outcome } = (await writer.give("write", batch)) as BatchOutcome & News;
        tell({ frames, updates, grown });
        return outcome;
      } catch (error) {
        throw error instanceof Error && error.name === "StorageFullError" ? new StorageFullError(error.message) : error;
      }
    },
    watch: async (rootId, extended) => (await writer.call("watch", rootId, extended)) as number,
    unwatch: (rootId, extended) => void writer.call("unwatch", rootId, extended).catch(() => undefined),
    listen: (interest: Interest) => void writer.call("listen", interest).catch(() => undefined),
    takeChanged: async () => (await writer.call("takeChanged")) as { nodes: string[]; edges: string[] },
    async deleteRun(runId) {
      const deleted = (await writer.call("deleteRun", runId)) as boolean;
      if (deleted) wake();
      return deleted;
    },
    async registerTools(server, tools) {
      return (await writer.call("registerTools", server, tools)) as number;
    },
    async sweep(settleBeforeMs, staleBeforeMs) {
      const updates = (await writer.call("sweep", settleBeforeMs, staleBeforeMs)) as RunUpdate[];
      if (updates.length > 0) tell({ frames: [], updates, grown: [] });
    },
    async retain(limits) {
      const deleted = (await writer.call("retain", limits)) as number;
      if (deleted > 0) wake();
      return deleted;
    },
    async settle() {
      await indexer.call("finish");
      await clean();
    },
    async close() {
      try {
        await clean();
      } catch (error) {
        // Nobody sees a deleted run, and its rows say what is left to do.
        log("warn", `what was deleted is overwritten at the next stop: ${String(error)}`);
      }
      await close();
    },
  };
}

/** Each read goes to the thread that has the least to do. */
function threadReader(readers: readonly Thread[]): TraceReader {
  const read = <K extends keyof TraceReader>(method: K) => (...args: Parameters<TraceReader[K]>): ReturnType<TraceReader[K]> => {
    const reader = readers.reduce((least, thread) => (thread.pending < least.pending ? thread : least));
    return reader.call(method, ...args) as ReturnType<TraceReader[K]>;
  };
  return {
    runs: read("runs"), run: read("run"), target: read("target"), steps: read("steps"), payload: read("payload"), stats: read("stats"), topology: read("topology"), nodeRuns: read("nodeRuns"),
    changed: read("changed"), tools: read("tools"), search: read("search"), compare: read("compare"), overview: read("overview"), sessions: read("sessions"), runIds: read("runIds"), runList: read("runList"),
  };
}
