/**
 * Batches that are recorded before their writer has the head: writers then wait for each other only while rows are
 * written. Numbers are given out for good when the head is locked. What was recorded holds unless somebody else
 * committed something meanwhile that the batch has to do with; it is recorded again then.
 */
import type { Incoming } from "../../model.js";
import type { Changes } from "../../record/recorder.js";
import { type BatchRows, renumberRows } from "./batch-rows.js";
import type { Client } from "./driver.js";
import type { LoggedEntry } from "./journal.js";

/** Keys of runs that are new in such a batch come after this one, until they are given out for good. */
export const PROVISIONAL_KEY = 2 ** 45;

/** The last numbers that are in use. */
export interface Numbers {
  readonly seq: number;
  readonly key: number;
}

export interface Recorded {
  readonly changes: Changes;
  readonly rows: BatchRows;
}

/** A batch that was recorded without the head: its numbers follow `from`. */
export interface Prepared extends Recorded {
  readonly from: Numbers;
}

/** Gives the steps and the new runs of a batch the numbers that follow `to`. */
export function renumber({ changes, rows, from }: Prepared, to: Numbers): void {
  const [seqs, keys] = [to.seq - from.seq, to.key - from.key];
  const runs = new Set([...changes.runs, ...changes.merged.flatMap(({ from: early, into }) => [early, into])]);
  for (const run of runs) {
    if (run.lastSeq > from.seq) run.lastSeq += seqs;
    if (run.key > from.key) run.key += keys;
  }
  if (seqs !== 0) changes.rows.forEach((row, index) => (changes.rows[index] = { ...row, seq: row.seq + seqs }));
  renumberRows(rows, changes);
}

/** Ids of runs and calls that events name. */
export function idsOf(batch: readonly Incoming[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const event of batch) for (const id of [event.runId, event.parentId, event.rootId]) if (id !== null) ids.add(id);
  return ids;
}

/** Whether commits of others, the steps in (`from`, `to`], are about runs or calls of a batch. */
export async function concerns(client: Client, entries: readonly LoggedEntry[], { batch, changes, from, to }: { readonly batch: readonly Incoming[]; readonly changes: Changes; readonly from: number; readonly to: number }): Promise<boolean> {
  const ids = new Set(idsOf(batch));
  for (const run of changes.runs) ids.add(run.runId);
  for (const { from: early } of changes.merged) ids.add(early.runId);
  if (entries.some((entry) => [...entry.runs, ...entry.gone].some((id) => ids.has(id)))) return true;
  const { rows } = await client.query<{ found: boolean }>({
    name: "concerned", text: "SELECT EXISTS (SELECT FROM events WHERE seq > $1 AND seq <= $2 AND run_id = ANY($3)) AS found", values: [from, to, [...ids]],
  });
  return rows[0]?.found === true;
}
