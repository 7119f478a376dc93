/**
 * The only writer of index.db: follows traces.db by sequence number and keeps full text and ids up to date in bulk,
 * takes deleted runs out again, and copies the write-ahead logs into their files, so that the recorder's thread never
 * waits for that. Everything in index.db can be made again from the other two files.
 */
import { statSync } from "node:fs";
import { indexedText, searchText } from "../search-text.js";
import { eventHash, marksRun, placesInOrder, runHash } from "./id-index.js";
import { checkpoint, freeBytes, inTransaction, isFull } from "./full.js";
import { PayloadReads } from "./payload-reads.js";
import { type Db, type Layout, openForCheckpoint, openForReading, openForWriting } from "./schema.js";
import { DetailReads, STEP_COLUMNS, type StoredStep } from "./step-record.js";

/** Steps of one transaction of the full text. */
const TEXT_BATCH = 500;
/** Ids are merged when this many wait, or when nothing else is to be done. */
const ID_BATCH = 30_000;
const UNINDEX_BATCH = 200;
/** Ids of one statement: a call into SQLite takes longer than an id. */
const IDS_AT_ONCE = 64;
/** With less than this free on the disk, room is used sparingly. */
const SCARCE_BYTES = 64 << 20;
/** Steps of one transaction of the full text then. */
const SPARING_BATCH = 50;
/** With less than this free, it is left to the recorder, and search falls behind. */
const RESERVE_BYTES = 4 << 20;
/** Logs smaller than this are left alone. */
const LOG_BYTES = 8 << 20;
/** The same where room is scarce: a log holds pages many times over. */
const SPARING_LOG_BYTES = 1 << 20;

export interface IndexerEvents {
  /** index.db holds the ids of steps up to here. */
  readonly merged: (seq: number) => void;
  /** The steps of a deleted run are out of index.db. */
  readonly unindexed: (root: number) => void;
  /** The logs were copied as far as possible; the recorder can finish that cheaply now. */
  readonly copied: () => void;
}

export class Indexer {
  readonly #index: Db;
  readonly #traces: Db;
  readonly #payloads: Db;
  readonly #details: DetailReads;
  readonly #texts: PayloadReads;
  readonly #sql;
  readonly #reported = new Set<number>();
  #text: number;
  #ids: number;
  #short = false;

  constructor(
    private readonly layout: Layout,
    private readonly events: IndexerEvents,
  ) {
    this.#index = openForWriting(layout, "index");
    this.#index.pragma("wal_autocheckpoint = 1000");
    this.#index.exec("CREATE TABLE IF NOT EXISTS gone (root INTEGER PRIMARY KEY) STRICT");
    this.#traces = openForReading(layout, "traces", 4_000);
    this.#payloads = openForReading(layout, "payloads", 2_000);
    this.#details = new DetailReads(this.#traces);
    this.#texts = new PayloadReads(this.#payloads, () => undefined);
    this.#sql = prepare(this.#index, this.#traces);
    this.#text = this.#sql.progress.get("text") ?? 0;
    this.#ids = this.#sql.progress.get("ids") ?? 0;
  }

  /** There is something to do, and the room for it is left to the recorder. */
  get short(): boolean {
    return this.#short;
  }

  /** One bounded piece of work; false when there is nothing to do, or no room. `idle` allows small merges, `calm` the full text. */
  step(idle: boolean, calm = true): boolean {
    const last = this.#sql.lastSeq.get() ?? 0;
    // Deletions come first, whatever room there is: they make some.
    if (this.#unindexOne()) return true;
    this.#short = last > Math.min(this.#text, this.#ids) && freeBytes(this.layout.directory) < RESERVE_BYTES;
    if (this.#short) return false;
    if (last - this.#ids >= ID_BATCH) return this.#mergeIds(last);
    if (!calm) return false;
    if (last > this.#text) return this.#indexText();
    return idle && last > this.#ids ? this.#mergeIds(last) : false;
  }

  /** Takes the deleted runs out of the index; returns those that the recorder has not noted yet, some when there are many. */
  unindex(): readonly number[] {
    while (this.#unindexOne());
    return this.#sql.doomed.all();
  }

  /** Tells of the deleted runs that are out of the index again: the recorder may have had no room to note it. */
  retell(): void {
    this.#reported.clear();
  }

  /** Copies logs that have grown into their files. */
  copyLogs(): void {
    const least = this.#isScarce() ? SPARING_LOG_BYTES : LOG_BYTES;
    let copied = false;
    for (const file of ["traces", "payloads"] as const) {
      if (logBytes(this.layout[file]) < least) continue;
      const db = openForCheckpoint(this.layout, file);
      try {
        copied = checkpoint(db, "PASSIVE") || copied;
      } finally {
        db.close();
      }
    }
    if (copied) this.events.copied();
  }

  close(): void {
    checkpoint(this.#index, "TRUNCATE");
    for (const db of [this.#index, this.#traces, this.#payloads]) db.close();
  }

  #indexText(): boolean {
    const rows = this.#sql.after.all(this.#text, this.#isScarce() ? SPARING_BATCH : TEXT_BATCH);
    const lastRow = rows.at(-1);
    if (lastRow === undefined) return false;
    this.#write(() => {
      for (const row of rows) if (row.doomed === 0) this.#sql.addWords.run(row.seq, this.#textOf(row));
      this.#sql.saveProgress.run("text", lastRow.seq);
    });
    this.#text = lastRow.seq;
    return true;
  }

  #mergeIds(last: number): boolean {
    const upTo = Math.min(last, this.#ids + ID_BATCH * 2);
    const hashes: number[] = [];
    const seqs: number[] = [];
    for (const row of this.#sql.idsAfter.iterate(this.#ids, upTo)) {
      if (row.doomed === 1) continue;
      for (const { hash, seq } of idEntries(row)) {
        hashes.push(hash);
        seqs.push(seq);
      }
    }
    const order = placesInOrder(hashes);
    this.#write(() => {
      let at = 0;
      const values = new Array<number>(IDS_AT_ONCE * 2);
      for (; at + IDS_AT_ONCE <= order.length; at += IDS_AT_ONCE) {
        for (let index = 0; index < IDS_AT_ONCE; index++) {
          const place = order[at + index] ?? 0;
          values[index * 2] = hashes[place] ?? 0;
          values[index * 2 + 1] = seqs[place] ?? 0;
        }
        this.#sql.addIds.run(values);
      }
      for (const index of order.subarray(at)) this.#sql.addId.run(hashes[index], seqs[index]);
      this.#sql.saveProgress.run("ids", upTo);
    });
    this.#ids = upTo;
    this.events.merged(upTo);
    return true;
  }

  #isScarce(): boolean {
    return freeBytes(this.layout.directory) < SCARCE_BYTES;
  }

  /**
   * A transaction of index.db. One that the disk has no room for has filled it with its part of the log, which only a
   * checkpoint gives back, and a checkpoint of what was committed before needs room as well. So where room is scarce
   * the log is empty before a transaction begins, and all that a failed one took is free again at once.
   */
  #write(work: () => void): void {
    if (this.#isScarce()) checkpoint(this.#index, "TRUNCATE");
    try {
      inTransaction(this.#index, work);
    } catch (error) {
      if (isFull(error)) checkpoint(this.#index, "TRUNCATE");
      throw error;
    }
  }

  #unindexOne(): boolean {
    const roots = this.#sql.doomed.all();
    if (roots.length === 0) {
      if (this.#reported.size > 0) this.#sql.sweepGone.run();
      this.#reported.clear();
      return false;
    }
    const root = roots.find((candidate) => !this.#reported.has(candidate));
    if (root === undefined) return false;
    if (this.#sql.isGone.get(root) === undefined) {
      // All of it is one transaction: text may be taken out of the index only once.
      this.#write(() => this.#takeOut(root));
    }
    // The recorder's thread notes it; until then the row is still there.
    this.#reported.add(root);
    this.events.unindexed(root);
    return true;
  }

  #takeOut(root: number): void {
    let from = 0;
    for (;;) {
      const rows = this.#sql.eventsOf.all(root, from, UNINDEX_BATCH);
      for (const row of rows) {
        if (row.seq <= this.#text) this.#sql.removeWords.run(row.seq, this.#textOf(row));
        if (row.seq <= this.#ids) for (const { hash, seq } of idEntries(row)) this.#sql.removeId.run(hash, seq);
      }
      const lastRow = rows.at(-1);
      if (lastRow === undefined) break;
      from = lastRow.seq;
    }
    this.#sql.markGone.run(root);
  }

  #textOf(row: StoredStep): string {
    return indexedText(searchText(this.#details.fill(row), row.payload === null ? null : this.#texts.text(row)));
  }
}

function idEntries(row: { readonly seq: number; readonly event_id: string; readonly run_id: string; readonly type: number; readonly duration_ms: number | null }): { hash: number; seq: number }[] {
  const entries = [{ hash: eventHash(row.run_id, row.event_id), seq: row.seq }];
  if (marksRun(row.type, row.duration_ms)) entries.push({ hash: runHash(row.run_id), seq: row.seq });
  return entries;
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function prepare(index: Db, traces: Db) {
  return {
    progress: index.prepare<[string], number>("SELECT seq FROM progress WHERE name = ?").pluck(),
    saveProgress: index.prepare("INSERT INTO progress (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq"),
    addWords: index.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)"),
    removeWords: index.prepare("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)"),
    addId: index.prepare("INSERT OR IGNORE INTO ids (hash, seq) VALUES (?, ?)"),
    addIds: index.prepare<[unknown[]]>(`INSERT OR IGNORE INTO ids (hash, seq) VALUES ${Array.from({ length: IDS_AT_ONCE }, () => "(?, ?)").join(", ")}`),
    removeId: index.prepare("DELETE FROM ids WHERE hash = ? AND seq = ?"),
    isGone: index.prepare<[number], number>("SELECT 1 FROM gone WHERE root = ?").pluck(),
    markGone: index.prepare("INSERT OR IGNORE INTO gone (root) VALUES (?)"),
    sweepGone: index.prepare("DELETE FROM gone"),
    lastSeq: traces.prepare<[], number | null>("SELECT max(seq) FROM events").pluck(),
    after: traces.prepare<[number, number], StoredStep & { doomed: number }>(
      `SELECT ${STEP_COLUMNS}, root IN (SELECT root FROM doomed) AS doomed FROM events WHERE seq > ? ORDER BY seq LIMIT ?`,
    ),
    idsAfter: traces.prepare<[number, number], { seq: number; event_id: string; run_id: string; type: number; duration_ms: number | null; doomed: number }>(
      "SELECT seq, event_id, run_id, type, duration_ms, root IN (SELECT root FROM doomed) AS doomed FROM events WHERE seq > ? AND seq <= ? ORDER BY seq",
    ),
    eventsOf: traces.prepare<[number, number, number], StoredStep>(`SELECT ${STEP_COLUMNS} FROM events WHERE root = ? AND seq > ? ORDER BY seq LIMIT ?`),
    doomed: traces.prepare<[], number>("SELECT root FROM doomed WHERE indexed = 0 ORDER BY root LIMIT 200").pluck(),
  };
}
