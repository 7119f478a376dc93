/** Threads for long searches: started when they are first needed, each with one search at a time. */
import { availableParallelism } from "node:os";
import { BackendError } from "../../abi/errors.js";
import { Thread, threadEntry } from "../../base/thread.js";
import type { SearchRequest } from "../adapter.js";
import type { Place } from "./database.js";
import { Pool } from "./pool.js";
import type { ListRequest } from "./reads.js";
import type { Hit } from "./search.js";
import type { Failure, SearchThreadData, ThreadAnswer, TimedList } from "./search-thread.js";

/** Searches that run at the same time; more would only share the memory's bandwidth. */
const MAX_THREADS = 4;

/** One thread and the number in shared memory that cancels its search. */
class SearchThread {
  readonly #thread: Thread;
  readonly #cancelled = new Int32Array(new SharedArrayBuffer(4));
  #searches = 0;

  constructor(place: Place, entry: URL) {
    const data: SearchThreadData = { place, cancelled: this.#cancelled };
    // A search that waits rejects by itself; an idle thread that ends is replaced by the pool.
    this.#thread = new Thread(entry, { data, onDeath: () => undefined });
    this.#thread.keepProcess(false);
  }

  get isUsable(): boolean {
    return !this.#thread.isDead;
  }

  /** A copy, because a message takes all memory along that a view is of. */
  search(request: SearchRequest, signal: AbortSignal): Promise<readonly Hit[]> {
    return this.#call("search", { ...request, vector: request.vector?.slice() ?? null }, signal) as Promise<readonly Hit[]>;
  }

  list(request: ListRequest, signal: AbortSignal): Promise<TimedList> {
    return this.#call("list", request, signal) as Promise<TimedList>;
  }

  async #call(method: "search" | "list", request: SearchRequest | ListRequest, signal: AbortSignal): Promise<unknown> {
    const number = ++this.#searches;
    const cancel = (): void => void Atomics.store(this.#cancelled, 0, number);
    signal.addEventListener("abort", cancel, { once: true });
    this.#thread.keepProcess(true);
    try {
      const answer = (await this.#thread.call(method, number, request).catch((error: unknown) => {
        throw this.isUsable ? error : new BackendError("unreachable", "sqlite", "the thread of a search ended before its answer; try again", { cause: error });
      })) as ThreadAnswer;
      signal.throwIfAborted();
      if ("result" in answer) return answer.result;
      throw "failure" in answer ? errorOf(answer.failure) : new Error("a search was cancelled that nobody cancelled");
    } finally {
      signal.removeEventListener("abort", cancel);
      if (this.isUsable) this.#thread.keepProcess(false);
    }
  }

  close(): void {
    this.#thread.end();
  }
}

/** The searches of one database that are too long for the event loop. */
export class SearchPool {
  readonly #threads: Pool<SearchThread>;

  constructor(place: Place, entry: URL = threadEntry("./search-thread", import.meta.url)) {
    const size = Math.min(MAX_THREADS, Math.max(2, availableParallelism() - 1));
    this.#threads = new Pool(size, () => Promise.resolve(new SearchThread(place, entry)));
  }

  /**
   * The found records, best first. Waits, until `signal` aborts, while all threads are in use.
   * @throws BackendError of the search; unreachable when the thread ended (no memory).
   */
  search(request: SearchRequest, signal: AbortSignal): Promise<readonly Hit[]> {
    return this.#threads.use(signal, (thread) => thread.search(request, signal));
  }

  /** A list or count, and how long it took; as a search. */
  list(request: ListRequest, signal: AbortSignal): Promise<TimedList> {
    return this.#threads.use(signal, (thread) => thread.list(request, signal));
  }

  close(): void {
    this.#threads.close();
  }
}

function errorOf({ kind, message, causes }: Failure): BackendError {
  const cause = causes.reduceRight<Error | undefined>((inner, text) => new Error(text, inner === undefined ? {} : { cause: inner }), undefined);
  return new BackendError(kind, "sqlite", message, cause === undefined ? {} : { cause });
}
