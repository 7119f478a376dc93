/**
 * What a commit tells the other processes: an entry of the log and a notification. Entries name what changed; whoever
 * needs more reads it. Entries older than a few minutes go; who was away longer starts from what is stored.
 */
import type { Changes } from "../../record/recorder.js";
import { RUNNING } from "../../model.js";
import type { RunRow } from "../../record/run-state.js";
import type { Client } from "./driver.js";

export interface Entry {
  /** Runs whose row changed or that got events. */
  readonly runs: readonly string[];
  readonly started: readonly string[];
  readonly ended: readonly string[];
  /** Runs of which nothing that is held in memory holds any more: deleted, or part of another one. */
  readonly gone: readonly string[];
  /** Keys of nodes and edges whose sums changed. */
  readonly nodes: readonly string[];
  readonly edges: readonly string[];
  /** Those of the runs that are running and whose own start has not been seen. Entries that do not say leave it to be read. */
  readonly early?: readonly string[];
}

export interface LoggedEntry extends Entry {
  readonly id: number;
  readonly lastSeq: number;
  /** The writer that committed it. */
  readonly by: string;
}

export const NOTHING: Entry = { runs: [], started: [], ended: [], gone: [], nodes: [], edges: [] };

/** Entries live this long, in milliseconds. */
export const ENTRY_LIFE_MS = 600_000;

export function entryOf(changes: Changes): Entry {
  const ids = (runs: Iterable<{ readonly runId: string }>): string[] => [...runs].map((run) => run.runId);
  return {
    runs: ids(changes.runs), started: ids([...changes.started].filter((run) => run.steps > 0)), ended: ids(changes.ended),
    // What the other run absorbed is no continuation of it, so it is read anew as well.
    gone: changes.merged.flatMap(({ from, into }) => [from.runId, into.runId]),
    nodes: [...changes.tally.nodes.keys()], edges: [...changes.tally.edges.keys()],
    early: ids([...changes.runs].filter(isEarly)),
  };
}

/** Whether a run may turn out to be part of another one. */
function isEarly({ status, rooted }: Pick<RunRow, "status" | "rooted">): boolean {
  return status === RUNNING && !rooted;
}

/** Entries after one, in order, and whether some in between are gone already. */
export async function entriesAfter(client: Client, id: number): Promise<{ readonly entries: readonly LoggedEntry[]; readonly gap: boolean }> {
  const { rows } = await client.query<{ id: number; last_seq: number; entry: string }>({ name: "entries", text: "SELECT id, last_seq, entry FROM log WHERE id > $1 ORDER BY id", values: [id] });
  const entries = rows.map((row) => ({ ...(JSON.parse(row.entry) as Entry & { readonly by: string }), id: row.id, lastSeq: row.last_seq }));
  return { entries, gap: entries.length > 0 && entries[0]?.id !== id + 1 };
}
