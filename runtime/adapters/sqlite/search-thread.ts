/**
 * Thread of long searches. It has its own read-only connection, so that one search is one read transaction, and runs
 * one search at a time. While a search runs the thread receives no message: cancellation is a number in shared memory.
 */
import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { BackendError, isBackendError } from "../../abi/errors.js";
import { answerCalls } from "../../base/thread.js";
import type { Turns } from "../../base/turns.js";
import type { SearchRequest } from "../adapter.js";
import { type Place } from "./database.js";
import { type Hit, searchInSlices } from "./search.js";
import { Session } from "./session.js";

/** What the thread is started with. */
export interface SearchThreadData {
  readonly place: Place;
  /** The number of the search that was cancelled last. */
  readonly cancelled: Int32Array;
}

/** The answer to a search. Failures that callers may see are values, because an error loses its kind between threads. */
export type SearchAnswer = { readonly hits: readonly Hit[] } | { readonly failure: Failure } | { readonly isCancelled: true };

/** A BackendError in parts; its causes as text, for the log. */
export interface Failure {
  readonly kind: BackendError["kind"];
  readonly message: string;
  readonly causes: readonly string[];
}

if (parentPort === null) throw new Error("search-thread.js runs in a thread");
const { place, cancelled } = workerData as SearchThreadData;
let session: Session | null = null;

async function search(number: number, request: SearchRequest): Promise<SearchAnswer> {
  const client = new AbortController();
  const poll = (): void => {
    if (Atomics.load(cancelled, 0) === number) client.abort();
  };
  const turns: Turns = {
    nowMs: () => performance.now(),
    yield: async () => poll(),
  };
  try {
    poll();
    session ??= await Session.open(place);
    return { hits: await searchInSlices(session, request, client.signal, turns) };
  } catch (error) {
    if (client.signal.aborted) return { isCancelled: true };
    if (isBackendError(error)) return { failure: { kind: error.kind, message: error.message, causes: causesOf(error) } };
    throw error;
  } finally {
    session?.end();
  }
}

function causesOf(error: Error): readonly string[] {
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error; cause = cause.cause) causes.push(cause.message);
  return causes;
}

answerCalls(parentPort, { search, close: () => session?.close() });
