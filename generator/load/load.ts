/** The load itself: records in, batches out. Knows no command line; reports through callbacks. */
import type { Embedder } from "../../runtime/embed/embedder.js";
import { convertRecord, type ConvertOptions, type LoadRecord } from "./convert.js";
import type { SourceItem } from "./source.js";
import type { Writer } from "./writer.js";

export interface LoadCounts {
  added: number;
  updated: number;
  unchanged: number;
  bad: number;
}

export interface LoadHooks {
  /** A record that is left out, and why. */
  readonly onBad: (place: string, problem: string) => void;
  /** After each batch. */
  readonly onBatch: (counts: Readonly<LoadCounts>) => void;
}

/** Records embedded and written together. */
const BATCH = 512;

/**
 * Loads every record that can be loaded. Stops between batches when `signal` aborts; what was written stays.
 * @throws BackendError of the embedder, RangeError of the writer.
 */
export async function loadRecords(
  items: AsyncIterable<SourceItem>, options: ConvertOptions, embedder: Embedder, writer: Writer, hooks: LoadHooks, signal: AbortSignal,
): Promise<Readonly<LoadCounts>> {
  const counts: LoadCounts = { added: 0, updated: 0, unchanged: 0, bad: 0 };
  let batch: LoadRecord[] = [];
  const flush = async (): Promise<void> => {
    const vectors = await embedder.embed(batch.map(({ text }) => text), signal);
    const outcomes = writer.write(batch.map((record, index) => ({ ...record, vector: vectors[index] ?? new Float32Array() })));
    for (const outcome of outcomes) counts[outcome]++;
    batch = [];
    hooks.onBatch(counts);
  };
  for await (const item of items) {
    if (signal.aborted) break;
    const record = tryConvert(item, options);
    if (typeof record === "string") {
      counts.bad++;
      hooks.onBad(item.place, record);
    } else if (writer.isStored(record)) {
      counts.unchanged++;
    } else {
      batch.push(record);
    }
    if (batch.length >= BATCH) await flush();
  }
  if (batch.length > 0 && !signal.aborted) await flush();
  return counts;
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
