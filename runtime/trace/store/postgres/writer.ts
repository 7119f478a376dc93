/**
 * Writes to PostgreSQL: one transaction for each batch, recorded by `record/`. Every writer, in any process, locks the row of `head`
 * before it writes, so commits have one order: sequence numbers become visible in theirs. Batches are recorded before
 * that (`prepared.ts`); what memory holds of runs follows the commits of others.
 */
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { detailsOf, payloadOf } from "../../block.js";
import { eventKind, type Incoming, RUNNING } from "../../model.js";
import { type Changes, Recorder, type RecorderOptions } from "../../record/recorder.js";
import { endRun, type RunFacts, type RunRow, type RunState } from "../../record/run-state.js";
import { Tally, toolKey, toolKeyPrefix } from "../../record/tally.js";
import { type EventRecord, recordedEvent } from "../rows.js";
import type { BatchOutcome, Interest, News, Retention } from "../store.js";
import { Commit, type Head } from "./commit.js";
import { storable } from "./copy.js";
import { type Client, type DatabaseOptions, type Driver, isConflict } from "./driver.js";
import { beyond, doom, doomNested, DROP_WAIT_MS, dropEmpty, erase } from "./erasure.js";
import { type Entry, entriesAfter, ENTRY_LIFE_MS, entryOf, type LoggedEntry, NOTHING } from "./journal.js";
import { Link } from "./link.js";
import { concerns, type Numbers, PROVISIONAL_KEY, renumber } from "./prepared.js";
import { eventsBetween, holderOf, lastAt, quietRuns, runById, runsById, topFailure } from "./run-table.js";
import { FetchedSource } from "./source.js";
import { CommitNews, type Packed } from "./commit-news.js";

export interface PostgresWriterOptions extends RecorderOptions, DatabaseOptions {
  readonly driver: Driver;
  readonly onNews: (news: News) => void;
  readonly log: (message: string) => void;
}

/** What a transaction ended with; `entry` is `null` when it wrote nothing. */
interface Locked<T> {
  readonly value: T;
  readonly entry: Entry | null;
  readonly news?: () => Promise<News>;
}

type Work<T> = (client: Client, head: Head, before: News[]) => Promise<Locked<T>>;

/** A batch that was recorded without the head. */
interface Prepared {
  readonly changes: Changes;
  readonly from: Numbers;
}

const NO_ENTRIES = { entries: [], gap: false } as const;
const QUIET = 200;
/** Tries of a transaction that others are in the way of. */
const MAX_ATTEMPTS = 4;

export class PostgresWriter {
  readonly #source = new FetchedSource();
  readonly #recorder: Recorder;
  readonly #link: Link;
  readonly #commit: Commit;
  readonly #news: CommitNews;
  /** Everything up to here was published; -1 before the first look. */
  #at = { log: -1, seq: 0 };
  /** The last batch may have been stored although its end was not seen. */
  #doubted = false;

  constructor(private readonly options: PostgresWriterOptions) {
    const id = randomUUID();
    const channel = `toolsrv_trace_${options.schema}`.slice(0, 63);
    this.#commit = new Commit({ driver: options.driver, source: this.#source, channel, id, now: options.now });
    this.#news = new CommitNews(id, options.log);
    this.#recorder = new Recorder(this.#source, options);
    this.#link = new Link({ driver: options.driver, channel, onCommit: (client, fresh) => this.#hear(client, fresh) });
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
    const packed: Packed = new Map(batch.flatMap((event) => (event.payload !== null && eventKind(event.type).payload ? [[event, gzipSync(event.payload, { level: 4, memLevel: 6 })] as const] : [])));
    this.#doubted = true;
    let prepared: Prepared | null = null;
    const { made, last } = await this.#locked(async (client, head, before) => {
      const changes = await this.#settled(client, head, batch, prepared, before);
      const counted = await this.#commit.rows(client, head, changes, packed);
      const entry = entryOf(changes);
      await this.#commit.finish(client, head, { runs: changes.runs, tally: changes.tally, entry, counters: counted });
      return { value: { made: changes, last: this.#source.seq }, entry, news: () => this.#news.news(client, changes, packed) };
    }, async (client) => {
      prepared = await this.#prepare(client, batch);
    });
    this.#doubted = false;
    return {
      stored: made.rows.length, duplicates: made.duplicates, sampledOut: made.sampledOut, throttled: made.throttled, throttledRuns: made.throttledRuns,
      lastSeq: last, elapsedMs: performance.now() - started,
    };
  }

  watch(rootId: string, extended: boolean): Promise<number> {
    return this.#link.turn(() => {
      this.#news.watched.add(rootId, extended);
      return this.#at.seq;
    });
  }

  unwatch(rootId: string, extended: boolean): void {
    this.#news.watched.remove(rootId, extended);
  }

  listen(interest: Interest): void {
    this.#news.listen(interest);
  }

  takeChanged(): { nodes: string[]; edges: string[] } {
    return this.#news.takeChanged();
  }

  async deleteRun(runId: string): Promise<boolean> {
    return this.#locked(async (client, head) => {
      const run = await runById(client, runId);
      if (run !== null) return { value: true, entry: await this.#doom(client, head, [run], 0) };
      const holder = await holderOf(client, runId);
      if (holder === null) return { value: false, entry: null };
      const entry = await doomNested(client, holder, runId, this.#source.nextKey(), (finish) => this.#commit.finish(client, head, finish));
      this.#recorder.drop(holder.runId);
      return { value: true, entry };
    });
  }

  /** Sets what an export says of a run and its steps alone do not; false when there is no such run. */
  async restore(runId: string, facts: RunFacts): Promise<boolean> {
    return this.#locked(async (client, head) => {
      const run = await runById(client, runId);
      if (run === null) return { value: false, entry: null };
      const entry: Entry = { ...NOTHING, runs: [runId], gone: [runId] };
      await this.#commit.finish(client, head, { runs: [{ ...run, ...facts }], entry });
      this.#recorder.drop(runId);
      return { value: true, entry };
    });
  }

  async registerTools(server: string, tools: readonly string[]): Promise<number> {
    const prefix = storable(toolKeyPrefix(server));
    return this.#locked(async (client, head) => {
      const entry: Entry = { ...NOTHING, nodes: tools.map((tool) => storable(toolKey(server, tool))) };
      const tally = new Tally();
      for (const key of entry.nodes) tally.node(key);
      await this.#commit.finish(client, head, { runs: [], tally, entry });
      await client.query("UPDATE nodes SET registered = 1 WHERE key = ANY($1)", [entry.nodes]);
      const { rows } = await client.query<{ count: number }>("SELECT count(*) AS count FROM nodes WHERE registered = 1 AND starts_with(key, $1)", [prefix]);
      return { value: rows[0]?.count ?? 0, entry };
    });
  }

  async sweep(settleBeforeMs: number, staleBeforeMs: number): Promise<void> {
    const before = Math.max(settleBeforeMs, staleBeforeMs);
    const some = await this.#link.run((client) => quietRuns(client, before, 1));
    if (some.length === 0) return;
    await this.#locked(async (client, head) => {
      const ids = await quietRuns(client, before, QUIET);
      await this.#source.fetchRuns(client, this.#recorder, ids);
      const ended = new Set<RunState>();
      for (const id of ids) {
        const run = this.#recorder.state(id);
        if (run !== null && run.status === RUNNING && (await this.#endQuiet(client, run, settleBeforeMs, staleBeforeMs))) ended.add(run);
      }
      const runs = [...ended].map((run) => run.runId);
      const entry: Entry = { ...NOTHING, runs, ended: runs };
      if (ended.size > 0) await this.#commit.finish(client, head, { runs: ended, entry });
      const news = (): Promise<News> => Promise.resolve(this.#news.ended(ended));
      return ended.size === 0 ? { value: undefined, entry: null } : { value: undefined, entry, news };
    });
  }

  /** Deletes up to 20 of the oldest ended runs that are beyond a limit. */
  async retain(limits: Retention): Promise<number> {
    // Most of the time there is nothing to do, and then nobody is kept from writing.
    if ((await this.#link.run((client) => beyond(client, limits))).length === 0) return 0;
    return this.#locked(async (client, head) => {
      const doomed = await beyond(client, limits);
      return { value: doomed.length, entry: doomed.length === 0 ? null : await this.#doom(client, head, doomed, this.options.now() + DROP_WAIT_MS) };
    });
  }

  /** Drops partitions of which no run is left. Returns how many. */
  async dropEmpty(): Promise<number> {
    return this.#link.transaction(dropEmpty);
  }

  /** Deletes up to `limit` steps of doomed runs, also of those that wait for their partition when `all`; false when nothing is left to do. */
  async erase(limit: number, all = false): Promise<boolean> {
    return this.#link.transaction((client) => erase(client, limit, all ? Number.MAX_SAFE_INTEGER : this.options.now()));
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
   * A transaction that holds the head. `entry` is what other processes read of it, `null` when nothing was written. One that the
   * database gives up because of another is done again; as that takes back all that it did, `work` begins anew.
   */
  async #locked<T>(work: Work<T>, prepare?: (client: Client) => Promise<void>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#lockedOnce(work, prepare);
      } catch (error) {
        // What was recorded is not stored: memory follows the database.
        this.#recorder.forget();
        if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async #lockedOnce<T>(work: Work<T>, prepare?: (client: Client) => Promise<void>): Promise<T> {
    const others: News[] = [];
    const { value } = await this.#link.transaction(
      async (client) => {
        const head = await this.#commit.head(client, true);
        if (prepare === undefined) {
          await this.#catchUp(client, head);
          this.#source.begin(head.seq, head.key);
        }
        return { head, ...(await work(client, head, others)) };
      },
      async ({ head, entry, news }) => {
        for (const before of others) this.options.onNews(before);
        if (entry === null) return;
        this.#commit.committed(head);
        this.#news.note(entry);
        this.#at = { log: head.log + 1, seq: this.#source.seq };
        if (news !== undefined) this.options.onNews(await news());
      },
      prepare,
    );
    return value;
  }

  /** Records a batch by what is known without the head. */
  async #prepare(client: Client, batch: readonly Incoming[]): Promise<Prepared> {
    const from = { seq: this.#at.seq, key: PROVISIONAL_KEY };
    this.#source.begin(from.seq, from.key);
    await this.#source.fetchBatch(client, this.#recorder, batch);
    return { changes: this.#recorder.record(batch), from };
  }

  /** What a batch changes, now that the head is locked; what others committed before it goes to `before`. */
  async #settled(client: Client, head: Head, batch: readonly Incoming[], prepared: Prepared | null, before: News[]): Promise<Changes> {
    const { entries, gap } = head.log === this.#at.log ? NO_ENTRIES : await entriesAfter(client, this.#at.log);
    const from = this.#at.seq;
    const isCurrent = head.log === this.#at.log + entries.length && !gap;
    if (prepared === null || !isCurrent || (entries.length > 0 && (await concerns(client, entries, { batch, changes: prepared.changes, from, to: head.seq })))) return this.#again(client, head, batch);
    if (entries.length > 0) {
      await this.#follow(client, entries, from, head.seq);
      for (const entry of entries) this.#news.note(entry);
      before.push(await this.#news.logged(client, entries, from, head.seq));
    }
    renumber(prepared.changes, prepared.from, head);
    const { seq, key } = this.#source;
    this.#source.move(seq - prepared.from.seq + head.seq, key - prepared.from.key + head.key);
    return prepared.changes;
  }

  /** Records a batch by what is stored while the head is locked. */
  async #again(client: Client, head: Head, batch: readonly Incoming[]): Promise<Changes> {
    this.#recorder.forget();
    await this.#catchUp(client, head);
    this.#source.begin(head.seq, head.key);
    await this.#source.fetchBatch(client, this.#recorder, batch);
    return this.#recorder.record(batch);
  }

  /** The connection is new, or somebody else committed. */
  async #hear(client: Client, fresh: boolean): Promise<void> {
    const head = fresh ? await this.#commit.head(client, false) : null;
    if (head !== null && this.#at.log < 0) this.#at = { log: head.log, seq: head.seq };
    await this.#catchUp(client, head);
  }

  /** Takes in what others committed: memory of runs, and news of it. */
  async #catchUp(client: Client, head: Head | null): Promise<void> {
    if (head !== null && head.log === this.#at.log) return;
    const { entries, gap } = await entriesAfter(client, this.#at.log);
    const last = entries.at(-1);
    // Entries that are gone leave the head to go by.
    const to = last === undefined ? head : { log: last.id, seq: last.lastSeq };
    if (to === null || to.log <= this.#at.log) return;
    const from = this.#at.seq;
    if (gap || last === undefined) this.#recorder.forget();
    else await this.#follow(client, entries, from, to.seq);
    for (const entry of entries) this.#news.note(entry);
    const news = await this.#news.logged(client, entries, from, to.seq);
    this.#at = { log: to.log, seq: to.seq };
    this.options.onNews(news);
  }

  async #follow(client: Client, entries: readonly LoggedEntry[], from: number, to: number): Promise<void> {
    for (const entry of entries) for (const id of entry.gone) this.#recorder.drop(id);
    const ids = [...new Set(entries.flatMap((entry) => entry.runs))];
    const lacking = new Set(this.#recorder.lacks(ids).runs);
    const unsaid = new Set(entries.flatMap((entry) => (entry.early === undefined ? entry.runs : [])));
    for (const { runs: changed, gone, early = [] } of entries) {
      for (const id of gone) this.#recorder.noteEarly(id, false);
      for (const id of changed) if (lacking.has(id)) this.#recorder.noteEarly(id, early.includes(id));
    }
    // Runs that are not in memory are not read: what is to be known of them is in the entry.
    const runs = await runsById(client, ids.filter((id) => !lacking.has(id) || unsaid.has(id)));
    const events = new Map<number, EventRecord[]>(runs.filter((run) => !lacking.has(run.runId)).map((run) => [run.key, []]));
    for (const record of await eventsBetween(client, from, to, [...events.keys()])) events.get(record.root)?.push(record);
    for (const run of runs) this.#recorder.follow(run, (events.get(run.key) ?? []).map(recordedEvent));
  }

  async #endQuiet(client: Client, run: RunState, settleBeforeMs: number, staleBeforeMs: number): Promise<boolean> {
    const endedAt = (await lastAt(client, run.key)) ?? run.startedAt;
    if (run.touchedMs < settleBeforeMs && !run.rooted && run.calls.openCount === 0) {
      const failure = await topFailure(client, run);
      return endRun(run, failure !== null, endedAt, failure, true);
    }
    return run.touchedMs < staleBeforeMs && endRun(run, true, endedAt, "interrupted");
  }

  /** Takes runs and their sums out of every answer. */
  async #doom(client: Client, head: Head, runs: readonly RunRow[], eraseMs: number): Promise<Entry> {
    const entry = await doom(client, runs, eraseMs, (finish) => this.#commit.finish(client, head, finish));
    for (const run of runs) this.#recorder.drop(run.runId);
    return entry;
  }
}

function storableEvent(event: Incoming): Incoming {
  const text = (value: string | null): string | null => (value === null ? null : storable(value));
  const { summary, attributes } = detailsOf(event);
  return {
    ...event, packed: null, eventId: storable(event.eventId), runId: storable(event.runId), parentId: text(event.parentId), rootId: text(event.rootId), agent: text(event.agent),
    tool: text(event.tool), server: text(event.server), summary: storable(summary), payload: payloadOf(event), error: text(event.error), tags: event.tags?.map(storable) ?? null,
    session: text(event.session), user: text(event.user), model: text(event.model), graph: text(event.graph), attributes: text(attributes),
  };
}
