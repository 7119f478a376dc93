/**
 * Sums of single runs, made of their steps. What was made is kept while the run stays as it is: the last runs are asked
 * for again and again, and all but a few of them have ended.
 */
import type { Tally } from "../../record/tally.js";
import { edgeTimesOf, type TimesByEdge } from "../edge-times.js";
import { CALL_COLUMNS, type CallRecord } from "../rows.js";
import { tallyOf } from "../stored.js";
import type { Db } from "./schema.js";

/** Sums of one run; not to be changed. */
export interface RunSums {
  readonly tally: Tally;
  readonly times: TimesByEdge;
}

interface Kept extends RunSums {
  readonly lastSeq: number;
  readonly steps: number;
  readonly size: number;
}

/** Runs that are kept, at most; those used least recently go first. */
const MAX_RUNS = 2000;
/** Sums of nodes, and buckets of durations, that are kept over all runs. */
const MAX_SUMS = 400_000;

export class RunTallies {
  readonly #kept = new Map<number, Kept>();
  readonly #sql;
  #size = 0;

  constructor(traces: Db) {
    this.#sql = prepare(traces);
  }

  /** Of the run with that key. */
  of(root: number): RunSums {
    const state = this.#sql.state.get(root);
    const kept = this.#kept.get(root);
    if (kept !== undefined) this.#drop(root, kept);
    const made = kept !== undefined && state?.last_seq === kept.lastSeq && state.steps === kept.steps ? kept : this.#make(root);
    // Without its row the run is gone.
    if (state !== undefined) this.#keep(root, { lastSeq: state.last_seq, steps: state.steps, tally: made.tally, times: made.times, size: sizeOf(made) });
    return made;
  }

  #make(root: number): RunSums {
    const records = this.#sql.steps.all(root);
    return { tally: tallyOf(records), times: edgeTimesOf(records) };
  }

  #keep(root: number, entry: Kept): void {
    this.#kept.set(root, entry);
    this.#size += entry.size;
    for (const [oldest, other] of this.#kept) {
      if (this.#kept.size <= MAX_RUNS && this.#size <= MAX_SUMS) return;
      this.#drop(oldest, other);
    }
  }

  #drop(root: number, entry: Kept): void {
    this.#kept.delete(root);
    this.#size -= entry.size;
  }
}

function sizeOf({ tally, times }: RunSums): number {
  let size = tally.nodes.size;
  for (const sum of tally.nodes.values()) size += sum.buckets.size;
  for (const edge of times.values()) size += edge.buckets.size;
  return size;
}

function prepare(traces: Db) {
  return {
    state: traces.prepare<[number], { last_seq: number; steps: number }>("SELECT last_seq, steps FROM runs WHERE key = ?"),
    steps: traces.prepare<[number], CallRecord>(`SELECT ${CALL_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? ORDER BY seq`),
  };
}
