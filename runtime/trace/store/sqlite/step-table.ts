/** The rows of steps and their payloads, for the writer. */
import { gzipSync } from "node:zlib";
import { type Block, detailsOf, payloadOf } from "../../block.js";
import { EVENT_KINDS, eventKind } from "../../model.js";
import type { EventRow } from "../../record/recorder.js";
import type { EventRecord } from "../rows.js";
import { PayloadReads } from "./payload-reads.js";
import type { Db } from "./schema.js";
import { DetailReads, STEP_COLUMNS, type StoredStep } from "./step-record.js";

/** What the index of ids is made of. */
export type IdRow = Pick<EventRecord, "seq" | "event_id" | "run_id" | "type" | "duration_ms">;

export class StepTable {
  readonly #sql;

  constructor(
    private readonly traces: Db,
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
  of(root: number): StoredStep[] {
    return this.#sql.of.all(root);
  }

  /** `of`, one at a time. */
  each(root: number): Iterable<StoredStep> {
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

  /** Stores a block under a number, that of one of its steps. */
  addBlock(number: number, { payloads, details }: Block): void {
    if (payloads !== null) this.#sql.addBlock.run(number, payloads);
    if (details !== null) this.#sql.addDetails.run(number, details);
  }

  /** Stores a step whose texts are in the block `block`, or are not in one: `null`. Returns the compressed size of its payload, `null` without one. */
  add(row: EventRow, block: number | null): number | null {
    const { event, run } = row;
    const packed = block === null ? null : event.packed;
    const size = packed?.block.payloads == null ? this.#addPayload(row) : packed.bytes;
    const inBlock = packed?.block.details != null;
    const { summary, attributes } = inBlock ? EMPTY : detailsOf(event);
    this.#sql.add.run(
      row.seq, run.key, event.at, event.type, event.eventId, event.runId, row.parentId, row.agent, row.tool, row.server, summary, size,
      row.durationMs, event.tokensIn, event.tokensOut, event.error, row.model, row.costNano, attributes, block, packed?.line ?? null, inBlock ? 1 : null,
    );
    return size;
  }

  #addPayload({ seq, event }: EventRow): number | null {
    const payload = eventKind(event.type).payload ? payloadOf(event) : null;
    return payload === null ? null : this.#compress(seq, payload);
  }

  #compress(seq: number, payload: string): number {
    const data = gzipSync(payload, { level: 4, memLevel: 6 });
    this.#sql.addPayload.run(seq, data);
    return data.byteLength;
  }

  /** Stores the texts of all steps of some blocks one by one. The blocks of payloads stay until `eraseSpent`: a crash may take this back. */
  unpack(steps: Iterable<StoredStep>): void {
    const details = new DetailReads(this.traces);
    const payloads = new PayloadReads(this.payloads, () => undefined);
    const blocks = new Set<number>();
    for (const step of steps) {
      if (step.block === null) continue;
      blocks.add(step.block);
      const payload = step.payload === null ? null : payloads.text(step);
      if (payload !== null) this.#compress(step.seq, payload);
      const { summary, attributes } = details.fill(step);
      this.#sql.unpack.run(summary, attributes, step.seq);
    }
    for (const block of blocks) {
      this.#sql.eraseDetails.run(block);
      this.#sql.addSpent.run(block);
    }
  }

  /** Blocks of payloads that wait to be overwritten. */
  spent(): number[] {
    return this.#sql.spent.all();
  }

  forgetSpent(block: number): void {
    this.#sql.forgetSpent.run(block);
  }

  moveAll(fromRoot: number, toRoot: number): void {
    this.#sql.moveAll.run(toRoot, fromRoot);
  }

  move(seq: number, toRoot: number): void {
    this.#sql.move.run(toRoot, seq);
  }

  /** Some steps of a run and their blocks. */
  placesOf(root: number, limit: number): { readonly seq: number; readonly block: number | null }[] {
    return this.#sql.placesOf.all(root, limit);
  }

  erase(seq: number): void {
    this.#sql.erase.run(seq);
  }

  erasePayload(seq: number): void {
    this.#sql.erasePayload.run(seq);
  }

  eraseBlock(block: number): void {
    this.#sql.eraseBlock.run(block);
  }

  eraseDetails(block: number): void {
    this.#sql.eraseDetails.run(block);
  }

  /** Payloads beyond the last step are those of a batch that was not stored. */
  dropPayloadsAfter(seq: number): void {
    this.payloads.prepare("DELETE FROM payloads WHERE seq > ?").run(seq);
    this.payloads.prepare("DELETE FROM blocks WHERE block > ?").run(seq);
  }
}

/** Of a step whose details are in a block. */
const EMPTY = { summary: "", attributes: null } as const;

function prepare(traces: Db, payloads: Db) {
  const columns = STEP_COLUMNS.split(", ");
  const errors = EVENT_KINDS.flatMap((kind, index) => (kind.side === "error" ? [index] : []));
  return {
    lastSeq: traces.prepare<[], number | null>("SELECT max(seq) FROM events").pluck(),
    idsAfter: traces.prepare<[number], IdRow>("SELECT seq, event_id, run_id, type, duration_ms FROM events WHERE seq > ? ORDER BY seq"),
    isEvent: traces.prepare<[number, string, string], number>("SELECT 1 FROM events e WHERE seq = ? AND run_id = ? AND event_id = ? AND root NOT IN (SELECT root FROM doomed)").pluck(),
    of: traces.prepare<[number], StoredStep>(`SELECT ${STEP_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? ORDER BY seq`),
    errorsOf: traces.prepare<[number], Pick<EventRecord, "parent_id" | "error">>(
      `SELECT parent_id, error FROM events WHERE root = ? AND type IN (${errors.join(", ")}) ORDER BY at, seq`,
    ),
    lastAt: traces.prepare<[number], number | null>("SELECT max(at) FROM events WHERE root = ?").pluck(),
    add: traces.prepare(`INSERT INTO events (${STEP_COLUMNS}) VALUES (${columns.map(() => "?").join(", ")})`),
    addPayload: payloads.prepare("INSERT OR REPLACE INTO payloads (seq, data) VALUES (?, ?)"),
    moveAll: traces.prepare("UPDATE events SET root = ? WHERE root = ?"),
    move: traces.prepare("UPDATE events SET root = ? WHERE seq = ?"),
    placesOf: traces.prepare<[number, number], { seq: number; block: number | null }>("SELECT seq, block FROM events WHERE root = ? LIMIT ?"),
    erase: traces.prepare("DELETE FROM events WHERE seq = ?"),
    erasePayload: payloads.prepare("DELETE FROM payloads WHERE seq = ?"),
    addBlock: payloads.prepare("INSERT OR REPLACE INTO blocks (block, data) VALUES (?, ?)"),
    eraseBlock: payloads.prepare("DELETE FROM blocks WHERE block = ?"),
    addDetails: traces.prepare("INSERT OR REPLACE INTO details (block, data) VALUES (?, ?)"),
    eraseDetails: traces.prepare("DELETE FROM details WHERE block = ?"),
    unpack: traces.prepare("UPDATE events SET summary = ?, attributes = ?, block = NULL, line = NULL, details = NULL WHERE seq = ?"),
    addSpent: traces.prepare("INSERT OR IGNORE INTO spent (block) VALUES (?)"),
    spent: traces.prepare<[], number>("SELECT block FROM spent").pluck(),
    forgetSpent: traces.prepare("DELETE FROM spent WHERE block = ?"),
  };
}
