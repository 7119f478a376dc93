/** Threads for long searches and lists: started when they are first needed, each with one at a time. */
import { availableParallelism } from "node:os";
import { BackendError } from "../../abi/errors.js";
import { Thread, threadEntry } from "../../base/thread.js";
import type { SearchRequest } from "../adapter.js";
import { type CodeSet, MAX_THREADS } from "./code-set.js";
import { codesMemory, CodeSets } from "./code-sets.js";
import type { Place } from "./database.js";
import { Pool } from "./pool.js";
import type { ListRequest } from "./queries.js";
import type { Hit } from "./search.js";
import type { Answer, BuildAnswer, Failure, SearchAnswer, SearchThreadData, TimedList } from "./search-thread.js";

/** One thread and the number in shared memory that cancels its call. */
class SearchThread {
  readonly #thread: Thread;
  readonly #cancelled = new Int32Array(new SharedArrayBuffer(4));
  readonly #onClose: () => void;
  #calls = 0;

  constructor(place: Place, slot: number, entry: URL, onClose: () => void) {
    const data: SearchThreadData = { place, slot, cancelled: this.#cancelled };
    // A call that waits rejects by itself; an idle thread that ends is replaced by the pool.
    this.#thread = new Thread(entry, { data, onDeath: () => undefined });
    this.#thread.keepProcess(false);
    this.#onClose = onClose;
  }

  get isUsable(): boolean {
    return !this.#thread.isDead;
  }

  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    // A copy, because a message takes all memory along that a view is of.
    return this.#call(signal, "search", { ...request, vector: request.vector?.slice() ?? null });
  }

  async list(request: ListRequest, signal: AbortSignal): Promise<TimedList> {
    return this.#call(signal, "list", request);
  }

  build(collection: string, stamp: string, maxBytes: number, signal: AbortSignal): Promise<BuildAnswer> {
    return this.#call(signal, "build", collection, stamp, maxBytes);
  }

  /** Uses other codes, or none. Messages keep their order, so the next search knows. */
  adopt(set: CodeSet): void {
    void this.#thread.call("adopt", set).catch(() => undefined);
  }

  drop(collection: string): void {
    void this.#thread.call("drop", collection).catch(() => undefined);
  }

  close(): void {
    this.#thread.end();
    this.#onClose();
  }

  async #call<T extends object>(signal: AbortSignal, method: string, ...args: readonly unknown[]): Promise<T> {
    const number = ++this.#calls;
    const cancel = (): void => void Atomics.store(this.#cancelled, 0, number);
    signal.addEventListener("abort", cancel, { once: true });
    this.#thread.keepProcess(true);
    try {
      const answer = (await this.#thread.call(method, number, ...args).catch((error: unknown) => {
        throw this.isUsable ? error : new BackendError("unreachable", "sqlite", "the thread of a search ended before its answer; try again", { cause: error });
      })) as Answer<T>;
      signal.throwIfAborted();
      if ("failure" in answer) throw errorOf(answer.failure);
      if ("isCancelled" in answer) throw new Error("a search was cancelled that nobody cancelled");
      return answer;
    } finally {
      signal.removeEventListener("abort", cancel);
      if (this.isUsable) this.#thread.keepProcess(false);
    }
  }
}

export interface SearchPoolOptions {
  /** Bound of the codes that are kept in memory; those of other collections are read from the file. */
  readonly codesMemoryBytes?: number;
  /** Code of the threads. */
  readonly entry?: URL;
}

/** The reads of one database that are too long for the event loop. */
export class SearchPool {
  readonly #threads: Pool<SearchThread>;
  readonly #running = new Map<number, SearchThread>();
  readonly #sets: CodeSets;

  constructor(place: Place, { codesMemoryBytes = codesMemory({}), entry = threadEntry("./search-thread", import.meta.url) }: SearchPoolOptions = {}) {
    const size = Math.min(MAX_THREADS, Math.max(2, availableParallelism() - 1));
    this.#threads = new Pool(size, () => Promise.resolve(this.#start(place, entry)));
    this.#sets = new CodeSets(codesMemoryBytes, {
      build: async (collection, stamp, maxBytes, signal) => (await this.#threads.use(signal, (thread) => thread.build(collection, stamp, maxBytes, signal))).set,
      adopt: (set) => this.#running.forEach((thread) => thread.adopt(set)),
      drop: (collection) => this.#running.forEach((thread) => thread.drop(collection)),
    });
  }

  /**
   * The found records, best first. Waits, until `signal` aborts, while all threads are in use.
   * @throws BackendError of the search; unreachable when the thread ended (no memory).
   */
  async search(request: SearchRequest, signal: AbortSignal): Promise<readonly Hit[]> {
    const { hits, stamp } = await this.#threads.use(signal, (thread) => thread.search(request, signal));
    this.#sets.saw(request.collection, stamp);
    return hits;
  }

  /** A list or count, and how long it took; as a search. */
  list(request: ListRequest, signal: AbortSignal): Promise<TimedList> {
    return this.#threads.use(signal, (thread) => thread.list(request, signal));
  }

  /** Resolves when no codes are being read into memory. */
  settled(): Promise<void> {
    return this.#sets.settled();
  }

  close(): void {
    this.#sets.close();
    this.#threads.close();
  }

  #start(place: Place, entry: URL): SearchThread {
    const slot = Array.from({ length: MAX_THREADS }, (_, index) => index).find((index) => !this.#running.has(index));
    if (slot === undefined) throw new Error("more threads than slots");
    const thread = new SearchThread(place, slot, entry, () => this.#running.delete(slot));
    this.#running.set(slot, thread);
    for (const set of this.#sets.all()) thread.adopt(set);
    return thread;
  }
}

function errorOf({ kind, message, causes }: Failure): BackendError {
  const cause = causes.reduceRight<Error | undefined>((inner, text) => new Error(text, inner === undefined ? {} : { cause: inner }), undefined);
  return new BackendError(kind, "sqlite", message, cause === undefined ? {} : { cause });
}
