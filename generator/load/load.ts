/** The load itself: records in, batches out. Knows no command line; reports through callbacks. */
import type { Embedder } from "../../runtime/embed/embedder.js";
import { convertRecord, type ConvertOptions, hasText, type LoadRecord } from "./convert.js";
import type { SourceItem } from "./source.js";
import type { Writer } from "./writer.js";

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
  /** After each batch. */
  readonly onBatch: (counts: Readonly<LoadCounts>) => void;
}

/** Records embedded and written together. */
const BATCH = 512;
/** Records buffered until each path of `--text` was seen in one: a wrong name is found before anything is stored. */
const KEPT_BACK = 4 * BATCH;

/**
 * Loads every record that can be loaded. Stops between batches when `signal` aborts; what was written stays. Nothing
 * is written when `absent` is not empty and there are no more than 2,048 records.
 * @throws BackendError of the embedder, RangeError of the writer.
 */
export async function loadRecords(
  items: AsyncIterable<SourceItem>, options: ConvertOptions, embedder: Embedder, writer: Writer, hooks: LoadHooks, signal: AbortSignal,
): Promise<LoadResult> {
  const counts: LoadCounts = { added: 0, updated: 0, unchanged: 0, bad: 0 };
  const unseen = new Set(options.textPaths ?? []);
  let waiting: LoadRecord[] = [];
  let records = 0;
  const flush = async (): Promise<void> => {
    for (let from = 0; from < waiting.length && !signal.aborted; from += BATCH) {
      const batch = waiting.slice(from, from + BATCH);
      const vectors = await embedder.embed(batch.map(({ text }) => text), signal);
      const outcomes = writer.write(batch.map((record, index) => ({ ...record, vector: vectors[index] ?? new Float32Array() })));
      for (const outcome of outcomes) counts[outcome]++;
      hooks.onBatch(counts);
    }
    waiting = [];
  };
  for await (const item of items) {
    if (signal.aborted) break;
    const record = tryConvert(item, options);
    if (typeof record === "string") {
      counts.bad++;
      hooks.onBad(item.place, record);
      continue;
    }
    records++;
    for (const path of unseen) if (hasText(record.record, path)) unseen.delete(path);
    if (writer.isStored(record)) counts.unchanged++;
    else waiting.push(record);
    if (waiting.length >= BATCH && (unseen.size === 0 || records >= KEPT_BACK)) await flush();
  }
  if (unseen.size === 0 || records >= KEPT_BACK) await flush();
  return { ...counts, absent: records === 0 ? [] : [...unseen] };
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
