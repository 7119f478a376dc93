/**
 * Rows that a filter over texts selects, found over several turns of the event loop. SQLite gives one record after the
 * other, so a turn ends after the record during which its time was over, whatever the records hold.
 */
import type { Filter } from "../../abi/filter.js";
import { inTurns, type Turns } from "../../base/turns.js";
import type { Collection } from "./catalog.js";
import { scanStatement } from "./queries.js";
import type { Session } from "./session.js";

/** The rows of `collection` that pass the filter, in no particular order; `session` must be in a transaction and used by nobody else. */
export function scanRows(session: Session, collection: Collection, filter: Filter, signal: AbortSignal, turns?: Turns): Promise<{ readonly rows: readonly number[] }> {
  return inTurns(scan(session, collection, filter), signal, turns);
}

function* scan(session: Session, collection: Collection, filter: Filter): Generator<void, { readonly rows: readonly number[] }> {
  const rows: number[] = [];
  const records = session.each<{ readonly row: number; readonly hit: number | null }>(scanStatement(collection, filter));
  try {
    for (let next = session.next(() => records.next()); next.done !== true; next = session.next(() => records.next())) {
      if (next.value.hit === 1) rows.push(next.value.row);
      yield;
    }
  } finally {
    // An open statement would keep the transaction open.
    records.return?.();
  }
  return { rows };
}
