/**
 * Thread of long searches and lists. It has its own read-only connection, so that one read is one read transaction, and runs
 * one at a time. While it runs the thread receives no message: cancellation is a number in shared memory.
 */
import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { BackendError, isBackendError } from "../../abi/errors.js";
import { answerCalls } from "../../base/thread.js";
import type { Turns } from "../../base/turns.js";
import type { SearchRequest } from "../adapter.js";
import { type Place } from "./database.js";
import { type ListAnswer, type ListRequest, listSql, readList } from "./reads.js";
import { type Hit, searchInSlices } from "./search.js";
import { Session } from "./session.js";

/** What the thread is started with. */
export interface SearchThreadData {
  readonly place: Place;
  /** The number of the search that was cancelled last. */
  readonly cancelled: Int32Array;
}

/** The answer to a read. Failures that callers may see are values, because an error loses its kind between threads. */
export type ThreadAnswer = { readonly result: readonly Hit[] | TimedList } | { readonly failure: Failure } | { readonly isCancelled: true };

/** A list or count, and the milliseconds that it took. */
export interface TimedList {
  readonly answer: ListAnswer;
  readonly tookMs: number;
}

/** A BackendError in parts; its causes as text, for the log. */
export interface Failure {
  readonly kind: BackendError["kind"];
  readonly message: string;
  readonly causes: readonly string[];
}

if (parentPort === null) throw new Error("search-thread.js runs in a thread");
const { place, cancelled } = workerData as SearchThreadData;
let session: Session | null = null;

function search(number: number, request: SearchRequest): Promise<ThreadAnswer> {
  return answered(number, (session, signal, turns) => searchInSlices(session, request, signal, turns));
}

function list(number: number, request: ListRequest): Promise<ThreadAnswer> {
  return answered(number, async (session, signal, turns) => {
    const startedMs = turns.nowMs();
    const poll = (): void => {
      void turns.yield();
      signal.throwIfAborted();
    };
    const answer = await session.run(signal, () => session.watched(poll, () => readList(session, listSql(session, request))));
    return { answer, tookMs: turns.nowMs() - startedMs };
  });
}

type Read = (session: Session, signal: AbortSignal, turns: Turns) => Promise<readonly Hit[] | TimedList>;

async function answered(number: number, read: Read): Promise<ThreadAnswer> {
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
    return { result: await read(session, client.signal, turns) };
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

answerCalls(parentPort, { search, list, close: () => session?.close() });
