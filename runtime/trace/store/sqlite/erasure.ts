/**
 * How runs leave the store. At once, in the transaction that deletes one: its row and its sums. Later, a little at a
 * time: its steps and payloads, which are overwritten once they are out of the index.
 */
import type { RunRow } from "../../record/run-state.js";
import type { Tally } from "../../record/tally.js";
import type { Retention } from "../store.js";
import { countersOf, tallyOf, withoutNested } from "../stored.js";
import type { EventRecord } from "../rows.js";
import { inTransaction } from "./full.js";
import type { RunTable } from "./run-table.js";
import type { Db } from "./schema.js";
import type { StepTable } from "./step-table.js";
import type { SumWriter } from "./sums.js";

/** A run deleted for all readers, to be taken out of the index and then overwritten. */
export interface Doomed {
  readonly root: number;
  readonly indexed: boolean;
}

export interface ErasureOptions {
  readonly traces: Db;
  readonly payloads: Db;
  readonly runs: RunTable;
  readonly steps: StepTable;
  readonly sums: SumWriter;
  readonly nextKey: () => number;
  readonly onChanged: (tally: Tally) => void;
}

/** Runs deleted at once when the payloads take too much room. */
const HEAVY_RUNS = 5;

export class Erasure {
  readonly #sql;

  constructor(private readonly options: ErasureOptions) {
    this.#sql = prepare(options.traces);
  }

  /** The largest key of a deleted run that is not overwritten; 0 without any. */
  lastKey(): number {
    return this.#sql.lastKey.get() ?? 0;
  }

  /** Takes a run and its sums out of every answer. Inside a transaction. */
  doom(run: RunRow): void {
    this.#takeOff(this.options.steps.of(run.key));
    this.options.runs.drop(run.key);
    this.#sql.add.run(run.key, run.runId);
  }

  /** Takes the steps of one nested run out of the run that holds them. Inside a transaction. */
  doomNested(holder: RunRow, runId: string): void {
    const { runs, steps, sums } = this.options;
    const all = steps.of(holder.key);
    const own = all.filter((record) => record.run_id === runId);
    const rest = all.filter((record) => record.run_id !== runId);
    this.#takeOff(all);
    const key = this.options.nextKey();
    // A block never holds two runs.
    const mixed = new Set(own.map((record) => record.block));
    steps.unpack(all.filter((record) => mixed.has(record.block)));
    for (const record of own) steps.move(record.seq, key);
    this.#sql.add.run(key, runId);
    sums.add(tallyOf(rest), 1);
    sums.count(countersOf(rest, 1));
    runs.save(withoutNested(holder, rest));
  }

  /** The oldest ended runs that are beyond a limit, 20 at most. */
  beyond(limits: Retention): RunRow[] {
    const { runs, sums } = this.options;
    const excess = runs.count() - limits.maxRuns;
    const heavy = sums.counter("payload_bytes") > limits.maxPayloadBytes;
    const found: RunRow[] = [];
    for (const run of runs.oldestEnded()) {
      if (found.length < excess || run.startedAt < limits.before || (heavy && found.length < HEAVY_RUNS)) found.push(run);
    }
    return found;
  }

  doomed(): Doomed[] {
    return this.#sql.all.all().map((row) => ({ root: row.root, indexed: row.indexed === 1 }));
  }

  /** The steps of a doomed run are no longer in index.db. */
  unindexed(root: number): void {
    this.#sql.markUnindexed.run(root);
  }

  /** Overwrites up to `limit` steps of doomed runs that are out of the index; false when nothing is left to do. */
  erase(limit: number): boolean {
    const { traces, payloads, steps } = this.options;
    this.#eraseSpent();
    const entry = this.#sql.all.all().find((row) => row.indexed === 1);
    if (entry === undefined) return false;
    const places = steps.placesOf(entry.root, limit);
    // The first step of a block takes it along: nobody reads the others any more.
    const blocks = new Set(places.flatMap(({ block }) => block ?? []));
    inTransaction(payloads, () => {
      for (const { seq } of places) steps.erasePayload(seq);
      for (const block of blocks) steps.eraseBlock(block);
    });
    inTransaction(traces, () => {
      for (const { seq } of places) steps.erase(seq);
      for (const block of blocks) steps.eraseDetails(block);
      if (places.length < limit) this.#sql.drop.run(entry.root);
    });
    if (places.length < limit) for (const db of [traces, payloads]) db.pragma("incremental_vacuum(2000)");
    return true;
  }

  #eraseSpent(): void {
    const { traces, payloads, steps } = this.options;
    const spent = steps.spent();
    if (spent.length === 0) return;
    inTransaction(payloads, () => spent.forEach((block) => steps.eraseBlock(block)));
    inTransaction(traces, () => spent.forEach((block) => steps.forgetSpent(block)));
  }

  #takeOff(records: readonly EventRecord[]): void {
    const { sums, onChanged } = this.options;
    const tally = tallyOf(records);
    sums.add(tally, -1);
    sums.count(countersOf(records, -1));
    onChanged(tally);
  }
}

function prepare(traces: Db) {
  return {
    all: traces.prepare<[], { root: number; indexed: number }>("SELECT root, indexed FROM doomed ORDER BY root LIMIT 100"),
    lastKey: traces.prepare<[], number | null>("SELECT max(root) FROM doomed").pluck(),
    add: traces.prepare("INSERT INTO doomed (root, run_id, indexed) VALUES (?, ?, 0)"),
    markUnindexed: traces.prepare("UPDATE doomed SET indexed = 1 WHERE root = ?"),
    drop: traces.prepare("DELETE FROM doomed WHERE root = ?"),
  };
}
