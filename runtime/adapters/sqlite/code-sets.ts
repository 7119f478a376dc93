/**
 * Which collections have their codes in memory. A search says which stamp it saw: codes with another one are dropped.
 * Codes are read in the background at the first search of a collection, and after a change once two searches saw the same
 * stamp: a running load changes it with each transaction, and the server would read them again and again.
 */
import { totalmem } from "node:os";
import type { Settings } from "../adapter.js";
import { type CodeSet } from "./code-set.js";

/** Codes in memory for each connection, unless its settings say otherwise. */
const DEFAULT_MEMORY_BYTES = 2 ** 30;

/** Bytes of memory that a connection may use for codes: its `codes_memory_mb`, or what is little for the machine or container. */
export function codesMemory(settings: Settings, machine: { readonly total: number; readonly constrained: number | undefined } = { total: totalmem(), constrained: process.constrainedMemory() }): number {
  const mb = settings["codes_memory_mb"];
  if (typeof mb === "number") return mb * 2 ** 20;
  // 0 where nothing constrains the process.
  return Math.min(DEFAULT_MEMORY_BYTES, Math.min(machine.total, machine.constrained || machine.total) / 4);
}

export interface CodeThreads {
  /** Reads codes into memory; `null` when they have changed meanwhile or are too large. */
  build(collection: string, stamp: string, maxBytes: number, signal: AbortSignal): Promise<CodeSet | null>;
  adopt(set: CodeSet): void;
  drop(collection: string): void;
}

interface Known {
  /** Seen by the last search. */
  readonly stamp: string;
  readonly set: CodeSet | null;
  /** Codes with this stamp are in memory, being read, or cannot be had. */
  readonly isSettled: boolean;
}

export class CodeSets {
  readonly #maxBytes: number;
  readonly #threads: CodeThreads;
  readonly #known = new Map<string, Known>();
  readonly #closed = new AbortController();
  /** Builds run one after the other, so that each knows what is left of the memory. */
  #building: Promise<void> = Promise.resolve();

  constructor(maxBytes: number, threads: CodeThreads) {
    this.#maxBytes = maxBytes;
    this.#threads = threads;
  }

  all(): readonly CodeSet[] {
    return [...this.#known.values()].flatMap(({ set }) => set ?? []);
  }

  /** A search of the collection read a state of the file with this stamp; `null` means that it has no codes. */
  saw(collection: string, stamp: string | null): void {
    const before = this.#known.get(collection);
    if (before?.stamp === stamp && before.isSettled) return;
    if (before?.set != null && before.stamp !== stamp) this.#threads.drop(collection);
    if (stamp === null || this.#closed.signal.aborted) return void this.#known.delete(collection);
    const isSame = before === undefined || before.stamp === stamp;
    this.#known.set(collection, { stamp, set: null, isSettled: isSame });
    if (isSame) this.#building = this.#building.then(() => this.#build(collection, stamp)).catch(() => undefined);
  }

  settled(): Promise<void> {
    return this.#building;
  }

  /** Ends a build; the threads are closed by their owner. */
  close(): void {
    this.#closed.abort(new Error("the store is closed"));
    this.#known.clear();
  }

  async #build(collection: string, stamp: string): Promise<void> {
    if (this.#known.get(collection)?.stamp !== stamp) return;
    const used = this.all().reduce((sum, set) => sum + set.memory.buffer.byteLength, 0);
    // Failures of the file concern the searches, which report them; without codes in memory they read them from the file.
    const set = await this.#threads.build(collection, stamp, this.#maxBytes - used, this.#closed.signal);
    if (set === null || this.#known.get(collection)?.stamp !== stamp) return;
    this.#known.set(collection, { stamp, set, isSettled: true });
    this.#threads.adopt(set);
  }
}
