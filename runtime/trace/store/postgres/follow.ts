/** What memory holds of runs follows the commits of others. */
import type { Recorder } from "../../record/recorder.js";
import { type EventRecord, recordedEvent } from "../rows.js";
import type { Client } from "./driver.js";
import type { LoggedEntry } from "./journal.js";
import { eventsBetween, runsById } from "./run-table.js";

/** Takes in what others committed: `entries`, with steps in (`from`, `to`]. */
export async function followEntries(client: Client, recorder: Recorder, entries: readonly LoggedEntry[], from: number, to: number): Promise<void> {
  for (const entry of entries) for (const id of entry.gone) recorder.drop(id);
  const ids = [...new Set(entries.flatMap((entry) => entry.runs))];
  const lacking = new Set(recorder.lacks(ids).runs);
  const unsaid = new Set(entries.flatMap((entry) => (entry.early === undefined ? entry.runs : [])));
  for (const { runs: changed, gone, early = [] } of entries) {
    for (const id of gone) recorder.noteEarly(id, false);
    for (const id of changed) if (lacking.has(id)) recorder.noteEarly(id, early.includes(id));
  }
  // Runs that are not in memory are not read: what is to be known of them is in the entry.
  const runs = await runsById(client, ids.filter((id) => !lacking.has(id) || unsaid.has(id)));
  const events = new Map<number, EventRecord[]>(runs.filter((run) => !lacking.has(run.runId)).map((run) => [run.key, []]));
  for (const record of await eventsBetween(client, from, to, [...events.keys()])) events.get(record.root)?.push(record);
  for (const run of runs) recorder.follow(run, (events.get(run.key) ?? []).map(recordedEvent));
}
