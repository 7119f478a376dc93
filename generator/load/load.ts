/** The load itself: records in, batches out. Knows no command line; reports through callbacks. */
import type { Embedder } from "../../runtime/embed/embedder.js";
import { convertRecord, type ConvertOptions, hasText, type LoadRecord } from "./convert.js";
import type { SourceItem } from "./source.js";
import type { EmbeddedRecord, Writer } from "./writer.js";

export interface LoadCounts {
  added: number;
  updated: number;
  unchanged: number;
  bad: number;
}

export interface LoadResult extends Readonly<LoadCounts> {
  /** Paths of `--text` where no record has a text; most likely a wrong name. Sorted as given. */
  readonly absent: readonly string[];
}

export interface LoadHooks {
  /** A record that is left out, and why. */
  readonly onBad: (place: string, problem: string) => void;
  /** After each transaction. */
  readonly onWritten: (counts: Readonly<LoadCounts>) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number;
}

/** Records embedded together. */
const BATCH = 512;
/** Records of one transaction: each waits for the disk and writes the index of ids anew, so few large ones are quicker. */
export const WRITTEN_TOGETHER = 16 * BATCH;
/** Milliseconds of embedding after which fewer are written: nobody pays twice for more than that when a load is killed. */
const WRITE_AFTER_MS = 1_000;
/** Records buffered until each path of `--text` was seen in one: a wrong name is found before anything is stored. */
const KEPT_BACK = 4 * BATCH;

/**
 * Loads every record that can be loaded. Stops between batches when `signal` aborts; what was embedded is written and
 * stays. Nothing is written when `absent` is not empty and there are no more than 2,048 records.
 * @throws BackendError of the embedder, RangeError of the writer.
 */
export async function loadRecords(
  items: AsyncIterable<readonly SourceItem[]>, options: ConvertOptions, embedder: Embedder, writer: Writer, hooks: LoadHooks, signal: AbortSignal,
): Promise<LoadResult> {
  const counts: LoadCounts = { added: 0, updated: 0, unchanged: 0, bad: 0 };
  const unseen = new Set(options.textPaths ?? []);
  const batches = new Batches(embedder, writer, hooks, counts, signal);
  let converted: LoadRecord[] = [];
  let wanted: LoadRecord[] = [];
  let records = 0;
  const take = (item: SourceItem): void => {
    const record = tryConvert(item, options);
    if (typeof record === "string") {
      counts.bad++;
      hooks.onBad(item.place, record);
      return;
    }
    records++;
    for (const path of unseen) if (hasText(record.record, path)) unseen.delete(path);
    converted.push(record);
  };
  /** Embeds what is not stored, if there are enough of them for a batch. */
  const flush = async (enough: number): Promise<void> => {
    const missing = writer.withoutStored(converted);
    counts.unchanged += converted.length - missing.length;
    wanted.push(...missing);
    converted = [];
    if (wanted.length < enough || (unseen.size > 0 && records < KEPT_BACK)) return;
    await batches.add(wanted);
    wanted = [];
  };
  try {
    for await (const list of items) {
      for (const item of list) {
        if (signal.aborted) break;
        take(item);
        if (converted.length >= BATCH) await flush(BATCH);
      }
      if (signal.aborted) break;
    }
    await flush(0);
  } finally {
    batches.write();
  }
  return { ...counts, absent: records === 0 ? [] : [...unseen] };
}

/** Records on their way: embedded in batches, written in larger ones. */
class Batches {
  readonly #counts: LoadCounts;
  #embedded: EmbeddedRecord[] = [];
  /** When the last transaction ended. */
  #writtenMs: number;

  constructor(
    private readonly embedder: Embedder,
    private readonly writer: Writer,
    private readonly hooks: LoadHooks,
    counts: LoadCounts,
    private readonly signal: AbortSignal,
  ) {
    this.#counts = counts;
    this.#writtenMs = hooks.nowMs();
  }

  async add(records: readonly LoadRecord[]): Promise<void> {
    for (let from = 0; from < records.length && !this.signal.aborted; from += BATCH) {
      const batch = records.slice(from, from + BATCH);
      const vectors = await this.embedder.embed(batch.map(({ text }) => text), this.signal);
      for (let index = 0; index < batch.length; index++) {
        const { id, record, text } = batch[index] as LoadRecord;
        this.#embedded.push({ id, record, text, vector: vectors[index] ?? new Float32Array() });
      }
      if (this.#embedded.length >= WRITTEN_TOGETHER || this.hooks.nowMs() - this.#writtenMs >= WRITE_AFTER_MS) this.write();
    }
  }

  /** Writes what is embedded. */
  write(): void {
    const records = this.#embedded;
    this.#embedded = [];
    if (records.length > 0) {
      for (const outcome of this.writer.write(records)) this.#counts[outcome]++;
      this.hooks.onWritten(this.#counts);
    }
    this.#writtenMs = this.hooks.nowMs();
  }
}

/** The record, or what is wrong with it. */
function tryConvert(item: SourceItem, options: ConvertOptions): LoadRecord | string {
  if ("error" in item) return item.error;
  try {
    return convertRecord(item.value, item.number, options);
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
