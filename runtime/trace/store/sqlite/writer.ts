/**
 * The only writer of traces.db and payloads.db. A batch is one transaction: recorded by `record/`, rows and sums in
 * prepared statements, payloads committed first, so that a step never points to one that is not there. It runs in a
 * thread of its own when the service is up, and directly in `toolsrv trace import`.
 */
import type { Block } from "../../block.js";
import { type Incoming, RUNNING } from "../../model.js";
import type { RecordedEvent } from "../../record/calls.js";
import { final, type RecorderSource } from "../../record/held-runs.js";
import { Recorder, type Changes, type EventRow, type RecorderOptions } from "../../record/recorder.js";
import { endRun, type RunFacts, type RunRow, type RunState } from "../../record/run-state.js";
import { type BatchOutcome, type Interest, type News, type Retention, type RunUpdate, StorageFullError } from "../store.js";
import { type Doomed, Erasure } from "./erasure.js";
import { eventHash, EventHashes, marksRun, MergedIds, RecentIds, runHash } from "./id-index.js";
import { checkpoint, inTransaction, isFull } from "./full.js";
import { recordedEvent } from "../rows.js";
import { toolKey, toolKeyPrefix } from "../../record/tally.js";
import { RunTable } from "./run-table.js";
import { type Db, type Layout, openForReading, openForWriting } from "./schema.js";
import { StepTable } from "./step-table.js";
import { SumWriter } from "./sums.js";
import { CommitNews } from "./commit-news.js";

export interface WriterOptions extends RecorderOptions {
  readonly layout: Layout;
  /** Pages of 8 KiB that traces.db may have; for tests of a full disk. */
  readonly maxPages?: number;
}

const NONE: readonly number[] = [];

export class SqliteWriter implements RecorderSource {
  readonly #db: Db;
  readonly #payloads: Db;
  readonly #merged: MergedIds;
  readonly #recent: RecentIds;
  readonly #recorder: Recorder;
  readonly #sums: SumWriter;
  readonly #runs: RunTable;
  readonly #steps: StepTable;
  readonly #registered;
  readonly #news: CommitNews;
  readonly #erasure: Erasure;
  #seq: number;
  #key: number;
  /** Numbers of the events of the batch that is being recorded: each is asked for three times. */
  readonly #hashes = new EventHashes();
  /** Merged steps of those events, by their numbers. */
  #asked: ReadonlyMap<number, readonly number[]> | null = null;
  /** There may be payloads of a batch that was not stored. */
  #leftovers = false;

  constructor(options: WriterOptions) {
    this.#db = openForWriting(options.layout, "traces");
    this.#payloads = openForWriting(options.layout, "payloads");
    openForWriting(options.layout, "index").close();
    if (options.maxPages !== undefined) this.#db.pragma(`max_page_count = ${options.maxPages}`);
    this.#merged = new MergedIds(openForReading(options.layout, "index", 4_000));
    this.#recent = new RecentIds(this.#merged);
    this.#sums = new SumWriter(this.#db);
    this.#runs = new RunTable(this.#db);
    this.#steps = new StepTable(this.#db, this.#payloads);
    this.#registered = this.#db.prepare<[string, string], number>("SELECT count(*) FROM nodes WHERE registered = 1 AND substr(key, 1, length(?)) = ?").pluck();
    this.#news = new CommitNews((key) => this.#sums.publicId(key));
    this.#erasure = new Erasure({
      traces: this.#db, payloads: this.#payloads, runs: this.#runs, steps: this.#steps, sums: this.#sums, nextKey: () => this.nextKey(), onChanged: (tally) => this.#news.changed(tally),
    });
    this.#seq = this.#steps.lastSeq();
    this.#key = Math.max(this.#runs.lastKey(), this.#erasure.lastKey());
    // A process that died between the two commits left payloads without steps.
    this.#steps.dropPayloadsAfter(this.#seq);
    for (const row of this.#steps.idsAfter(this.#merged.progress())) this.#remember(row.seq, eventHash(row.run_id, row.event_id), row.run_id, row.type, row.duration_ms);
    this.#recorder = new Recorder(this, options);
  }

  // ---- what the recorder asks -------------------------------------------------------------------------------

  run(runId: string): RunRow | null {
    return this.#runs.byId(runId);
  }

  holder(runId: string): RunRow | null {
    for (const seq of this.#recent.find(runHash(runId))) {
      const run = this.#runs.ofStep(seq, runId);
      if (run !== null) return run;
    }
    return null;
  }

  hasEvent(event: Pick<Incoming, "runId" | "eventId">): boolean {
    const { runId, eventId } = event;
    const hash = this.#hashes.of(event);
    const found = this.#recent.find(hash, this.#asked === null ? undefined : (this.#asked.get(hash) ?? NONE));
    return found.length > 0 && found.some((seq) => this.#steps.isEvent(seq, runId, eventId));
  }

  *events(key: number): Iterable<RecordedEvent> {
    for (const record of this.#steps.each(key)) yield recordedEvent(record);
  }

  unrooted(): Iterable<string> {
    return this.#runs.unrooted();
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  nextKey(): number {
    this.#key += 1;
    return this.#key;
  }

  // ---- writing ----------------------------------------------------------------------------------------------

  get lastSeq(): number {
    return this.#seq;
  }

  /** @throws StorageFullError and anything else SQLite says; nothing of the batch is stored then. */
  write(batch: readonly Incoming[]): BatchOutcome & News {
    const started = performance.now();
    const before = this.#seq;
    const sizes = new Map<number, number>();
    const changes = this.#transaction(before, () => {
      const made = this.#record(batch);
      this.#persist(made, sizes);
      return made;
    });
    for (const row of changes.rows) this.#remember(row.seq, this.#hashes.of(row.event), row.event.runId, row.event.type, row.durationMs);
    this.#hashes.clear();
    return {
      stored: changes.rows.length, duplicates: changes.duplicates, sampledOut: changes.sampledOut, throttled: changes.throttled, throttledRuns: changes.throttledRuns,
      ...this.#news.news(changes, sizes), lastSeq: this.#seq,
      elapsedMs: performance.now() - started,
    };
  }

  watch(rootId: string, extended: boolean): number {
    this.#news.watched.add(rootId, extended);
    return this.#seq;
  }

  unwatch(rootId: string, extended: boolean): void {
    this.#news.watched.remove(rootId, extended);
  }

  listen(interest: Interest): void {
    this.#news.listen(interest);
  }

  takeChanged(): { nodes: string[]; edges: string[] } {
    return this.#news.takeChanged();
  }

  deleteRun(runId: string): boolean {
    const before = this.#seq;
    const run = this.run(runId);
    const holder = run === null ? this.holder(runId) : null;
    if (run === null && holder === null) return false;
    this.#transaction(before, () => {
      if (run !== null) this.#erasure.doom(run);
      else if (holder !== null) this.#erasure.doomNested(holder, runId);
    });
    this.#recorder.drop(run?.runId ?? holder?.runId ?? runId);
    return true;
  }

  /** Sets what an export says of a run and its steps alone do not; false when there is no such run. */
  restore(runId: string, facts: RunFacts): boolean {
    const run = this.run(runId);
    if (run === null) return false;
    this.#transaction(this.#seq, () => this.#runs.save({ ...run, ...facts }));
    this.#recorder.drop(runId);
    return true;
  }

  registerTools(server: string, tools: readonly string[]): number {
    return this.#transaction(this.#seq, () => {
      for (const tool of tools) {
        const key = toolKey(server, tool);
        this.#sums.register(key);
        this.#news.changedNode(key);
      }
      return this.#registered.get(toolKeyPrefix(server), toolKeyPrefix(server)) ?? 0;
    });
  }

  sweep(settleBeforeMs: number, staleBeforeMs: number): RunUpdate[] {
    const ended = new Set<RunState>();
    this.#transaction(this.#seq, () => {
      for (const runId of this.#runs.quiet(Math.max(settleBeforeMs, staleBeforeMs))) {
        const run = this.#recorder.state(runId);
        if (run === null || run.status !== RUNNING) continue;
        const lastAt = this.#steps.lastAt(run.key) ?? run.startedAt;
        if (run.touchedMs < settleBeforeMs && !run.rooted && run.calls.openCount === 0) {
          const failure = this.#topFailure(run);
          if (endRun(run, failure !== null, lastAt, failure, true)) ended.add(run);
        } else if (run.touchedMs < staleBeforeMs && endRun(run, true, lastAt, "interrupted")) {
          ended.add(run);
        }
      }
      for (const run of ended) this.#runs.save(run);
    });
    return this.#news.updates({ started: new Set(), ended });
  }

  /** Deletes up to 20 of the oldest ended runs that are beyond a limit. */
  retain(limits: Retention): number {
    const doomed = this.#erasure.beyond(limits);
    if (doomed.length === 0) return 0;
    this.#transaction(this.#seq, () => {
      for (const run of doomed) this.#erasure.doom(run);
    });
    for (const run of doomed) this.#recorder.drop(run.runId);
    return doomed.length;
  }

  // ---- the indexer's side -----------------------------------------------------------------------------------

  /** index.db holds the ids of steps up to `seq`. */
  merged(seq: number): void {
    this.#recent.forget(seq);
  }

  doomed(): Doomed[] {
    return this.#erasure.doomed();
  }

  /** The steps of a doomed run are no longer in index.db. */
  unindexed(root: number): void {
    this.#erasure.unindexed(root);
  }

  /** Overwrites up to `limit` steps of doomed runs that are out of the index; false when nothing is left to do. */
  erase(limit: number): boolean {
    return this.#erasure.erase(limit);
  }

  /** Bytes of the write-ahead logs are bounded by this: called when the indexer has copied most of them. */
  restartLogs(): void {
    for (const db of [this.#db, this.#payloads]) checkpoint(db, "PASSIVE");
  }

  close(): void {
    this.#merged.close();
    for (const db of [this.#payloads, this.#db]) {
      checkpoint(db, "TRUNCATE");
      db.close();
    }
  }

  // ---- inside -----------------------------------------------------------------------------------------------

  /** With the merged ids of the batch looked up together. */
  #record(batch: readonly Incoming[]): Changes {
    const hashes: number[] = [];
    // What a batch that failed has left.
    this.#hashes.clear();
    for (const event of batch) if (!event.fresh) hashes.push(this.#hashes.of(event));
    this.#asked = this.#merged.findAll(hashes);
    try {
      return this.#recorder.record(batch);
    } finally {
      this.#asked = null;
    }
  }

  /** Both files or none, as far as a crash between their commits allows; memory follows the files. */
  #transaction<T>(before: number, work: () => T): T {
    try {
      const result = inTransaction(this.#db, () =>
        inTransaction(this.#payloads, () => {
          if (this.#leftovers) this.#steps.dropPayloadsAfter(before);
          return work();
        }),
      );
      this.#leftovers = false;
      return result;
    } catch (error) {
      this.#seq = before;
      this.#recorder.forget();
      this.#sums.forget();
      this.#dropPayloadsAfter(before);
      if (isFull(error)) throw new StorageFullError("the disk is full", { cause: error });
      throw error;
    }
  }

  /** Payloads whose steps were not stored; on a full disk they stay until there is room for the next batch. */
  #dropPayloadsAfter(seq: number): void {
    this.#leftovers = true;
    try {
      this.#steps.dropPayloadsAfter(seq);
      this.#leftovers = false;
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }

  /** `sizes` gets the compressed sizes of payloads by sequence number. */
  #persist(changes: Changes, sizes: Map<number, number>): void {
    const sums = { durationMs: 0, timed: 0, tokensIn: 0, tokensOut: 0, payloadBytes: 0 };
    const blocks = this.#addBlocks(changes.rows);
    for (const row of changes.rows) {
      const size = this.#steps.add(row, row.event.packed === null ? null : (blocks.get(row.event.packed.block) ?? null));
      if (size !== null) {
        sizes.set(row.seq, size);
        sums.payloadBytes += size;
      }
      sums.durationMs += row.durationMs ?? 0;
      sums.timed += Number(row.durationMs !== null);
      sums.tokensIn += row.event.tokensIn ?? 0;
      sums.tokensOut += row.event.tokensOut ?? 0;
    }
    for (const { from, into } of changes.merged) {
      this.#steps.moveAll(from.key, into.key);
      this.#runs.drop(from.key);
    }
    for (const run of changes.runs) this.#runs.save(run);
    this.#sums.add(changes.tally, 1);
    this.#sums.count({
      events: changes.rows.length, duration_ms: sums.durationMs, timed: sums.timed, tokens_in: sums.tokensIn, tokens_out: sums.tokensOut,
      payload_bytes: sums.payloadBytes, payloads: sizes.size,
    });
  }

  /** Stores the blocks whose steps are all here and of one run, and returns their numbers. */
  #addBlocks(rows: readonly EventRow[]): ReadonlyMap<Block, number> {
    const blocks = new Map<Block, { readonly first: number; readonly run: RunState; count: number }>();
    for (const { seq, run, event } of rows) {
      if (event.packed === null) continue;
      const { block } = event.packed;
      const seen = blocks.get(block);
      if (seen === undefined) blocks.set(block, { first: seq, run: final(run), count: 1 });
      else if (seen.run === final(run)) seen.count += 1;
    }
    const numbers = new Map<Block, number>();
    for (const [block, { first, count }] of blocks) {
      // Steps that were repeated, sampled out or over the cap must not stay in a block.
      if (count !== block.count) continue;
      this.#steps.addBlock(first, block);
      numbers.set(block, first);
    }
    return numbers;
  }

  #remember(seq: number, hash: number, runId: string, type: number, durationMs: number | null): void {
    this.#recent.add(hash, seq);
    if (marksRun(type, durationMs)) this.#recent.add(runHash(runId), seq);
  }

  #topFailure(run: RunState): string | null {
    for (const record of this.#steps.errorsOf(run.key)) {
      if (record.parent_id === null || !run.calls.has(record.parent_id)) return record.error ?? "failed";
    }
    return null;
  }

}
