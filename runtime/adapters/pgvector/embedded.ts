/**
 * PostgreSQL within this process (PGlite): a folder of data, one session in a thread of its own, so that a long query
 * neither blocks other calls nor outlives its own. A folder can be open once: all connections to it in this process
 * share a session, and a file in the folder keeps other processes out.
 */
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { BackendError } from "../../abi/errors.js";
import type { FileLock } from "../../base/file-lock.js";
import type { Database } from "./database.js";
import { toParam } from "./database.js";
import type { Answer, Question, Start } from "./embedded-thread.js";
import { pgError } from "./errors.js";
import { lockFolder } from "./folder-lock.js";
import type { Statement } from "./sql.js";

/** Addresses of the two packages, as `import()` takes them. */
export type Packages = Pick<Start, "pglite" | "pgvector">;

/** How long a query may run on after its call has ended. */
const GRACE_MS = 1_000;

/**
 * The folders that this process has open. A reload opens a catalog's stores before it closes the old ones, and two
 * sessions on one folder destroy it: this is state of the process, as the files are.
 */
const OPEN = new Map<string, Shared>();

/** Sessions that still end: the next one of the folder waits for them. */
const ENDING = new Map<string, Promise<void>>();

interface Shared {
  readonly database: Promise<{ readonly session: Session; readonly lock: FileLock }>;
  uses: number;
}

/**
 * The database of a folder that PGlite made. Starts nothing yet.
 * @param name The folder as the catalog writes it, for messages.
 * @throws BackendError not_found where there is no such folder, busy where another process has it
 */
export async function openEmbedded(folder: string, name: string, packages: Packages): Promise<Database> {
  const real = await realpath(folder).catch(() => folder);
  const made = await stat(join(real, "PG_VERSION")).catch(() => null);
  if (made === null) throw new BackendError("not_found", "pgvector", `there is no database of PGlite in '${name}'; make one with new PGlite({ dataDir })`);
  const shared = OPEN.get(real) ?? { database: start(real, name, packages), uses: 0 };
  OPEN.set(real, shared);
  shared.uses++;
  const release = async (): Promise<void> => {
    if (--shared.uses > 0) return;
    OPEN.delete(real);
    const ended = end(shared).finally(() => ENDING.get(real) === ended && ENDING.delete(real));
    ENDING.set(real, ended);
    await ended;
  };
  try {
    const { session } = await shared.database;
    return { run: (statement, signal) => session.run(statement, signal), close: release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function start(folder: string, name: string, packages: Packages): Shared["database"] {
  await ENDING.get(folder);
  return { lock: lockFolder(folder, name), session: new Session({ ...packages, folder }) };
}

/** Where it never began there is nothing to end. */
async function end({ database }: Shared): Promise<void> {
  const begun = await database.catch(() => null);
  try {
    await begun?.session.end();
  } finally {
    begun?.lock.release();
  }
}

interface Job {
  readonly question: Omit<Question, "id">;
  readonly resolve: (rows: readonly Record<string, unknown>[]) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly abort: () => void;
}

/** A thread that starts with the first query, and again after it was stopped. Queries run one after another. */
class Session {
  readonly #start: Start;
  readonly #waiting: Job[] = [];
  #running: Job | null = null;
  #id = 0;
  #worker: Worker | null = null;
  #grace: NodeJS.Timeout | undefined;

  constructor(start: Start) {
    this.#start = start;
  }

  run({ sql, params }: Statement, signal: AbortSignal): Promise<readonly Record<string, unknown>[]> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const job: Job = { question: { sql, params: params.map(toParam) }, resolve, reject, signal, abort: () => this.#abandon(job) };
      signal.addEventListener("abort", job.abort, { once: true });
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Ends the session in order, so that nothing has to be recovered at the next start. */
  async end(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.ref();
    worker.postMessage(null);
    const timer = setTimeout(() => void worker.terminate(), 5 * GRACE_MS);
    await ended;
    clearTimeout(timer);
    this.#fail(new BackendError("unreachable", "pgvector", "the database was closed"));
  }

  #next(): void {
    if (this.#running !== null) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    this.#worker ??= this.#startThread();
    this.#worker.ref();
    this.#worker.postMessage({ id: ++this.#id, ...job.question } satisfies Question);
  }

  #startThread(): Worker {
    const worker = startWorker(new URL(import.meta.url.endsWith(".ts") ? "embedded-thread.ts" : "embedded-thread.js", import.meta.url), this.#start);
    worker.on("message", (answer: Answer) => this.#answered(answer));
    worker.on("error", (error) => this.#lost(worker, error));
    worker.on("exit", () => this.#lost(worker, null));
    return worker;
  }

  #answered(answer: Answer): void {
    if (answer.id !== this.#id) return;
    const job = this.#settle();
    if (job !== null && "rows" in answer) job.resolve(answer.rows);
    else if (job !== null && "error" in answer) job.reject(pgError(Object.assign(new Error(answer.error.message), answer.error.code === null ? {} : { code: answer.error.code })));
    this.#next();
  }

  /** The job that runs is over, whether its caller still waits or not. */
  #settle(): Job | null {
    const job = this.#running;
    this.#running = null;
    // A process may end while a session is open and idle: PostgreSQL recovers.
    this.#worker?.unref();
    clearTimeout(this.#grace);
    this.#grace = undefined;
    job?.signal.removeEventListener("abort", job.abort);
    return job;
  }

  /** The caller has gone: a query that waits is dropped, one that runs is stopped with its thread, unless it ends soon. */
  #abandon(job: Job): void {
    job.reject(job.signal.reason);
    const index = this.#waiting.indexOf(job);
    if (index >= 0) this.#waiting.splice(index, 1);
    if (this.#running !== job) return;
    this.#grace = setTimeout(() => void this.#worker?.terminate(), GRACE_MS);
    this.#grace.unref();
  }

  #lost(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#settle()?.reject(new BackendError("unreachable", "pgvector", "the database within this process has stopped", { cause }));
    this.#next();
  }

  #fail(error: BackendError): void {
    for (const job of [this.#settle(), ...this.#waiting.splice(0)]) job?.reject(error);
  }
}

/** Threads do not inherit the loader by which a development run reads TypeScript; they are given it. */
function startWorker(entry: URL, workerData: Start): Worker {
  if (!entry.pathname.endsWith(".ts")) return new Worker(entry, { workerData });
  const bootstrap = `import("tsx/esm/api").then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); })`;
  return new Worker(bootstrap, { workerData, eval: true, execArgv: [] });
}
