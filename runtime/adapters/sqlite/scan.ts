/**
 * Rows that a filter over texts selects, found over several turns of the event loop. SQLite gives one record after the
 * other, so a turn ends after the record during which its time was over, whatever the records hold.
 */
import { performance } from "node:perf_hooks";
import type { Filter } from "../../abi/filter.js";
import type { Collection } from "./catalog.js";
import type { Session } from "./session.js";
import { scanSql, type SelectedRows } from "./sql.js";

/** How long a scan may keep the event loop; the last record may take it over this. */
const TURN_MS = 10;

/** Time and turns of the event loop; tests have their own. */
export interface Turns {
  nowMs(): number;
  yield(): Promise<void>;
}

const EVENT_LOOP: Turns = { nowMs: () => performance.now(), yield: () => new Promise((resume) => setImmediate(resume)) };

/** The rows of `collection` that pass the filter, in no particular order; `session` must be in a transaction and used by nobody else. */
export async function scanRows(session: Session, { name, paths }: Collection, filter: Filter, signal: AbortSignal, turns: Turns = EVENT_LOOP): Promise<SelectedRows> {
  const rows: number[] = [];
  const records = session.each<{ readonly row: number; readonly hit: number | null }>(scanSql(name, filter, paths));
  try {
    let started = turns.nowMs();
    for (let next = session.next(() => records.next()); next.done !== true; next = session.next(() => records.next())) {
      if (next.value.hit === 1) rows.push(next.value.row);
      if (turns.nowMs() - started < TURN_MS) continue;
      await turns.yield();
      signal.throwIfAborted();
      started = turns.nowMs();
    }
  } finally {
    records.return?.();
  }
  return { rows };
}
