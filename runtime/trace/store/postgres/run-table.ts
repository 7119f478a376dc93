/** The rows of runs and their steps, for the writer. Everything is asked on the connection of its transaction. */
import { EVENT_KINDS } from "../../model.js";
import type { RunRow, RunState } from "../../record/run-state.js";
import { CALL_COLUMNS, type CallRecord, EVENT_COLUMNS, type EventRecord, RUN_COLUMNS, runRow, type RunRecord } from "../rows.js";
import { storable } from "./copy.js";
import type { Client } from "./driver.js";

type SummedRecord = CallRecord & Pick<EventRecord, "tokens_in" | "tokens_out" | "payload">;
type Asked = Pick<Client, "query">;

const ERROR_TYPES = EVENT_KINDS.flatMap((kind, index) => (kind.side === "error" ? [index] : []));
const QUIET = "SELECT run_id FROM runs WHERE status = 0 AND touched_ms < $1 LIMIT $2";

export async function runById(client: Asked, runId: string): Promise<RunRow | null> {
  const { rows } = await client.query<RunRecord>({ name: "run", text: `SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = $1`, values: [storable(runId)] });
  return rows[0] === undefined ? null : runRow(rows[0]);
}

/** Those of the ids that are runs, in no order. */
export async function runsById(client: Asked, runIds: readonly string[]): Promise<RunRow[]> {
  if (runIds.length === 0) return [];
  const { rows } = await client.query<RunRecord>({ name: "runs", text: `SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = ANY($1)`, values: [runIds] });
  return rows.map(runRow);
}

/** The run that holds the steps of a nested one. */
export async function holderOf(client: Asked, runId: string): Promise<RunRow | null> {
  const { rows } = await client.query<{ root: number }>("SELECT e.root FROM events e JOIN runs r ON r.key = e.root WHERE e.run_id = $1 AND e.duration_ms IS NULL LIMIT 1", [storable(runId)]);
  if (rows[0] === undefined) return null;
  const found = await client.query<RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE key = $1`, [rows[0].root]);
  return found.rows[0] === undefined ? null : runRow(found.rows[0]);
}

/** Ids of up to `limit` running runs without events since then. */
export async function quietRuns(client: Asked, beforeMs: number, limit: number): Promise<string[]> {
  return (await client.query<{ run_id: string }>(QUIET, [beforeMs, limit])).rows.map((row) => row.run_id);
}

/** Up to `limit` ended runs, oldest first. */
export async function oldestEnded(client: Asked, limit: number): Promise<RunRow[]> {
  const { rows } = await client.query<RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE status <> 0 ORDER BY started_at, run_id LIMIT $1`, [limit]);
  return rows.map(runRow);
}

/** Steps of a run, in order of arrival. */
export async function eventsOf(client: Asked, key: number): Promise<EventRecord[]> {
  return (await client.query<EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events WHERE root = $1 ORDER BY seq`, [key])).rows;
}

/** Steps of a run, in order of arrival, as far as sums need them. */
export async function summedEventsOf(client: Asked, key: number): Promise<SummedRecord[]> {
  return (await client.query<SummedRecord>(`SELECT ${CALL_COLUMNS}, tokens_in, tokens_out, payload FROM events WHERE root = $1 ORDER BY seq`, [key])).rows;
}

/** Steps of some runs with numbers in (`from`, `to`], in order of arrival. */
export async function eventsBetween(client: Asked, from: number, to: number, keys: readonly number[]): Promise<EventRecord[]> {
  if (keys.length === 0) return [];
  const text = `SELECT ${EVENT_COLUMNS} FROM events WHERE seq > $1 AND seq <= $2 AND root = ANY($3) ORDER BY seq`;
  return (await client.query<EventRecord>({ name: "new events", text, values: [from, to, keys] })).rows;
}

/** Time of the latest step; `null` without steps. */
export async function lastAt(client: Asked, key: number): Promise<number | null> {
  return (await client.query<{ at: number | null }>("SELECT max(at) AS at FROM events WHERE root = $1", [key])).rows[0]?.at ?? null;
}

/** What failed first of what no known call made; `null` when nothing did. */
export async function topFailure(client: Asked, run: RunState): Promise<string | null> {
  const { rows } = await client.query<{ parent_id: string | null; error: string | null }>("SELECT parent_id, error FROM events WHERE root = $1 AND type = ANY($2) ORDER BY at, seq", [run.key, ERROR_TYPES]);
  const top = rows.find((row) => row.parent_id === null || !run.calls.has(row.parent_id));
  return top === undefined ? null : (top.error ?? "failed");
}
