/**
 * How runs leave the store. At once, in the transaction that deletes one: its row and its sums. Later its steps, payloads
 * and words: a little at a time when somebody asked for the deletion. What retention deletes waits for its partition,
 * which is dropped when no run of it is left: that takes the same time for any number of steps.
 */
import type { RunRow } from "../../record/run-state.js";
import { Tally } from "../../record/tally.js";
import type { Retention } from "../store.js";
import { COUNTERS, countersOf, type CounterSums, tallyOf, withoutNested } from "../stored.js";
import type { Finish } from "./commit.js";
import type { Client } from "./driver.js";
import { type Entry, NOTHING } from "./journal.js";
import { eventsOf, oldestEnded, summedEventsOf } from "./run-table.js";
import { dropPartition, partitions } from "./schema.js";
import { ADD_DURATIONS, ADD_EDGES, ADD_NODES, sumRows, sweepSums } from "./sums.js";

/** Runs of one round of the background. */
const ROUND = 20;
/** Runs deleted at once when the payloads take too much room. */
const HEAVY_RUNS = 5;

/** So long, in milliseconds, steps wait for their partition to be dropped; a slow service deletes them one by one. */
export const DROP_WAIT_MS = 3_600_000;

/** Ends the transaction with what is left to write. */
type End = (finish: Finish) => Promise<void>;

/** The oldest ended runs that are beyond a limit, 20 at most. */
export async function beyond(client: Client, limits: Retention): Promise<RunRow[]> {
  const { rows } = await client.query<{ total: number; payload_bytes: number }>("SELECT (SELECT count(*) FROM runs) AS total, payload_bytes FROM head");
  const excess = (rows[0]?.total ?? 0) - limits.maxRuns;
  const heavy = (rows[0]?.payload_bytes ?? 0) > limits.maxPayloadBytes;
  if (excess <= 0 && !heavy && limits.before === 0) return [];
  const found: RunRow[] = [];
  for (const run of await oldestEnded(client, ROUND)) if (found.length < excess || run.startedAt < limits.before || (heavy && found.length < HEAVY_RUNS)) found.push(run);
  return found;
}

/** Runs to delete, and what they are part of in the sums. */
export interface Removal {
  readonly runs: readonly RunRow[];
  readonly tally: Tally;
  /** With the sign of a removal. */
  readonly counters: CounterSums;
}

/** Reads what goes with some runs: much for long ones, so it is read before the head is locked. */
export async function removalOf(client: Client, runs: readonly RunRow[]): Promise<Removal> {
  const tally = new Tally();
  let counters = countersOf([], -1);
  for (const run of runs) {
    const own = await summedEventsOf(client, run.key);
    tallyOf(own, tally);
    const off = countersOf(own, -1);
    counters = Object.fromEntries(COUNTERS.map((name) => [name, counters[name] + off[name]])) as CounterSums;
  }
  return { runs, tally, counters };
}

/** Whether the runs are those of the removal, and nothing was added to or taken from them since it was read. */
export function isStill({ runs }: Removal, now: readonly RunRow[]): boolean {
  return runs.length === now.length && runs.every((run, index) => run.key === now[index]?.key && run.steps === now[index].steps && run.lastSeq === now[index].lastSeq);
}

/** Takes runs and their sums out of every answer. Their steps are deleted from `eraseMs` on, or before with their partition. */
export async function doom(client: Client, { runs, tally, counters }: Removal, eraseMs: number, end: End): Promise<Entry> {
  await client.query("WITH gone AS (DELETE FROM runs WHERE key = ANY($1) RETURNING key) INSERT INTO doomed (root, erase_ms) SELECT key, $2 FROM gone", [runs.map((run) => run.key), eraseMs]);
  const entry: Entry = { ...NOTHING, gone: runs.map((run) => run.runId), nodes: [...tally.nodes.keys()], edges: [...tally.edges.keys()] };
  await end({ runs: [], tally, entry, counters, sign: -1 });
  await sweepSums(client);
  return entry;
}

/** Takes the steps of one nested run out of the run that holds them; they get the key `key`. */
export async function doomNested(client: Client, holder: RunRow, runId: string, key: number, end: End): Promise<Entry> {
  const all = await eventsOf(client, holder.key);
  const rest = all.filter((record) => record.run_id !== runId);
  const tally = tallyOf(all);
  await client.query("UPDATE events SET root = $1 WHERE root = $2 AND run_id = $3", [key, holder.key, runId]);
  await client.query("INSERT INTO doomed VALUES ($1)", [key]);
  const left = tallyOf(rest);
  const [nodes, durations, edges] = sumRows(left, 1);
  await client.query(ADD_NODES("$1"), [nodes]);
  await client.query(ADD_DURATIONS("$1"), [durations]);
  await client.query(ADD_EDGES("$1"), [edges]);
  const entry: Entry = { ...NOTHING, runs: [holder.runId], gone: [holder.runId], nodes: [...tally.nodes.keys()], edges: [...tally.edges.keys()] };
  const off = countersOf(all.filter((record) => record.run_id === runId), -1);
  await end({ runs: [withoutNested(holder, rest)], tally, entry, counters: off, sign: -1 });
  await sweepSums(client);
  return entry;
}

/** Whether steps of deleted runs are left that need not wait at `nowMs`. */
export async function hasDoomed(client: Client, nowMs: number): Promise<boolean> {
  return (await client.query("SELECT 1 FROM doomed WHERE erase_ms <= $1 LIMIT 1", [nowMs])).rows.length > 0;
}

/** Deletes up to `limit` steps of doomed runs that need not wait at `nowMs`; false when nothing is left to do. Inside a transaction. */
export async function erase(client: Client, limit: number, nowMs: number): Promise<boolean> {
  const doomed = await client.query<{ root: number }>("SELECT root FROM doomed WHERE erase_ms <= $1 ORDER BY root LIMIT 1 FOR UPDATE SKIP LOCKED", [nowMs]);
  const root = doomed.rows[0]?.root;
  if (root === undefined) return false;
  // The index must not take in steps while they go.
  await client.query("SELECT seq FROM indexed FOR UPDATE");
  const { rows } = await client.query<{ seq: number }>("SELECT seq FROM events WHERE root = $1 LIMIT $2", [root, limit]);
  const seqs = rows.map((row) => row.seq);
  if (seqs.length > 0) for (const table of ["words", "payloads", "events"]) await client.query(`DELETE FROM ${table} WHERE seq = ANY($1)`, [seqs]);
  if (seqs.length < limit) await client.query("DELETE FROM doomed WHERE root = $1", [root]);
  return true;
}

/** Drops partitions of which no run is left. Returns how many. Inside a transaction. */
export async function dropEmpty(client: Client): Promise<number> {
  await client.query("SET LOCAL lock_timeout = '1s'");
  const { rows } = await client.query<{ current: number }>("SELECT seq / partition_steps AS current FROM head");
  let dropped = 0;
  for (const index of await partitions(client)) {
    // Steps that are written now need the last one.
    if (index >= (rows[0]?.current ?? 0)) break;
    if (await hasLiveRun(client, index)) continue;
    await client.query("SELECT seq FROM indexed FOR UPDATE");
    await dropPartition(client, index);
    dropped += 1;
  }
  if (dropped > 0) await client.query("DELETE FROM doomed WHERE root IN (SELECT root FROM doomed d WHERE NOT EXISTS (SELECT FROM events WHERE root = d.root) FOR UPDATE SKIP LOCKED)");
  return dropped;
}

/** Looks at the runs that may be in a partition, the latest first: they are the last to go. */
async function hasLiveRun(client: Client, index: number): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT 1 FROM (SELECT key FROM runs WHERE key <= (SELECT max(root) FROM events_${index}) ORDER BY key DESC) r
     WHERE EXISTS (SELECT FROM events_${index} e WHERE e.root = r.key) LIMIT 1`,
  );
  return rows.length > 0;
}
