/**
 * Events between their acceptance and their commit. It is bounded in events and in bytes: what does not fit is refused
 * whole and counted, never dropped in silence. One batch is with the store at any time. Waiting batches are kept as
 * the bytes in which they cross to the store's thread: as objects they would outlive the young generation and make
 * the heap several times larger. Who sends without pause gets its answers at the pace of the store, so that the queue
 * stays short and what comes in is seen soon; it fills up only when many send more than they wait for.
 */
import type { Incoming } from "../model.js";
import { StorageFullError, StoreUnavailableError, type TraceStore } from "../store/store.js";
import { encodeBatch, joinBatches } from "./batch.js";
import type { Counters } from "./counters.js";
import { Pacer } from "./pacer.js";

export interface QueueOptions {
  readonly store: Pick<TraceStore, "write">;
  readonly counters: Counters;
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly batchSize: number;
  /** Time that a batch may wait to become full. */
  readonly lingerMs: number;
  /** So many events are lost. */
  readonly onFailed: (error: Error, events: number) => void;
  /** The store can't be reached (called once, with the reason), or can be again. */
  readonly onReach: (error: Error | null) => void;
  /** Milliseconds from a monotonic clock. */
  readonly monotonic: () => number;
}

/** "full": no room; "stopping": the service ends; "storage": the disk is full, and was a moment ago; "away": the store can't be reached. */
export type Refusal = "full" | "stopping" | "storage" | "away";

/** Events as the bytes of `encodeBatch`. */
export interface EncodedBatch {
  readonly data: Uint8Array;
  readonly count: number;
}

/** A batch that is closed. */
interface Sealed extends EncodedBatch {
  readonly bytes: number;
}

interface Waiter {
  /** Events that it waits for, by their position in all that was offered. */
  readonly from: number;
  readonly to: number;
  error: Error | null;
  readonly resolve: (error: Error | null) => void;
}

/** After a full disk, and while the store can't be reached, one batch a second is tried. */
const RETRY_MS = 1000;

export class IngestQueue {
  readonly #sealed: Sealed[] = [];
  /** The batch that is being filled: its encoded events, and those after them that are not encoded. */
  #parts: EncodedBatch[] = [];
  #partCount = 0;
  #open: Incoming[] = [];
  #openBytes = 0;
  #waiting = 0;
  #bytes = 0;
  #inFlight = 0;
  #offered = 0;
  #finished = 0;
  #pumping = false;
  #stopping = false;
  #fullUntil = 0;
  #away = false;
  /** Ends the wait for a store that can't be reached. */
  #hurry: () => void = () => undefined;
  #timer: NodeJS.Timeout | null = null;
  #waiters: Waiter[] = [];
  readonly #pacer: Pacer;

  constructor(private readonly options: QueueOptions) {
    this.#pacer = new Pacer(options.batchSize);
  }

  /** Events that are accepted and not committed. */
  get depth(): number {
    return this.#waiting + this.#inFlight;
  }

  get max(): number {
    return this.options.maxEvents;
  }

  /**
   * Takes all of the events or none; `null` when they were taken. `bytes` is about what they hold in memory. With
   * `soon` they are refused when they would have to wait for a store that can't be reached.
   */
  offer(events: readonly Incoming[], bytes: number, soon = false): Refusal | null {
    const refusal = this.#admit(events.length, bytes, soon);
    if (refusal !== null) return refusal;
    const each = events.length === 0 ? 0 : bytes / events.length;
    for (const event of events) {
      this.#open.push(event);
      this.#openBytes += each;
      if (this.#partCount + this.#open.length >= this.options.batchSize) this.#seal();
    }
    if (!this.#pumping) this.#schedule();
    return null;
  }

  /** `offer` for events that are encoded, in batches of at most `batchSize`; the bytes are given away. */
  take(batches: readonly EncodedBatch[], soon = false): Refusal | null {
    const count = batches.reduce((sum, batch) => sum + batch.count, 0);
    const bytes = batches.reduce((sum, batch) => sum + batch.data.byteLength, 0);
    const refusal = this.#admit(count, bytes, soon);
    if (refusal !== null) return refusal;
    for (const batch of batches) {
      if (this.#partCount + this.#open.length + batch.count > this.options.batchSize) this.#seal();
      this.#encodeOpen();
      this.#add(batch);
      this.#openBytes += batch.data.byteLength;
      if (this.#partCount >= this.options.batchSize) this.#seal();
    }
    if (!this.#pumping) this.#schedule();
    return null;
  }

  /** Resolves when the next request of who sent these events has its turn: at once, unless the store is behind. */
  pace(count: number): Promise<void> {
    return this.#progressing ? this.#pacer.pace(count, this.depth) : Promise.resolve();
  }

  /**
   * Resolves when the last `count` events offered have left the queue, with the error when some of them were lost; with
   * StoreUnavailableError when they are still there and wait for the store.
   */
  flushed(count: number): Promise<Error | null> {
    const to = this.#offered;
    if (this.#finished >= to) return Promise.resolve(null);
    return new Promise((resolve) => this.#waiters.push({ from: to - count, to, error: null, resolve }));
  }

  /** Takes nothing more and resolves when the queue is empty. */
  async drain(): Promise<void> {
    this.#stopping = true;
    this.#hurry();
    this.#release();
    if (this.depth > 0 && !this.#pumping) void this.#pump();
    await this.flushed(0);
  }

  /** Counts events in, or as dropped. */
  #admit(count: number, bytes: number, soon: boolean): Refusal | null {
    const refusal = soon && this.#away ? "away" : this.#refusal(count, bytes);
    if (refusal !== null) {
      this.options.counters.dropped += count;
      return refusal;
    }
    this.#waiting += count;
    this.#bytes += bytes;
    this.#offered += count;
    return null;
  }

  /** False when nothing will make room: the service stops, or its store can't be reached. */
  get #progressing(): boolean {
    return !this.#stopping && !this.#away;
  }

  #release(): void {
    this.#pacer.release(this.#progressing ? this.depth : Number.NEGATIVE_INFINITY);
  }

  #refusal(count: number, bytes: number): Refusal | null {
    if (this.#stopping) return "stopping";
    if (this.#fullUntil > this.options.monotonic()) return "storage";
    // A request that alone is larger than the bound still passes when nothing waits: it could never pass otherwise.
    return this.depth + count > this.options.maxEvents || (this.#bytes > 0 && this.#bytes + bytes > this.options.maxBytes) ? "full" : null;
  }

  #schedule(): void {
    if (this.#sealed.length > 0 || this.options.lingerMs === 0) {
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = null;
      void this.#pump();
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#pump();
    }, this.options.lingerMs);
  }

  #add(part: EncodedBatch): void {
    this.#parts.push(part);
    this.#partCount += part.count;
  }

  #encodeOpen(): void {
    if (this.#open.length === 0) return;
    this.#add({ data: encodeBatch(this.#open), count: this.#open.length });
    this.#open = [];
  }

  #seal(): void {
    this.#encodeOpen();
    if (this.#partCount === 0) return;
    this.#sealed.push({ data: joinBatches(this.#parts.map(({ data }) => data)), count: this.#partCount, bytes: this.#openBytes });
    this.#parts = [];
    this.#partCount = 0;
    this.#openBytes = 0;
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#waiting > 0) {
      if (this.#sealed.length === 0) this.#seal();
      const batch = this.#sealed.shift();
      if (batch === undefined) break;
      this.#waiting -= batch.count;
      this.#inFlight = batch.count;
      const error = this.#stopping && this.#away ? this.#lose(batch, new Error("the service stops and its store can't be reached")) : await this.#write(batch);
      this.#inFlight = 0;
      this.#bytes = this.#waiting === 0 ? 0 : Math.max(0, this.#bytes - batch.bytes);
      this.#finished += batch.count;
      this.#wake(error, this.#finished - batch.count);
      this.#release();
    }
    this.#pumping = false;
  }

  /** Stores a batch, however long the store can't be reached; the error when it is lost. */
  async #write(batch: Sealed): Promise<Error | null> {
    const { counters, store } = this.options;
    for (;;) {
      try {
        const started = this.options.monotonic();
        const outcome = await store.write(batch.data);
        this.#pacer.measure(batch.count, this.options.monotonic() - started);
        counters.processed += outcome.stored;
        counters.duplicates += outcome.duplicates;
        counters.sampledOut += outcome.sampledOut;
        counters.throttled += outcome.throttled;
        counters.throttledRuns += outcome.throttledRuns;
        counters.batch(outcome.elapsedMs);
        this.#fullUntil = 0;
        this.#reach(null);
        return null;
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        if (error instanceof StorageFullError) this.#fullUntil = this.options.monotonic() + RETRY_MS;
        if (!(error instanceof StoreUnavailableError)) return this.#lose(batch, error);
        this.#reach(error);
        if (this.#stopping) return this.#lose(batch, error);
        await this.#pause();
      }
    }
  }

  #lose(batch: Sealed, error: Error): Error {
    this.options.counters.dropped += batch.count;
    this.options.onFailed(error, batch.count);
    return error instanceof StoreUnavailableError ? new Error(error.message, { cause: error }) : error;
  }

  /** Notes whether the store can be reached. Who waits for a commit is not kept waiting for one that can't. */
  #reach(error: Error | null): void {
    if (this.#away !== (error !== null)) this.options.onReach(error);
    this.#away = error !== null;
    if (error === null) return;
    this.#release();
    for (const waiter of this.#waiters) if (waiter.from < waiter.to) waiter.resolve(error);
    this.#waiters = this.#waiters.filter((waiter) => waiter.from === waiter.to);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, RETRY_MS);
      this.#hurry = () => (clearTimeout(timer), resolve());
    });
  }

  #wake(error: Error | null, from: number): void {
    for (const waiter of this.#waiters) if (error !== null && waiter.to > from && waiter.from < this.#finished) waiter.error ??= error;
    const ready = this.#waiters.filter((waiter) => waiter.to <= this.#finished);
    this.#waiters = this.#waiters.filter((waiter) => waiter.to > this.#finished);
    for (const waiter of ready) waiter.resolve(waiter.error);
  }
}
