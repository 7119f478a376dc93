/**
 * Thread of long searches and lists. It has its own read-only connection, so that one read is one read transaction, and
 * runs one at a time. While it runs the thread receives no message: cancellation is a number in shared memory.
 */
import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { type BackendErrorKind, isBackendError } from "../../abi/errors.js";
import { answerCalls } from "../../base/thread.js";
import type { Turns } from "../../base/turns.js";
import type { SearchRequest } from "../adapter.js";
import type { Collection } from "./catalog.js";
import { type Blocks, buildSet, type CodeSet, readStamp, residentBlocks, setBytes, streamedBlocks } from "./code-set.js";
import type { Place } from "./database.js";
import { createKernel, type Kernel } from "./kernel.js";
import type { ListRequest } from "./queries.js";
import { type ListAnswer, listSql, readList } from "./reads.js";
import { type Hit, searchInSteps } from "./search.js";
import { Session } from "./session.js";

/** What the thread is started with. */
export interface SearchThreadData {
  readonly place: Place;
  /** The number of the call that was cancelled last. */
  readonly cancelled: Int32Array;
  /** Number of the thread, for its scratch memory. */
  readonly slot: number;
}

/** An answer. Failures that callers may see are values, because an error loses its kind between threads. */
export type Answer<T> = T | { readonly failure: Failure } | { readonly isCancelled: true };

/** The found records, and the stamp of the collection's codes in the state of the file that was read. */
export interface SearchAnswer {
  readonly hits: readonly Hit[];
  readonly stamp: string | null;
}

/** Codes in memory; `null` when they have another stamp by now, are too large or find no memory. */
export interface BuildAnswer {
  readonly set: CodeSet | null;
}

/** A list or count, and the milliseconds that it took. */
export interface TimedList {
  readonly answer: ListAnswer;
  readonly tookMs: number;
}

/** A BackendError in parts; its causes as text, for the log. */
export interface Failure {
  readonly kind: BackendErrorKind;
  readonly message: string;
  readonly causes: readonly string[];
}

if (parentPort === null) throw new Error("search-thread.js runs in a thread");
const { place, cancelled, slot } = workerData as SearchThreadData;
const sets = new Map<string, { readonly set: CodeSet; readonly kernel: Kernel }>();
let session: Session | null = null;

async function search(number: number, request: SearchRequest): Promise<Answer<SearchAnswer>> {
  return inSession(number, async (own, signal, turns) => {
    let stamp: string | null = null;
    const openBlocks = (collection: Collection): Blocks | null => {
      stamp = readStamp(own, collection);
      if (stamp === null) return null;
      const known = sets.get(collection.name);
      return known?.set.stamp === stamp ? residentBlocks(known.set, known.kernel, slot) : streamedBlocks(own, collection);
    };
    return { hits: await searchInSteps(own, request, signal, turns, openBlocks), stamp };
  });
}

function list(number: number, request: ListRequest): Promise<Answer<TimedList>> {
  return inSession(number, async (own, signal, turns) => {
    const startedMs = turns.nowMs();
    const poll = (): void => {
      void turns.yield();
      signal.throwIfAborted();
    };
    const answer = await own.run(signal, () => own.watched(poll, () => readList(own, listSql(own, request))));
    return { answer, tookMs: turns.nowMs() - startedMs };
  });
}

/** Reads the codes of a collection into memory, if they have this stamp and are at most so large. */
async function build(number: number, name: string, stamp: string, maxBytes: number): Promise<Answer<BuildAnswer>> {
  return inSession(number, async (own, signal, turns) => {
    const collection = await own.begin(signal, () => own.collections.find(name));
    if (collection === null || readStamp(own, collection) !== stamp || setBytes(own, collection) > maxBytes) return { set: null };
    return { set: await buildSet(own, collection, stamp, turns, signal) };
  });
}

/** Runs a call in one read transaction of the thread's session. */
async function inSession<T>(number: number, work: (session: Session, signal: AbortSignal, turns: Turns) => Promise<T>): Promise<Answer<T>> {
  const client = new AbortController();
  const poll = (): void => {
    if (Atomics.load(cancelled, 0) === number) client.abort();
  };
  try {
    poll();
    client.signal.throwIfAborted();
    session ??= await Session.open(place);
    return await work(session, client.signal, { nowMs: () => performance.now(), yield: async () => poll() });
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

/** Uses these codes from now on. */
function adopt(set: CodeSet): void {
  sets.set(set.collection, { set, kernel: createKernel(set.memory) });
}

answerCalls(parentPort, { search, list, build, adopt, drop: (collection: string) => void sets.delete(collection), close: () => session?.close() });
