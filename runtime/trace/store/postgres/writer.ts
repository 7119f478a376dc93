/**
 * Writes to PostgreSQL: one transaction for each batch, recorded by `record/`. Whoever writes locks the row of `head`
 * first, in whichever process, so commits have one order: sequence numbers become visible in theirs, and what memory
 * holds of runs is brought up to date with the commits of others before it is used.
 */
import { gzipSync } from "node:zlib";
import { EVENT_KINDS, eventKind, type Incoming, RUNNING } from "../../model.js";
import { type Changes, type EventRow, Recorder, type RecorderOptions } from "../../record/recorder.js";
import { endRun, type RunRow, type RunState } from "../../record/run-state.js";
import { Tally } from "../../record/tally.js";
import { grownOf, runUpdate, storedStep, updatesOf, Watched } from "../news.js";
import { EVENT_COLUMNS, type EventRecord, recordedEvent, RUN_COLUMNS, runRow, type RunRecord, runValues, stepRow } from "../rows.js";
import type { BatchOutcome, Interest, News, Retention } from "../store.js";
import { COUNTERS, countersOf, type CounterSums, folded, tallyOf, withoutNested } from "../stored.js";
import { type ColumnType, CopyRows, storable, storableJson } from "./copy.js";
import { type Client, type DatabaseOptions, type Driver, isConflict, messageOf } from "./driver.js";
import { type Entry, entriesAfter, ENTRY_LIFE_MS, entryOf, type LoggedEntry, NOTHING } from "./journal.js";
import { Link } from "./link.js";
import { addPartition, dropPartition, partitions } from "./schema.js";
import { EVENT_COLUMNS_OF_E, FetchedSource } from "./source.js";
import { ADD_DURATIONS, ADD_EDGES, ADD_NODES, loadIds, sumRows, sweepSums } from "./sums.js";

export interface PostgresWriterOptions extends RecorderOptions, DatabaseOptions {
  readonly driver: Driver;
  readonly onNews: (news: News) => void;
  readonly log: (message: string) => void;
}

interface Head {
  readonly partition_steps: number;
  readonly seq: number;
  readonly key: number;
  readonly log: number;
  readonly payload_bytes: number;
}

/** What a transaction ended with; `entry` is `null` when it wrote nothing. */
interface Locked<T> {
  readonly value: T;
  readonly entry: Entry | null;
  readonly news?: () => Promise<News>;
}

/** What is told of a run in an export and not by its steps. */
export type ToldRun = Partial<Pick<RunRow, "status" | "startedAt" | "completedAt" | "tags" | "error" | "graph">>;

const EVENT_TYPES: readonly ColumnType[] = [
  "bigint", "bigint", "bigint", "smallint", "text", "text", "text", "text", "text", "text", "text", "integer", "bigint", "bigint", "bigint", "text", "text", "bigint", "text",
];
const HEAD = "partition_steps, seq, key, log, payload_bytes";
const NO_COUNTERS: CounterSums = countersOf([], 1);
/** Runs of one round of the background. */
const ROUND = 20;
const QUIET = 200;
/** Tries of a transaction that others are in the way of. */
const MAX_ATTEMPTS = 4;

const SAVE_RUNS = (parameter: string): string => {
  const columns = [...RUN_COLUMNS.split(", "), "folded", "folded_tags"];
  return `INSERT INTO runs (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM json_populate_recordset(NULL::runs, ${parameter}::json)
    ON CONFLICT (key) DO UPDATE SET ${columns.slice(2).map((column) => `${column} = excluded.${column}`).join(", ")}`;
};

/** Everything of a commit that is not a row of a step: runs, sums, the entry for others, the head. */
const FINISH = `WITH saved AS (${SAVE_RUNS("$1")}), nodes_added AS (${ADD_NODES("$2")}), durations_added AS (${ADD_DURATIONS("$3")}), edges_added AS (${ADD_EDGES("$4")}),
  logged AS (INSERT INTO log (id, at_ms, last_seq, entry) VALUES ($5, $6, $7, $8))
  UPDATE head SET seq = $7, key = $9, log = $5, ${COUNTERS.map((name, index) => `${name} = ${name} + $${index + 11}`).join(", ")} RETURNING pg_notify($10, $5::text)`;

export class PostgresWriter {
  readonly #source = new FetchedSource();
  readonly #recorder: Recorder;
  readonly #link: Link;
  readonly #channel: string;
  readonly #watched = new Watched();
  readonly #partitions = new Set<number>();
  #interest: Interest = { updates: false, growth: false };
  #changedNodes = new Set<string>();
  #changedEdges = new Set<string>();
  #ids: ReadonlyMap<string, string> | null = null;
  /** Everything up to here was told; -1 before the first look. */
  #told = { log: -1, seq: 0 };
  /** The last batch may have been stored although its end was not seen. */
  #doubted = false;

  constructor(private readonly options: PostgresWriterOptions) {
    this.#channel = `toolsrv_trace_${options.schema}`.slice(0, 63);
    this.#recorder = new Recorder(this.#source, options);
    this.#link = new Link({ driver: options.driver, channel: this.#channel, onTold: (client, fresh) => this.#hear(client, fresh) });
  }

  /** Connects. @throws StoreUnavailableError */
  open(): Promise<void> {
    return this.#link.run(() => Promise.resolve());
  }

  /** @throws StoreUnavailableError, StorageFullError, or what the database says; nothing of the batch is stored then. */
  async write(given: readonly Incoming[]): Promise<BatchOutcome> {
    const started = performance.now();
    // When the end of the last commit was not seen, what was made here may be stored already.
    const doubted = this.#doubted;
    const batch = given.map((event) => storableEvent(doubted ? { ...event, fresh: false } : event));
    const packed = new Map(batch.flatMap((event) => (event.payload !== null && eventKind(event.type).payload ? [[event, gzipSync(event.payload, { level: 4, memLevel: 6 })] as const] : [])));
    this.#doubted = true;
    const { made, last } = await this.#locked(async (client, head) => {
      await this.#source.fetchBatch(client, this.#recorder, batch);
      const changes = this.#recorder.record(batch);
      const counted = await this.#persist(client, head, changes, packed);
      const entry = entryOf(changes);
      await this.#finish(client, head, { runs: changes.runs, tally: changes.tally, entry, counters: counted });
      return { value: { made: changes, last: this.#source.seq }, entry, news: () => this.#newsOf(client, changes, packed) };
    });
    this.#doubted = false;
    return {
      stored: made.rows.length, duplicates: made.duplicates, sampledOut: made.sampledOut, throttled: made.throttled, throttledRuns: made.throttledRuns,
      lastSeq: last, elapsedMs: performance.now() - started,
    };
  }

  watch(rootId: string, extended: boolean): Promise<number> {
    return this.#link.turn(() => {
      this.#watched.add(rootId, extended);
      return this.#told.seq;
    });
  }

  unwatch(rootId: string, extended: boolean): void {
    this.#watched.remove(rootId, extended);
  }

  listen(interest: Interest): void {
    this.#interest = interest;
  }

  takeChanged(): { nodes: string[]; edges: string[] } {
    const taken = { nodes: [...this.#changedNodes], edges: [...this.#changedEdges] };
    this.#changedNodes.clear();
    this.#changedEdges.clear();
    return taken;
  }

  async deleteRun(runId: string): Promise<boolean> {
    return this.#locked(async (client, head) => {
      const run = await this.#run(client, runId);
      if (run !== null) return this.#doom(client, head, [run], true);
      const holder = await this.#holder(client, runId);
      return holder === null ? { value: false, entry: null } : this.#doomNested(client, head, holder, runId);
    });
  }

  /** Sets what an export says of a run and its steps alone do not; false when there is no such run. */
  async restore(runId: string, told: ToldRun): Promise<boolean> {
    return this.#locked(async (client, head) => {
      const run = await this.#run(client, runId);
      if (run === null) return { value: false, entry: null };
      const entry: Entry = { ...NOTHING, runs: [runId], gone: [runId] };
      await this.#finish(client, head, { runs: [{ ...run, ...told }], entry });
      this.#recorder.drop(runId);
      return { value: true, entry };
    });
  }

  async registerTools(server: string, tools: readonly string[]): Promise<number> {
    const prefix = storable(`tool\n${server}\n`);
    return this.#locked(async (client, head) => {
      const entry: Entry = { ...NOTHING, nodes: tools.map((tool) => prefix + storable(tool)) };
      const tally = new Tally();
      for (const key of entry.nodes) tally.node(key);
      await this.#finish(client, head, { runs: [], tally, entry });
      await client.query("UPDATE nodes SET registered = 1 WHERE key = ANY($1)", [entry.nodes]);
      const { rows } = await client.query<{ count: number }>("SELECT count(*) AS count FROM nodes WHERE registered = 1 AND starts_with(key, $1)", [prefix]);
      return { value: rows[0]?.count ?? 0, entry };
    });
  }

  async sweep(settleBeforeMs: number, staleBeforeMs: number): Promise<void> {
    const before = Math.max(settleBeforeMs, staleBeforeMs);
    const quiet = "SELECT run_id FROM runs WHERE status = 0 AND touched_ms < $1 LIMIT $2";
    const idle = await this.#link.run(async (client) => (await client.query(quiet, [before, 1])).rows.length === 0);
    if (idle) return;
    await this.#locked(async (client, head) => {
      const ids = (await client.query<{ run_id: string }>(quiet, [before, QUIET])).rows.map((row) => row.run_id);
      await this.#source.fetchRuns(client, this.#recorder, ids);
      const ended = new Set<RunState>();
      for (const id of ids) {
        const run = this.#recorder.state(id);
        if (run !== null && run.status === RUNNING && (await this.#endQuiet(client, run, settleBeforeMs, staleBeforeMs))) ended.add(run);
      }
      const runs = [...ended].map((run) => run.runId);
      const entry: Entry = { ...NOTHING, runs, ended: runs };
      if (ended.size > 0) await this.#finish(client, head, { runs: ended, entry });
      const news = (): Promise<News> => Promise.resolve({ frames: [], updates: this.#interest.updates ? updatesOf({ started: new Set(), ended }) : [], grown: [] });
      return ended.size === 0 ? { value: undefined, entry: null } : { value: undefined, entry, news };
    });
  }

  /** Deletes up to 20 of the oldest ended runs that are beyond a limit. */
  async retain(limits: Retention): Promise<number> {
    const find = async (client: Client): Promise<RunRow[]> => {
      const { rows } = await client.query<{ total: number; payload_bytes: number }>("SELECT (SELECT count(*) FROM runs) AS total, payload_bytes FROM head");
      const excess = (rows[0]?.total ?? 0) - limits.maxRuns;
      const heavy = (rows[0]?.payload_bytes ?? 0) > limits.maxPayloadBytes;
      if (excess <= 0 && !heavy && limits.before === 0) return [];
      const oldest = await client.query<RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE status <> 0 ORDER BY started_at, run_id LIMIT ${ROUND}`);
      const doomed: RunRow[] = [];
      for (const run of oldest.rows.map(runRow)) if (doomed.length < excess || run.startedAt < limits.before || (heavy && doomed.length < 5)) doomed.push(run);
      return doomed;
    };
    // Most of the time there is nothing to do, and then nobody is kept from writing.
    if ((await this.#link.run(find)).length === 0) return 0;
    return this.#locked(async (client, head) => {
      const doomed = await find(client);
      return doomed.length === 0 ? { value: 0, entry: null } : this.#doom(client, head, doomed, doomed.length);
    });
  }

  /** Drops partitions of which no run is left. Returns how many. */
  async dropEmpty(): Promise<number> {
    return this.#link.transaction(async (client) => {
      await client.query("SET LOCAL lock_timeout = '1s'");
      const { rows } = await client.query<{ current: number }>("SELECT seq / partition_steps AS current FROM head");
      let dropped = 0;
      for (const index of await partitions(client)) {
        if (index >= (rows[0]?.current ?? 0)) break;
        const live = await client.query(`SELECT 1 FROM events_${index} e JOIN runs r ON r.key = e.root LIMIT 1`);
        if (live.rows.length > 0) break;
        await client.query("SELECT seq FROM indexed FOR UPDATE");
        await dropPartition(client, index);
        dropped += 1;
      }
      return dropped;
    });
  }

  /** Deletes up to `limit` steps of doomed runs; false when nothing is left to do. */
  async erase(limit: number): Promise<boolean> {
    return this.#link.transaction(async (client) => {
      const doomed = await client.query<{ root: number }>("SELECT root FROM doomed ORDER BY root LIMIT 1 FOR UPDATE SKIP LOCKED");
      const root = doomed.rows[0]?.root;
      if (root === undefined) return false;
      // The index must not take in steps while they go.
      await client.query("SELECT seq FROM indexed FOR UPDATE");
      const { rows } = await client.query<{ seq: number }>("SELECT seq FROM events WHERE root = $1 LIMIT $2", [root, limit]);
      const seqs = rows.map((row) => row.seq);
      if (seqs.length > 0) for (const table of ["words", "payloads", "events"]) await client.query(`DELETE FROM ${table} WHERE seq = ANY($1)`, [seqs]);
      if (seqs.length < limit) await client.query("DELETE FROM doomed WHERE root = $1", [root]);
      return true;
    });
  }

  /** Deletes entries of the log that nobody needs any more. */
  async trimLog(): Promise<void> {
    await this.#link.run((client) => client.query("DELETE FROM log WHERE at_ms < $1", [this.options.now() - ENTRY_LIFE_MS]));
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  // ---- inside -----------------------------------------------------------------------------------------------

  /**
   * A transaction that holds the head. `entry` is what was told to others, `null` when nothing was written. One that the
   * database gives up because of another is done again; as that takes back all that it did, `work` begins anew.
   */
  async #locked<T>(work: (client: Client, head: Head) => Promise<Locked<T>>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#lockedOnce(work);
      } catch (error) {
        // What was recorded is not stored: memory follows the database.
        this.#recorder.forget();
        if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async #lockedOnce<T>(work: (client: Client, head: Head) => Promise<Locked<T>>): Promise<T> {
    const { value } = await this.#link.transaction(
      async (client) => {
        const { rows } = await client.query<Head>({ name: "head", text: `SELECT ${HEAD} FROM head FOR UPDATE` });
        const head = required(rows[0]);
        await this.#catchUp(client, head);
        this.#source.begin(head.seq, head.key);
        return { head, ...(await work(client, head)) };
      },
      async ({ head, entry, news }) => {
        if (entry === null) return;
        this.#partitions.add(Math.floor(this.#source.seq / head.partition_steps));
        this.#note(entry);
        this.#told = { log: head.log + 1, seq: this.#source.seq };
        if (news !== undefined) this.options.onNews(await news());
      },
    );
    return value;
  }

  /** The connection is new, or somebody else committed. */
  async #hear(client: Client, fresh: boolean): Promise<void> {
    const head = fresh ? required((await client.query<Head>(`SELECT ${HEAD} FROM head`)).rows[0]) : null;
    if (head !== null && this.#told.log < 0) this.#told = { log: head.log, seq: head.seq };
    await this.#catchUp(client, head);
  }

  /** Takes in what others committed: memory of runs, and news of it. */
  async #catchUp(client: Client, head: Head | null): Promise<void> {
    if (head !== null && head.log === this.#told.log) return;
    const { entries, gap } = await entriesAfter(client, this.#told.log);
    const last = entries.at(-1);
    // Entries that are gone leave the head to go by.
    const to = last === undefined ? head : { log: last.id, seq: last.lastSeq };
    if (to === null || to.log <= this.#told.log) return;
    const from = this.#told.seq;
    if (gap || last === undefined) this.#recorder.forget();
    else await this.#follow(client, entries, from, to.seq);
    for (const entry of entries) this.#note(entry);
    const news = await this.#foreignNews(client, entries, from, to.seq);
    this.#told = { log: to.log, seq: to.seq };
    this.options.onNews(news);
  }

  async #follow(client: Client, entries: readonly LoggedEntry[], from: number, to: number): Promise<void> {
    for (const entry of entries) for (const id of entry.gone) this.#recorder.drop(id);
    const ids = [...new Set(entries.flatMap((entry) => entry.runs))];
    if (ids.length === 0) return;
    const { rows } = await client.query<RunRecord>({ name: "runs", text: `SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = ANY($1)`, values: [ids] });
    const runs = rows.map(runRow);
    const lacking = new Set(this.#recorder.lacks(runs.map((run) => run.runId)).runs);
    const events = new Map<number, EventRecord[]>(runs.filter((run) => !lacking.has(run.runId)).map((run) => [run.key, []]));
    if (events.size > 0) {
      const found = await client.query<EventRecord>({
        name: "new events", values: [from, to, [...events.keys()]],
        text: `SELECT ${EVENT_COLUMNS} FROM events WHERE seq > $1 AND seq <= $2 AND root = ANY($3) ORDER BY seq`,
      });
      for (const record of found.rows) events.get(record.root)?.push(record);
    }
    for (const run of runs) this.#recorder.follow(run, (events.get(run.key) ?? []).map(recordedEvent));
  }

  /** News of commits that were not made here. */
  async #foreignNews(client: Client, entries: readonly LoggedEntry[], from: number, to: number): Promise<News> {
    const frames: News["frames"][number][] = [];
    const updates: News["updates"][number][] = [];
    if (this.#watched.size > 0) {
      const { rows } = await client.query<EventRecord & { root_id: string }>({
        name: "watched events", values: [from, to, [...this.#watched.ids()]],
        text: `SELECT ${EVENT_COLUMNS_OF_E}, r.run_id AS root_id FROM events e JOIN runs r ON r.key = e.root WHERE e.seq > $1 AND e.seq <= $2 AND r.run_id = ANY($3) ORDER BY e.seq`,
      });
      const ids = rows.length === 0 ? new Map<string, string>() : await this.#publicIds(client);
      for (const row of rows) {
        const frame = this.#watched.frame(stepRow(row, row.root_id), (key) => ids.get(key) ?? null);
        if (frame !== null) frames.push(frame);
      }
    }
    if (this.#interest.updates) {
      const started = new Set(entries.flatMap((entry) => entry.started));
      const ended = new Set(entries.flatMap((entry) => entry.ended));
      const ids = [...new Set([...started, ...ended])];
      const { rows } = ids.length === 0 ? { rows: [] } : await client.query<RunRecord>({ name: "runs", text: `SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = ANY($1)`, values: [ids] });
      for (const run of rows.map(runRow)) {
        if (started.has(run.runId)) updates.push(runUpdate("started", run));
        if (ended.has(run.runId)) updates.push(runUpdate("ended", run));
      }
    }
    return { foreign: true, frames, updates, grown: this.#interest.growth ? [...new Set(entries.flatMap((entry) => entry.runs))] : [] };
  }

  /** News of a batch that was written here. */
  async #newsOf(client: Client, changes: Changes, packed: ReadonlyMap<Incoming, Uint8Array>): Promise<News> {
    const frames: News["frames"][number][] = [];
    if (this.#watched.size > 0) {
      const steps = changes.rows.map((row) => storedStep(row, sizeOf(row, packed)));
      const ids = await this.#publicIds(client).catch((error: unknown) => {
        this.options.log(`names of nodes can't be read: ${messageOf(error)}`);
        return new Map<string, string>();
      });
      for (const step of steps) {
        const frame = this.#watched.frame(step, (key) => ids.get(key) ?? null);
        if (frame !== null) frames.push(frame);
      }
    }
    return { frames, updates: this.#interest.updates ? updatesOf(changes) : [], grown: this.#interest.growth ? grownOf(changes) : [] };
  }

  async #publicIds(client: Client): Promise<ReadonlyMap<string, string>> {
    this.#ids ??= await loadIds(client);
    return this.#ids;
  }

  #note(entry: Entry): void {
    if (entry.nodes.length > 0) this.#ids = null;
    if (!this.#interest.updates) return;
    for (const key of entry.nodes) this.#changedNodes.add(key);
    for (const key of entry.edges) this.#changedEdges.add(key);
  }

  /** Writes the rows of a batch. Returns what they add to the counters. */
  async #persist(client: Client, head: Head, changes: Changes, packed: ReadonlyMap<Incoming, Uint8Array>): Promise<CounterSums> {
    await this.#makeRoom(client, head);
    const events = new CopyRows(EVENT_TYPES);
    const payloads = new CopyRows(["bigint", "bytes"]);
    let count = 0;
    for (const row of changes.rows) {
      const { event } = row;
      const data = packed.get(event);
      if (data !== undefined) {
        payloads.add([row.seq, data]);
        count += 1;
      }
      events.add([
        row.seq, row.run.key, event.at, event.type, event.eventId, event.runId, row.parentId, row.agent, row.tool, row.server, event.summary, data?.byteLength ?? null,
        row.durationMs, event.tokensIn, event.tokensOut, event.error, event.model, row.costNano, event.attributes,
      ]);
    }
    if (changes.rows.length > 0) await this.options.driver.copy(client, `COPY events (${EVENT_COLUMNS}) FROM STDIN (FORMAT binary)`, events.end());
    if (count > 0) await this.options.driver.copy(client, "COPY payloads (seq, data) FROM STDIN (FORMAT binary)", payloads.end());
    for (const { from, into } of changes.merged) {
      await client.query("UPDATE events SET root = $1 WHERE root = $2", [into.key, from.key]);
      await client.query("DELETE FROM runs WHERE key = $1", [from.key]);
    }
    return countersOf(changes.rows.map((row) => ({ duration_ms: row.durationMs, tokens_in: row.event.tokensIn, tokens_out: row.event.tokensOut, payload: sizeOf(row, packed) })), 1);
  }

  /** Makes the partitions that the numbers given out so far need. */
  async #makeRoom(client: Client, { seq, partition_steps: steps }: Head): Promise<void> {
    for (let index = Math.floor((seq + 1) / steps); index <= Math.floor(this.#source.seq / steps); index++) {
      if (!this.#partitions.has(index)) await addPartition(client, index, steps);
    }
  }

  async #finish(client: Client, head: Head, { runs, tally = new Tally(), entry, counters = NO_COUNTERS, sign = 1 }: {
    readonly runs: Iterable<RunRow>; readonly tally?: Tally; readonly entry: Entry; readonly counters?: CounterSums; readonly sign?: 1 | -1;
  }): Promise<void> {
    await client.query({
      name: "finish", text: FINISH,
      values: [
        storableJson([...runs].map(runRecord)), ...sumRows(tally, sign), head.log + 1, this.options.now(), this.#source.seq, storableJson(entry), this.#source.key, this.#channel,
        ...COUNTERS.map((name) => counters[name]),
      ],
    });
  }

  async #run(client: Client, runId: string): Promise<RunRow | null> {
    const { rows } = await client.query<RunRecord>({ name: "run", text: `SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = $1`, values: [storable(runId)] });
    return rows[0] === undefined ? null : runRow(rows[0]);
  }

  async #holder(client: Client, runId: string): Promise<RunRow | null> {
    const { rows } = await client.query<{ root: number }>("SELECT e.root FROM events e JOIN runs r ON r.key = e.root WHERE e.run_id = $1 AND e.duration_ms IS NULL LIMIT 1", [storable(runId)]);
    if (rows[0] === undefined) return null;
    const found = await client.query<RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE key = $1`, [rows[0].root]);
    return found.rows[0] === undefined ? null : runRow(found.rows[0]);
  }

  async #eventsOf(client: Client, key: number): Promise<EventRecord[]> {
    return (await client.query<EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events WHERE root = $1 ORDER BY seq`, [key])).rows;
  }

  async #endQuiet(client: Client, run: RunState, settleBeforeMs: number, staleBeforeMs: number): Promise<boolean> {
    const last = await client.query<{ at: number | null }>("SELECT max(at) AS at FROM events WHERE root = $1", [run.key]);
    const lastAt = last.rows[0]?.at ?? run.startedAt;
    if (run.touchedMs < settleBeforeMs && !run.rooted && run.calls.openCount === 0) {
      const failure = await this.#topFailure(client, run);
      return endRun(run, failure !== null, lastAt, failure, true);
    }
    return run.touchedMs < staleBeforeMs && endRun(run, true, lastAt, "interrupted");
  }

  async #topFailure(client: Client, run: RunState): Promise<string | null> {
    const { rows } = await client.query<{ parent_id: string | null; error: string | null }>("SELECT parent_id, error FROM events WHERE root = $1 AND type = ANY($2) ORDER BY at, seq", [run.key, ERROR_TYPES]);
    const top = rows.find((row) => row.parent_id === null || !run.calls.has(row.parent_id));
    return top === undefined ? null : (top.error ?? "failed");
  }

  /** Takes runs and their sums out of every answer. */
  async #doom<T>(client: Client, head: Head, runs: readonly RunRow[], value: T): Promise<{ value: T; entry: Entry }> {
    const records: EventRecord[] = [];
    const tally = new Tally();
    for (const run of runs) {
      const own = await this.#eventsOf(client, run.key);
      tallyOf(own, tally);
      for (const record of own) records.push(record);
    }
    await client.query("WITH gone AS (DELETE FROM runs WHERE key = ANY($1) RETURNING key) INSERT INTO doomed SELECT key FROM gone", [runs.map((run) => run.key)]);
    const entry: Entry = { ...NOTHING, gone: runs.map((run) => run.runId), nodes: [...tally.nodes.keys()], edges: [...tally.edges.keys()] };
    await this.#finish(client, head, { runs: [], tally, entry, counters: countersOf(records, -1), sign: -1 });
    await sweepSums(client);
    for (const run of runs) this.#recorder.drop(run.runId);
    return { value, entry };
  }

  /** Takes the steps of one nested run out of the run that holds them. */
  async #doomNested(client: Client, head: Head, holder: RunRow, runId: string): Promise<{ value: boolean; entry: Entry }> {
    const all = await this.#eventsOf(client, holder.key);
    const rest = all.filter((record) => record.run_id !== runId);
    const tally = tallyOf(all);
    const key = this.#source.nextKey();
    await client.query("UPDATE events SET root = $1 WHERE root = $2 AND run_id = $3", [key, holder.key, runId]);
    await client.query("INSERT INTO doomed VALUES ($1)", [key]);
    const left = tallyOf(rest);
    const [nodes, durations, edges] = sumRows(left, 1);
    await client.query(ADD_NODES("$1"), [nodes]);
    await client.query(ADD_DURATIONS("$1"), [durations]);
    await client.query(ADD_EDGES("$1"), [edges]);
    const entry: Entry = { ...NOTHING, runs: [holder.runId], gone: [holder.runId], nodes: [...tally.nodes.keys()], edges: [...tally.edges.keys()] };
    const off = countersOf(all.filter((record) => record.run_id === runId), -1);
    await this.#finish(client, head, { runs: [withoutNested(holder, rest)], tally, entry, counters: off, sign: -1 });
    await sweepSums(client);
    this.#recorder.drop(holder.runId);
    return { value: true, entry };
  }
}

function required(head: Head | undefined): Head {
  if (head === undefined) throw new Error("the table head has no row");
  return head;
}

function sizeOf({ event }: EventRow, packed: ReadonlyMap<Incoming, Uint8Array>): number | null {
  return packed.get(event)?.byteLength ?? null;
}

const ERROR_TYPES = EVENT_KINDS.flatMap((kind, index) => (kind.side === "error" ? [index] : []));

/** A run as a row of JSON. */
function runRecord(run: RunRow): { readonly [column: string]: unknown } {
  const values = runValues(run);
  const words = [run.runId, run.name ?? "", run.error ?? "", JSON.stringify(run.tags), run.session ?? "", run.user ?? ""].join(" ");
  return {
    ...Object.fromEntries(RUN_COLUMNS.split(", ").map((column, index) => [column.replaceAll('"', ""), values[index]])),
    folded: folded(words), folded_tags: run.tags.map(folded),
  };
}

function storableEvent(event: Incoming): Incoming {
  const text = (value: string | null): string | null => (value === null ? null : storable(value));
  return {
    ...event, eventId: storable(event.eventId), runId: storable(event.runId), parentId: text(event.parentId), rootId: text(event.rootId), agent: text(event.agent),
    tool: text(event.tool), server: text(event.server), summary: storable(event.summary), error: text(event.error), tags: event.tags?.map(storable) ?? null,
    session: text(event.session), user: text(event.user), model: text(event.model), graph: text(event.graph), attributes: text(event.attributes),
  };
}
