/** The rows of steps and their payloads, for the writer. */
import { gzipSync } from "node:zlib";
import { EVENT_KINDS, eventKind } from "../../model.js";
import type { EventRow } from "../../record/recorder.js";
import { EVENT_COLUMNS, type EventRecord } from "../rows.js";
import type { Db } from "./schema.js";

/** What the index of ids is made of. */
export type IdRow = Pick<EventRecord, "seq" | "event_id" | "run_id" | "type" | "duration_ms">;

export class StepTable {
  readonly #sql;

  constructor(
    traces: Db,
    private readonly payloads: Db,
  ) {
    this.#sql = prepare(traces, payloads);
  }

  lastSeq(): number {
    return this.#sql.lastSeq.get() ?? 0;
  }

  idsAfter(seq: number): Iterable<IdRow> {
    return this.#sql.idsAfter.iterate(seq);
  }

  /** Whether a step is that event of that run, and the run is not deleted. */
  isEvent(seq: number, runId: string, eventId: string): boolean {
    return this.#sql.isEvent.get(seq, runId, eventId) !== undefined;
  }

  /** Steps of a run, in order of arrival. */
  of(root: number): EventRecord[] {
    return this.#sql.of.all(root);
  }

  /** `of`, one at a time. */
  each(root: number): Iterable<EventRecord> {
    return this.#sql.of.iterate(root);
  }

  /** Failed steps of a run, by time. */
  errorsOf(root: number): Iterable<Pick<EventRecord, "parent_id" | "error">> {
    return this.#sql.errorsOf.iterate(root);
  }

  /** Time of the latest step; `null` without steps. */
  lastAt(root: number): number | null {
    return this.#sql.lastAt.get(root) ?? null;
  }

  /** Stores a step and its payload; returns the compressed size of that, `null` without one. */
  add(row: EventRow): number | null {
    const { event, run } = row;
    let size: number | null = null;
    if (event.payload !== null && eventKind(event.type).payload) {
      const data = gzipSync(event.payload, { level: 4, memLevel: 6 });
      this.#sql.addPayload.run(row.seq, data);
      size = data.byteLength;
    }
    this.#sql.add.run(
      row.seq, run.key, event.at, event.type, event.eventId, event.runId, row.parentId, row.agent, row.tool, row.server, event.summary, size,
      row.durationMs, event.tokensIn, event.tokensOut, event.error, event.model, row.costNano, event.attributes,
    );
    return size;
  }

  moveAll(fromRoot: number, toRoot: number): void {
    this.#sql.moveAll.run(toRoot, fromRoot);
  }

  move(seq: number, toRoot: number): void {
    this.#sql.move.run(toRoot, seq);
  }

  seqsOf(root: number, limit: number): number[] {
    return this.#sql.seqsOf.all(root, limit);
  }

  erase(seq: number): void {
    this.#sql.erase.run(seq);
  }

  erasePayload(seq: number): void {
    this.#sql.erasePayload.run(seq);
  }

  /** Payloads beyond the last step are those of a batch that was not stored. */
  dropPayloadsAfter(seq: number): void {
    this.payloads.prepare("DELETE FROM payloads WHERE seq > ?").run(seq);
  }
}

function prepare(traces: Db, payloads: Db) {
  const columns = EVENT_COLUMNS.split(", ");
  const errors = EVENT_KINDS.flatMap((kind, index) => (kind.side === "error" ? [index] : []));
  return {
    lastSeq: traces.prepare<[], number | null>("SELECT max(seq) FROM events").pluck(),
    idsAfter: traces.prepare<[number], IdRow>("SELECT seq, event_id, run_id, type, duration_ms FROM events WHERE seq > ? ORDER BY seq"),
    isEvent: traces.prepare<[number, string, string], number>("SELECT 1 FROM events e WHERE seq = ? AND run_id = ? AND event_id = ? AND root NOT IN (SELECT root FROM doomed)").pluck(),
    of: traces.prepare<[number], EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? ORDER BY seq`),
    errorsOf: traces.prepare<[number], Pick<EventRecord, "parent_id" | "error">>(
      `SELECT parent_id, error FROM events WHERE root = ? AND type IN (${errors.join(", ")}) ORDER BY at, seq`,
    ),
    lastAt: traces.prepare<[number], number | null>("SELECT max(at) FROM events WHERE root = ?").pluck(),
    add: traces.prepare(`INSERT INTO events (${EVENT_COLUMNS}) VALUES (${columns.map(() => "?").join(", ")})`),
    addPayload: payloads.prepare("INSERT OR REPLACE INTO payloads (seq, data) VALUES (?, ?)"),
    moveAll: traces.prepare("UPDATE events SET root = ? WHERE root = ?"),
    move: traces.prepare("UPDATE events SET root = ? WHERE seq = ?"),
    seqsOf: traces.prepare<[number, number], number>("SELECT seq FROM events WHERE root = ? LIMIT ?").pluck(),
    erase: traces.prepare("DELETE FROM events WHERE seq = ?"),
    erasePayload: payloads.prepare("DELETE FROM payloads WHERE seq = ?"),
  };
}
