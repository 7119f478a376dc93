/** Runs and steps by their ids, for reading: the merged index, and what is newer than it. */
import type { RunRow } from "../../record/run-state.js";
import { eventHash, eventHashes, MergedIds, runHash } from "./id-index.js";
import { RUN_COLUMNS, runRow, type RunRecord } from "../rows.js";
import type { Db } from "./schema.js";
import { DetailReads, STEP_COLUMNS, type StoredStep } from "./step-record.js";

/** A step with the id of the run that holds it. */
export type RootedEvent = StoredStep & { readonly root_id: string };

export class Lookup {
  readonly #ids: MergedIds;
  readonly #sql;

  constructor(
    traces: Db,
    index: Db,
    private readonly details: DetailReads,
  ) {
    this.#ids = new MergedIds(index);
    this.#sql = prepare(traces);
  }

  run(runId: string): RunRow | null {
    const record = this.#sql.run.get(runId);
    return record === undefined ? null : runRow(record);
  }

  /** The run that holds the steps of a nested one. */
  holder(runId: string): RunRow | null {
    for (const seq of this.#ids.find(runHash(runId))) {
      const record = this.#sql.runOfStep.get(seq, runId);
      if (record !== undefined) return runRow(record);
    }
    const recent = this.#sql.recentRun.get(this.#ids.progress(), runId);
    return recent === undefined ? null : runRow(recent);
  }

  /** An event by its id, of the run itself or, for a root, of one inside it; its details are not filled in. */
  step(runId: string, eventId: string): RootedEvent | null {
    for (const seq of this.#ids.find(eventHash(runId, eventId))) {
      const record = this.#sql.bySeq.get(seq);
      if (record?.event_id === eventId && record.run_id === runId) return record;
    }
    return this.#sql.recentStep.get(this.#ids.progress(), runId, eventId) ?? this.#sql.stepInside.get(runId, eventId) ?? null;
  }

  /** Whether any run has an event with that id. */
  hasStep(eventId: string): boolean {
    const { from, to } = eventHashes(eventId);
    return this.#ids.between(from, to).some((seq) => this.#sql.bySeq.get(seq)?.event_id === eventId) || this.#sql.recentEvent.get(this.#ids.progress(), eventId) !== undefined;
  }

  stepAt(seq: number): RootedEvent | null {
    const record = this.#sql.bySeq.get(seq);
    return record === undefined ? null : this.details.fill(record);
  }

  lastSeq(): number {
    return this.#sql.lastSeq.get() ?? 0;
  }

  /** Own steps of a nested run, in the order of the journey. */
  stepsOf(holder: RunRow, runId: string): StoredStep[] {
    return this.#sql.stepsOf.all(holder.key, runId).map((record) => this.details.fill(record));
  }
}

function prepare(traces: Db) {
  const runColumns = RUN_COLUMNS.split(", ").map((column) => `r.${column}`).join(", ");
  const eventColumns = STEP_COLUMNS.split(", ").map((column) => `e.${column}`).join(", ");
  return {
    run: traces.prepare<[string], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = ?`),
    runOfStep: traces.prepare<[number, string], RunRecord>(`SELECT ${runColumns} FROM events e JOIN runs r ON r.key = e.root WHERE e.seq = ? AND e.run_id = ?`),
    recentRun: traces.prepare<[number, string], RunRecord>(`SELECT ${runColumns} FROM events e JOIN runs r ON r.key = e.root WHERE e.seq > ? AND e.run_id = ? LIMIT 1`),
    bySeq: traces.prepare<[number], RootedEvent>(`SELECT ${eventColumns}, r.run_id AS root_id FROM events e JOIN runs r ON r.key = e.root WHERE e.seq = ?`),
    recentStep: traces.prepare<[number, string, string], RootedEvent>(
      `SELECT ${eventColumns}, r.run_id AS root_id FROM events e JOIN runs r ON r.key = e.root WHERE e.seq > ? AND e.run_id = ? AND e.event_id = ? LIMIT 1`,
    ),
    stepInside: traces.prepare<[string, string], RootedEvent>(
      `SELECT ${eventColumns}, r.run_id AS root_id FROM runs r JOIN events e INDEXED BY events_root ON e.root = r.key WHERE r.run_id = ? AND e.event_id = ? ORDER BY e.at, e.seq LIMIT 1`,
    ),
    recentEvent: traces.prepare<[number, string], number>("SELECT 1 FROM events e JOIN runs r ON r.key = e.root WHERE e.seq > ? AND e.event_id = ? LIMIT 1").pluck(),
    stepsOf: traces.prepare<[number, string], StoredStep>(`SELECT ${STEP_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? AND run_id = ? ORDER BY at, seq`),
    lastSeq: traces.prepare<[], number | null>("SELECT max(seq) FROM events").pluck(),
  };
}
