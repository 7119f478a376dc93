/**
 * The store in PostgreSQL, for more than one machine: every process that is given the same database and schema serves
 * the same traces and the same live feeds. One thread records and listens, one reads; this file puts them together as a
 * `TraceStore`.
 */
import { type BatchOutcome, type Interest, type News, type Retention, StorageFullError, StoreOpenError, StoreUnavailableError, type TraceReader, type TraceStore } from "../store.js";
import { Thread, threadEntry } from "../../../base/thread.js";
import { placeOf } from "./driver.js";
import { PARTITION_STEPS } from "./schema.js";
import type { WriterThreadData } from "./writer-thread.js";

export interface PostgresStoreOptions extends Omit<WriterThreadData, "partitionSteps"> {
  /** Connections that read. */
  readonly connections: number;
  /** Events of a batch that tells that more are waiting. */
  readonly fullBatch: number;
  /** Steps of one partition, when the tables are made. */
  readonly partitionSteps?: number;
  readonly log: (level: "warn" | "error", message: string) => void;
  /** A thread ended on its own; the store answers nothing any more. */
  readonly onDeath: (error: Error) => void;
}

/** Steps deleted in one transaction. */
const ERASE_STEPS = 1000;
/** So long after a full batch the next one is expected, and the full text waits. */
const CALM_MS = 100;

/** Opens the database. @throws StoreOpenError when it can't be reached or is not fit, or the client library is missing. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<TraceStore> {
  const { log, onDeath, connections, fullBatch, partitionSteps = PARTITION_STEPS, ...data } = options;
  const { url, schema } = data;
  let closing = false;
  let tell: (news: News) => void = () => undefined;
  const threads: Thread[] = [];
  const start = async (name: string, given: unknown): Promise<Thread> => {
    const thread = new Thread(threadEntry(`./${name}`, import.meta.url), {
      data: given,
      onNotice: (notice, value) => (notice === "news" ? tell(value as News) : log("warn", String(value))),
      onDeath: (error) => {
        if (!closing) onDeath(error);
      },
    });
    threads.push(thread);
    await thread.call("open");
    return thread;
  };
  const end = async (): Promise<void> => {
    closing = true;
    for (const thread of threads.reverse()) await thread.close();
  };
  try {
    const place = placeOf({ url, schema });
    const writer = await start("writer-thread", { ...data, partitionSteps } satisfies WriterThreadData);
    const reader = await start("reader-thread", { url, schema, connections });
    return compose({ place, writer, reader, fullBatch, log, end, subscribe: (listener) => void (tell = listener) });
  } catch (error) {
    await end();
    throw error instanceof Error && error.name === "StoreOpenError" ? new StoreOpenError(error.message) : error;
  }
}

interface Parts {
  readonly place: string;
  readonly writer: Thread;
  readonly reader: Thread;
  readonly fullBatch: number;
  readonly log: PostgresStoreOptions["log"];
  readonly end: () => Promise<void>;
  readonly subscribe: TraceStore["subscribe"];
}

function compose({ place, writer, reader, fullBatch, log, end, subscribe }: Parts): TraceStore {
  let timer: NodeJS.Timeout | null = null;
  let indexing = false;
  let closed = false;
  const call = async <T>(thread: Thread, method: string, ...args: readonly unknown[]): Promise<T> => {
    try {
      return (await thread.call(method, ...args)) as T;
    } catch (error) {
      throw withName(error);
    }
  };
  /** Background work: a failure is logged only, and not logged when the database is away, because requests report that. */
  const quietly = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) && !closed) log("error", error instanceof Error ? error.message : String(error));
    }
  };
  const index = (delayMs: number): void => {
    if (closed || indexing) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      indexing = true;
      void quietly(() => call(reader, "index")).finally(() => (indexing = false));
    }, delayMs);
    timer.unref();
  };
  const erase = async (all = false): Promise<void> => {
    await call(writer, "dropEmpty").catch((error: unknown) => {
      // Somebody reads or writes there: the next round comes.
      if (!(error instanceof StoreUnavailableError)) throw error;
    });
    while (!closed && (await call<boolean>(writer, "erase", ERASE_STEPS, all)));
  };
  index(0);
  return {
    place,
    packs: false,
    read: threadReader(reader),
    subscribe,
    async write(batch) {
      const outcome = await call<BatchOutcome>(writer, "write", batch);
      index(outcome.stored >= fullBatch ? CALM_MS : 0);
      return outcome;
    },
    watch: (rootId, extended) => call(writer, "watch", rootId, extended),
    unwatch: (rootId, extended) => void writer.call("unwatch", rootId, extended).catch(() => undefined),
    listen: (interest: Interest) => void writer.call("listen", interest).catch(() => undefined),
    takeChanged: () => call(writer, "takeChanged"),
    async deleteRun(runId) {
      const deleted = await call<boolean>(writer, "deleteRun", runId);
      if (deleted) void quietly(erase);
      return deleted;
    },
    registerTools: (server, tools) => call(writer, "registerTools", server, tools),
    sweep: (settleBeforeMs, staleBeforeMs) => call(writer, "sweep", settleBeforeMs, staleBeforeMs),
    async retain(limits: Retention) {
      const deleted = await call<number>(writer, "retain", limits);
      if (deleted > 0) return deleted;
      // The end of a round: what waits since earlier ones, or was left behind by another process, is done here.
      await erase();
      await call(writer, "trimLog");
      index(0);
      return 0;
    },
    async settle() {
      await call(reader, "index");
      await erase(true);
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      await quietly(erase);
      closed = true;
      await end();
    },
  };
}

/** An error of a thread as the class that its name says. */
function withName(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === "StorageFullError") return new StorageFullError(error.message);
  return error.name === "StoreUnavailableError" ? new StoreUnavailableError(error.message) : error;
}

function threadReader(thread: Thread): TraceReader {
  const read = <K extends keyof TraceReader>(method: K) => (...args: Parameters<TraceReader[K]>): ReturnType<TraceReader[K]> => thread.call(method, ...args) as ReturnType<TraceReader[K]>;
  return {
    runs: read("runs"), run: read("run"), target: read("target"), steps: read("steps"), payload: read("payload"), stats: read("stats"), topology: read("topology"), nodeRuns: read("nodeRuns"),
    changed: read("changed"), tools: read("tools"), search: read("search"), compare: read("compare"), overview: read("overview"), sessions: read("sessions"), runIds: read("runIds"), runList: read("runList"),
  };
}
