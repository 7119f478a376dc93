/** The rows of runs, for the writer. */
import type { RunRow } from "../../record/run-state.js";
import { RUN_COLUMNS, runRow, type RunRecord, runValues } from "../rows.js";
import type { Db } from "./schema.js";

export class RunTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = prepare(db);
  }

  /** The largest key in use, also by steps whose run is gone; 0 without any. */
  lastKey(): number {
    return this.#sql.lastKey.get() ?? 0;
  }

  byId(runId: string): RunRow | null {
    const record = this.#sql.byId.get(runId);
    return record === undefined ? null : runRow(record);
  }

  /** The run that holds a step, if the step is one of the nested run's. */
  ofStep(seq: number, runId: string): RunRow | null {
    const record = this.#sql.ofStep.get(seq, runId);
    return record === undefined ? null : runRow(record);
  }

  /** Ids of running runs whose own start has not been seen. */
  unrooted(): string[] {
    return this.#sql.unrooted.all();
  }

  /** Ids of some running runs without events since then. */
  quiet(beforeMs: number): string[] {
    return this.#sql.quiet.all(beforeMs);
  }

  count(): number {
    return this.#sql.count.get() ?? 0;
  }

  /** Up to 20 of them, oldest first. */
  oldestEnded(): RunRow[] {
    return this.#sql.oldestEnded.all().map(runRow);
  }

  save(run: RunRow): void {
    this.#sql.save.run(runValues(run));
  }

  drop(key: number): void {
    this.#sql.drop.run(key);
  }
}

function prepare(db: Db) {
  const columns = RUN_COLUMNS.split(", ");
  return {
    lastKey: db.prepare<[], number | null>("SELECT max(coalesce((SELECT max(key) FROM runs), 0), coalesce((SELECT max(root) FROM events), 0))").pluck(),
    byId: db.prepare<[string], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = ?`),
    ofStep: db.prepare<[number, string], RunRecord>(
      `SELECT ${columns.map((column) => `r.${column}`).join(", ")} FROM events e JOIN runs r ON r.key = e.root WHERE e.seq = ? AND e.run_id = ?`,
    ),
    unrooted: db.prepare<[], string>("SELECT run_id FROM runs WHERE status = 0 AND rooted = 0").pluck(),
    quiet: db.prepare<[number], string>("SELECT run_id FROM runs WHERE status = 0 AND touched_ms < ? LIMIT 200").pluck(),
    count: db.prepare<[], number>("SELECT count(*) FROM runs").pluck(),
    oldestEnded: db.prepare<[], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE status <> 0 ORDER BY started_at, run_id LIMIT 20`),
    save: db.prepare(
      `INSERT INTO runs (${RUN_COLUMNS}) VALUES (${columns.map(() => "?").join(", ")}) ON CONFLICT (key) DO UPDATE SET ${columns.slice(2).map((column) => `${column} = excluded.${column}`).join(", ")}`,
    ),
    drop: db.prepare("DELETE FROM runs WHERE key = ?"),
  };
}
