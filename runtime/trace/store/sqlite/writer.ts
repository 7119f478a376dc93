/**
 * The only writer of traces.db and payloads.db. A batch is one transaction: recorded by `record/`, rows and sums in
 * prepared statements, payloads committed first, so that a step never points to one that is not there. It runs in a
 * thread of its own when the service is up, and directly in `toolsrv trace import`.
 */
import { gzipSync } from "node:zlib";
import { EVENT_KINDS, eventKind, type Incoming, RUNNING } from "../../model.js";
import { Recorder, type Changes, type EventRow, type RecordedEvent, type RecorderOptions, type RecorderSource } from "../../record/recorder.js";
import { endRun, type RunRow, type RunState } from "../../record/run-state.js";
import type { Tally } from "../../record/tally.js";
import { grownOf, storedStep, updatesOf, Watched } from "../news.js";
import { type BatchOutcome, type Frame, type Interest, type News, type Retention, type RunUpdate, StorageFullError } from "../store.js";
import { countersOf, tallyOf, withoutNested } from "../stored.js";
import { eventHash, marksRun, MergedIds, RecentIds, runHash } from "./id-index.js";
import { EVENT_COLUMNS, type EventRecord, recordedEvent, RUN_COLUMNS, runRow, type RunRecord, runValues } from "../rows.js";
import { type Db, type Layout, openForReading, openForWriting } from "./schema.js";
import { SumWriter } from "./sums.js";

export interface WriterOptions extends RecorderOptions {
  readonly layout: Layout;
  /** Pages of 8 KiB that traces.db may have; for tests of a full disk. */
  readonly maxPages?: number;
}

/** A run deleted for all readers, to be taken out of the index and then overwritten. */
export interface Doomed {
  readonly root: number;
  readonly indexed: boolean;
}

const MARKS = (count: number): string => Array(count).fill("?").join(", ");

export class SqliteWriter implements RecorderSource {
  readonly #db: Db;
  readonly #payloads: Db;
  readonly #merged: MergedIds;
  readonly #recent: RecentIds;
  readonly #recorder: Recorder;
  readonly #sums: SumWriter;
  readonly #sql;
  readonly #watched = new Watched();
  #interest: Interest = { updates: false, growth: false };
  #changedNodes = new Set<string>();
  #changedEdges = new Set<string>();
  #seq: number;
  #key: number;

  constructor(options: WriterOptions) {
    this.#db = openForWriting(options.layout, "traces");
    this.#payloads = openForWriting(options.layout, "payloads");
    openForWriting(options.layout, "index").close();
    if (options.maxPages !== undefined) this.#db.pragma(`max_page_count = ${options.maxPages}`);
    this.#merged = new MergedIds(openForReading(options.layout, "index", 4_000));
    this.#recent = new RecentIds(this.#merged);
    this.#sums = new SumWriter(this.#db);
    this.#sql = prepare(this.#db, this.#payloads);
    this.#seq = this.#sql.lastSeq.get() ?? 0;
    this.#key = Math.max(this.#sql.lastKey.get() ?? 0, this.#sql.lastDoomed.get() ?? 0);
    // A process that died between the two commits left payloads without steps.
    this.#payloads.prepare("DELETE FROM payloads WHERE seq > ?").run(this.#seq);
    for (const row of this.#sql.idsAfter.iterate(this.#merged.progress())) this.#remember(row.seq, row.event_id, row.run_id, row.type, row.duration_ms);
    this.#recorder = new Recorder(this, options);
  }

  // ---- what the recorder asks -------------------------------------------------------------------------------

  run(runId: string): RunRow | null {
    const record = this.#sql.runById.get(runId);
    return record === undefined ? null : runRow(record);
  }

  holder(runId: string): RunRow | null {
    for (const seq of this.#recent.find(runHash(runId))) {
      const record = this.#sql.runOfStep.get(seq, runId);
      if (record !== undefined) return runRow(record);
    }
    return null;
  }

  hasEvent(eventId: string): boolean {
    return this.#recent.find(eventHash(eventId)).some((seq) => this.#sql.isEvent.get(seq, eventId) !== undefined);
  }

  *events(key: number): Iterable<RecordedEvent> {
    for (const record of this.#sql.eventsOf.iterate(key)) yield recordedEvent(record);
  }

  unrooted(): Iterable<string> {
    return this.#sql.unrooted.all();
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
    const changes = this.#transaction(before, () => {
      const made = this.#recorder.record(batch);
      this.#persist(made);
      return made;
    });
    for (const row of changes.rows) this.#remember(row.seq, row.event.eventId, row.event.runId, row.event.type, row.durationMs);
    this.#noteChanged(changes.tally);
    return {
      stored: changes.rows.length, duplicates: changes.duplicates, sampledOut: changes.sampledOut, throttled: changes.throttled, throttledRuns: changes.throttledRuns,
      frames: this.#frames(changes.rows), updates: this.#interest.updates ? updatesOf(changes) : [], grown: this.#interest.growth ? grownOf(changes) : [], lastSeq: this.#seq,
      elapsedMs: performance.now() - started,
    };
  }

  watch(rootId: string, extended: boolean): number {
    this.#watched.add(rootId, extended);
    return this.#seq;
  }

  unwatch(rootId: string, extended: boolean): void {
    this.#watched.remove(rootId, extended);
  }

  listen(interest: Interest): void {
    this.#interest = interest;
  }

  takeChanged(): { nodes: string[]; edges: string[] } {
    const taken = { nodes: [...this.#changedNodes], edges: [...this.#changedEdges] };
    this.#changedNodes.clear();
    this.#changedEdges.clear();
    return taken;
  }

  deleteRun(runId: string): boolean {
    const before = this.#seq;
    const run = this.run(runId);
    const holder = run === null ? this.holder(runId) : null;
    if (run === null && holder === null) return false;
    this.#transaction(before, () => {
      if (run !== null) this.#doom(run);
      else if (holder !== null) this.#doomNested(holder, runId);
    });
    this.#recorder.drop(run?.runId ?? holder?.runId ?? runId);
    return true;
  }

  /** Sets what an export says of a run and its steps alone do not; false when there is no such run. */
  restore(runId: string, told: Partial<Pick<RunRow, "status" | "startedAt" | "completedAt" | "tags" | "error" | "graph">>): boolean {
    const run = this.run(runId);
    if (run === null) return false;
    this.#transaction(this.#seq, () => void this.#sql.saveRun.run(runValues({ ...run, ...told })));
    this.#recorder.drop(runId);
    return true;
  }

  registerTools(server: string, tools: readonly string[]): number {
    return this.#transaction(this.#seq, () => {
      for (const tool of tools) {
        const key = `tool\n${server}\n${tool}`;
        this.#sums.register(key);
        this.#changedNodes.add(key);
      }
      return this.#sql.registered.get(`tool\n${server}\n`, `tool\n${server}\n`) ?? 0;
    });
  }

  sweep(settleBeforeMs: number, staleBeforeMs: number): RunUpdate[] {
    const ended = new Set<RunState>();
    this.#transaction(this.#seq, () => {
      for (const runId of this.#sql.quiet.all(Math.max(settleBeforeMs, staleBeforeMs))) {
        const run = this.#recorder.state(runId);
        if (run === null || run.status !== RUNNING) continue;
        const lastAt = this.#sql.lastAt.get(run.key) ?? run.startedAt;
        if (run.touchedMs < settleBeforeMs && !run.rooted && run.calls.openCount === 0) {
          const failure = this.#topFailure(run);
          if (endRun(run, failure !== null, lastAt, failure, true)) ended.add(run);
        } else if (run.touchedMs < staleBeforeMs && endRun(run, true, lastAt, "interrupted")) {
          ended.add(run);
        }
      }
      for (const run of ended) this.#sql.saveRun.run(runValues(run));
    });
    return this.#interest.updates ? updatesOf({ started: new Set(), ended }) : [];
  }

  /** Deletes up to 20 of the oldest ended runs that are beyond a limit. */
  retain(limits: Retention): number {
    const excess = (this.#sql.runCount.get() ?? 0) - limits.maxRuns;
    const heavy = this.#sums.counter("payload_bytes") > limits.maxPayloadBytes;
    const doomed: RunRow[] = [];
    for (const record of this.#sql.oldestEnded.all()) {
      const run = runRow(record);
      if (doomed.length < excess || run.startedAt < limits.before || (heavy && doomed.length < 5)) doomed.push(run);
    }
    if (doomed.length === 0) return 0;
    this.#transaction(this.#seq, () => {
      for (const run of doomed) this.#doom(run);
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
    return this.#sql.doomed.all().map((row) => ({ root: row.root, indexed: row.indexed === 1 }));
  }

  /** The steps of a doomed run are no longer in index.db. */
  unindexed(root: number): void {
    this.#sql.markUnindexed.run(root);
  }

  /** Overwrites up to `limit` steps of doomed runs that are out of the index; false when nothing is left to do. */
  erase(limit: number): boolean {
    const entry = this.#sql.doomed.all().find((row) => row.indexed === 1);
    if (entry === undefined) return false;
    const seqs = this.#sql.seqsOf.all(entry.root, limit);
    this.#payloads.exec("BEGIN IMMEDIATE");
    for (const seq of seqs) this.#sql.erasePayload.run(seq);
    this.#payloads.exec("COMMIT");
    this.#db.exec("BEGIN IMMEDIATE");
    for (const seq of seqs) this.#sql.eraseEvent.run(seq);
    if (seqs.length < limit) this.#sql.eraseDoomed.run(entry.root);
    this.#db.exec("COMMIT");
    if (seqs.length < limit) for (const db of [this.#db, this.#payloads]) db.pragma("incremental_vacuum(2000)");
    return true;
  }

  /** Bytes of the write-ahead logs are bounded by this: called when the indexer has copied most of them. */
  restartLogs(): void {
    for (const db of [this.#db, this.#payloads]) db.pragma("wal_checkpoint(PASSIVE)");
  }

  close(): void {
    this.#merged.close();
    for (const db of [this.#payloads, this.#db]) {
      db.pragma("wal_checkpoint(TRUNCATE)");
      db.close();
    }
  }

  // ---- inside -----------------------------------------------------------------------------------------------

  /** Both files or none, as far as a crash between their commits allows; memory follows the files. */
  #transaction<T>(before: number, work: () => T): T {
    this.#payloads.exec("BEGIN IMMEDIATE");
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      const result = work();
      this.#payloads.exec("COMMIT");
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      for (const db of [this.#db, this.#payloads]) if (db.inTransaction) db.exec("ROLLBACK");
      this.#payloads.prepare("DELETE FROM payloads WHERE seq > ?").run(before);
      this.#seq = before;
      this.#recorder.forget();
      this.#sums.forget();
      if (isFull(error)) throw new StorageFullError("the disk is full", { cause: error });
      throw error;
    }
  }

  #persist(changes: Changes): void {
    let payloadBytes = 0;
    let payloads = 0;
    for (const row of changes.rows) {
      const { event, run } = row;
      let size: number | null = null;
      if (event.payload !== null && eventKind(event.type).payload) {
        const data = gzipSync(event.payload, { level: 4, memLevel: 6 });
        this.#sql.addPayload.run(row.seq, data);
        size = data.byteLength;
        payloadBytes += size;
        payloads += 1;
      }
      this.#sizes.set(row.seq, size);
      this.#sql.addEvent.run(
        row.seq, run.key, event.at, event.type, event.eventId, event.runId, row.parentId, row.agent, row.tool, row.server, event.summary, size,
        row.durationMs, event.tokensIn, event.tokensOut, event.error, event.model, row.costNano, event.attributes,
      );
    }
    for (const { from, into } of changes.merged) {
      this.#sql.moveEvents.run(into.key, from.key);
      this.#sql.dropRun.run(from.key);
    }
    for (const run of changes.runs) this.#sql.saveRun.run(runValues(run));
    this.#sums.add(changes.tally, 1);
    this.#sums.count({ ...countersOf(changes.rows.map(countedRow), 1), payload_bytes: payloadBytes, payloads });
  }

  /** Compressed sizes of the batch in work. */
  readonly #sizes = new Map<number, number | null>();

  #frames(rows: readonly EventRow[]): Frame[] {
    const frames: Frame[] = [];
    if (this.#watched.size > 0) {
      for (const row of rows) {
        const frame = this.#watched.frame(storedStep(row, this.#sizes.get(row.seq) ?? null), (key) => this.#sums.publicId(key));
        if (frame !== null) frames.push(frame);
      }
    }
    this.#sizes.clear();
    return frames;
  }

  #noteChanged(tally: Tally): void {
    if (!this.#interest.updates) return;
    for (const key of tally.nodes.keys()) this.#changedNodes.add(key);
    for (const key of tally.edges.keys()) this.#changedEdges.add(key);
  }

  #remember(seq: number, eventId: string, runId: string, type: number, durationMs: number | null): void {
    this.#recent.add(eventHash(eventId), seq);
    if (marksRun(type, durationMs)) this.#recent.add(runHash(runId), seq);
  }

  #topFailure(run: RunState): string | null {
    for (const record of this.#sql.errorsOf.iterate(run.key)) {
      if (record.parent_id === null || !run.calls.has(record.parent_id)) return record.error ?? "failed";
    }
    return null;
  }

  /** Takes a run and its sums out of every answer. */
  #doom(run: RunRow): void {
    this.#takeOff(this.#sql.eventsOf.all(run.key));
    this.#sql.dropRun.run(run.key);
    this.#sql.addDoomed.run(run.key, run.runId);
  }

  /** Takes the steps of one nested run out of the run that holds them. */
  #doomNested(holder: RunRow, runId: string): void {
    const all = this.#sql.eventsOf.all(holder.key);
    const own = all.filter((record) => record.run_id === runId);
    const rest = all.filter((record) => record.run_id !== runId);
    this.#takeOff(all);
    const key = this.nextKey();
    for (const record of own) this.#sql.moveEvent.run(key, record.seq);
    this.#sql.addDoomed.run(key, runId);
    this.#sums.add(tallyOf(rest), 1);
    this.#sums.count(countersOf(rest, 1));
    this.#sql.saveRun.run(runValues(withoutNested(holder, rest)));
  }

  #takeOff(records: readonly EventRecord[]): void {
    const tally = tallyOf(records);
    this.#sums.add(tally, -1);
    this.#sums.count(countersOf(records, -1));
    this.#noteChanged(tally);
  }
}

/** A row without its payload, which is counted where it is compressed. */
function countedRow({ durationMs, event }: EventRow): Parameters<typeof countersOf>[0][number] {
  return { duration_ms: durationMs, tokens_in: event.tokensIn, tokens_out: event.tokensOut, payload: null };
}

function isFull(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code === "SQLITE_FULL" || code === "SQLITE_IOERR_WRITE" || code === "ENOSPC";
}

function prepare(db: Db, payloads: Db) {
  const columns = RUN_COLUMNS.split(", ");
  return {
    lastSeq: db.prepare<[], number | null>("SELECT max(seq) FROM events").pluck(),
    lastKey: db.prepare<[], number | null>("SELECT max(max(coalesce((SELECT max(key) FROM runs), 0), coalesce((SELECT max(root) FROM events), 0)))").pluck(),
    lastDoomed: db.prepare<[], number | null>("SELECT max(root) FROM doomed").pluck(),
    idsAfter: db.prepare<[number], { seq: number; event_id: string; run_id: string; type: number; duration_ms: number | null }>("SELECT seq, event_id, run_id, type, duration_ms FROM events WHERE seq > ? ORDER BY seq"),
    runById: db.prepare<[string], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = ?`),
    runOfStep: db.prepare<[number, string], RunRecord>(
      `SELECT ${columns.map((column) => `r.${column}`).join(", ")} FROM events e JOIN runs r ON r.key = e.root WHERE e.seq = ? AND e.run_id = ?`,
    ),
    isEvent: db.prepare<[number, string], number>("SELECT 1 FROM events e WHERE seq = ? AND event_id = ? AND root NOT IN (SELECT root FROM doomed)").pluck(),
    eventsOf: db.prepare<[number], EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? ORDER BY seq`),
    errorsOf: db.prepare<[number], { parent_id: string | null; error: string | null }>(
      `SELECT parent_id, error FROM events WHERE root = ? AND type IN (${EVENT_KINDS.flatMap((kind, index) => (kind.side === "error" ? [index] : [])).join(", ")}) ORDER BY at, seq`,
    ),
    unrooted: db.prepare<[], string>("SELECT run_id FROM runs WHERE status = 0 AND rooted = 0").pluck(),
    registered: db.prepare<[string, string], number>("SELECT count(*) FROM nodes WHERE registered = 1 AND substr(key, 1, length(?)) = ?").pluck(),
    quiet: db.prepare<[number], string>("SELECT run_id FROM runs WHERE status = 0 AND touched_ms < ? LIMIT 200").pluck(),
    lastAt: db.prepare<[number], number | null>("SELECT max(at) FROM events WHERE root = ?").pluck(),
    runCount: db.prepare<[], number>("SELECT count(*) FROM runs").pluck(),
    oldestEnded: db.prepare<[], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE status <> 0 ORDER BY started_at, run_id LIMIT 20`),
    addEvent: db.prepare(`INSERT INTO events (${EVENT_COLUMNS}) VALUES (${MARKS(19)})`),
    addPayload: payloads.prepare("INSERT OR REPLACE INTO payloads (seq, data) VALUES (?, ?)"),
    moveEvents: db.prepare("UPDATE events SET root = ? WHERE root = ?"),
    moveEvent: db.prepare("UPDATE events SET root = ? WHERE seq = ?"),
    dropRun: db.prepare("DELETE FROM runs WHERE key = ?"),
    saveRun: db.prepare(
      `INSERT INTO runs (${RUN_COLUMNS}) VALUES (${MARKS(columns.length)}) ON CONFLICT (key) DO UPDATE SET ${columns.slice(2).map((column) => `${column} = excluded.${column}`).join(", ")}`,
    ),
    doomed: db.prepare<[], { root: number; indexed: number }>("SELECT root, indexed FROM doomed ORDER BY root LIMIT 100"),
    addDoomed: db.prepare("INSERT INTO doomed (root, run_id, indexed) VALUES (?, ?, 0)"),
    markUnindexed: db.prepare("UPDATE doomed SET indexed = 1 WHERE root = ?"),
    seqsOf: db.prepare<[number, number], number>("SELECT seq FROM events WHERE root = ? LIMIT ?").pluck(),
    eraseEvent: db.prepare("DELETE FROM events WHERE seq = ?"),
    eraseDoomed: db.prepare("DELETE FROM doomed WHERE root = ?"),
    erasePayload: payloads.prepare("DELETE FROM payloads WHERE seq = ?"),
  };
}
