/**
 * Records wait here for their sink. The queue is bounded in records and in characters: a call adds and goes on, a sink
 * that is slow or away costs records, which are counted, and one line of the log for each outage.
 */
import type { Log } from "../log.js";
import type { AuditEvent } from "./event.js";
import type { AuditSink } from "./sink.js";

const MAX_EVENTS = 10_000;
const MAX_CHARS = 16 * 1024 * 1024;
const BATCH_EVENTS = 512;
const BATCH_CHARS = 1024 * 1024;
/** A busy server has one delivery for many calls. */
const GATHER_MS = 20;
const RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** Between attempts while the process waits for the end. */
const CLOSING_RETRY_MS = 100;

export interface QueueOptions {
  readonly sink: AuditSink;
  readonly log: Pick<Log, "error" | "warn">;
  /** The text of an error without credentials. */
  readonly explain: (error: unknown) => string;
  readonly maxEvents?: number;
}

export interface AuditQueue {
  /** Never waits or throws; a full queue drops the event. */
  add(event: AuditEvent): void;
  /** Events that were lost since the start. */
  dropped(): number;
  /** Delivers what waits for up to `graceMs`; the rest is dropped. */
  close(graceMs: number): Promise<void>;
}

/** The queue of one sink. */
export function createAuditQueue(options: QueueOptions): AuditQueue {
  return new Queue(options);
}

class Queue implements AuditQueue {
  #waiting: AuditEvent[] = [];
  #chars = 0;
  #dropped = 0;
  /** Dropped since the last delivery. */
  #lost = 0;
  /** Dropped in this outage; `null` when there is none. */
  #outage: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  #delivering: Promise<void> | null = null;
  #retryMs = RETRY_MS;
  #closing = false;

  constructor(private readonly options: QueueOptions) {}

  add(event: AuditEvent): void {
    if (this.#waiting.length >= (this.options.maxEvents ?? MAX_EVENTS) || this.#chars + event.body.length > MAX_CHARS) {
      this.#drop(1);
      this.#begin("audit records are lost: the sink is too slow", null);
      return;
    }
    this.#waiting.push(event);
    this.#chars += event.body.length;
    if (this.#timer === null && this.#delivering === null) this.#later(GATHER_MS);
  }

  dropped(): number {
    return this.#dropped;
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#retryMs = CLOSING_RETRY_MS;
    const { sink, log } = this.options;
    const over = await inTime(this.#drain(), graceMs);
    const left = this.#waiting.length;
    this.#empty();
    if (left > 0) {
      this.#drop(left);
      log.error("audit records were lost at the end", { sink: sink.name, lost: left });
    }
    if (!over && left === 0) log.error("the audit sink did not answer at the end", { sink: sink.name });
    await inTime(sink.close().catch((error: unknown) => log.error("the audit sink could not be closed", { sink: sink.name, error: this.options.explain(error) })), graceMs);
  }

  /** Resolves when nothing waits any more, which may be never. */
  async #drain(): Promise<void> {
    while (this.#delivering !== null || this.#waiting.length > 0) {
      if (this.#delivering === null) this.#deliver();
      await this.#delivering;
      if (this.#outage !== null && this.#waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, this.#retryMs));
    }
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => this.#deliver(), ms);
    // A sink that is away must not keep a process alive that has ended its work.
    if (this.#outage !== null) this.#timer.unref();
  }

  #deliver(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#delivering !== null || this.#waiting.length === 0) return;
    this.#delivering = this.#attempt().finally(() => {
      this.#delivering = null;
      if (this.#waiting.length === 0 || this.#closing) return;
      if (this.#outage !== null) this.#later(this.#retryMs);
      else this.#later(this.#waiting.length < BATCH_EVENTS ? GATHER_MS : 0);
    });
  }

  /** Never rejects. */
  async #attempt(): Promise<void> {
    const batch = this.#batch();
    const lost = this.#lost;
    try {
      const refused = await this.options.sink.deliver(batch, lost);
      this.#lost -= lost;
      this.#remove(batch);
      if (refused > 0) {
        this.#drop(refused);
        this.#begin("the audit sink refuses records", null);
      } else if (!this.#closing) {
        this.#retryMs = RETRY_MS;
      }
      if (refused === 0 && this.#waiting.length < BATCH_EVENTS) this.#end();
    } catch (error) {
      this.#begin("audit records cannot be written; calls go on", error);
      if (!this.#closing) this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    }
  }

  #batch(): readonly AuditEvent[] {
    let chars = 0;
    let count = 0;
    while (count < this.#waiting.length && count < BATCH_EVENTS && chars < BATCH_CHARS) chars += this.#waiting[count++]?.body.length ?? 0;
    return this.#waiting.slice(0, count);
  }

  #remove(batch: readonly AuditEvent[]): void {
    // The end of the process gives up what waits, also while it is being delivered.
    if (this.#waiting[0] !== batch[0]) return;
    this.#waiting = this.#waiting.slice(batch.length);
    this.#chars = this.#waiting.reduce((sum, { body }) => sum + body.length, 0);
  }

  #empty(): void {
    this.#waiting = [];
    this.#chars = 0;
  }

  #drop(count: number): void {
    this.#dropped += count;
    this.#lost += count;
    if (this.#outage !== null) this.#outage += count;
  }

  #begin(message: string, error: unknown): void {
    if (this.#outage !== null) return;
    this.#outage = this.#lost;
    this.options.log.error(message, { sink: this.options.sink.name, ...(error === null ? {} : { error: this.options.explain(error) }) });
  }

  #end(): void {
    if (this.#outage === null) return;
    this.options.log.warn("audit records are written again", { sink: this.options.sink.name, lost: this.#outage });
    this.#outage = null;
  }
}

/** Whether the work ended in time. */
async function inTime(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  const over = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return over;
}
