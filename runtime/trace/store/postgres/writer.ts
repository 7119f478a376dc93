/**
 * Writes to PostgreSQL: one transaction for each batch, recorded by `record/`. Every writer, in any process, locks the row of `head`
 * before it writes, so commits have one order: sequence numbers become visible in theirs. Batches are recorded before
 * that (`prepared.ts`); what memory holds of runs follows the commits of others.
 */
import { randomUUID } from "node:crypto";
import type { Incoming } from "../../model.js";
import { Recorder, type RecorderOptions } from "../../record/recorder.js";
import type { RunFacts, RunRow } from "../../record/run-state.js";
import { Tally, toolKey, toolKeyPrefix } from "../../record/tally.js";
import type { BatchOutcome, Interest, News, Retention } from "../store.js";
import { batchRows, packPayloads, storableEvent } from "./batch-rows.js";
import { Commit, type Head } from "./commit.js";
import { storable } from "./copy.js";
import { type Client, type DatabaseOptions, type Driver, withRetries } from "./driver.js";
import { beyond, doom, doomNested, DROP_WAIT_MS, dropEmpty, erase, hasDoomed, isStill, removalOf } from "./erasure.js";
import { followEntries } from "./follow.js";
import { type Entry, entriesAfter, ENTRY_LIFE_MS, entryOf, NOTHING } from "./journal.js";
import { Link } from "./link.js";
import { concerns, type Prepared, PROVISIONAL_KEY, type Recorded, renumber } from "./prepared.js";
import { endQuietRuns, hasQuiet } from "./quiet-runs.js";
import { holderOf, runById } from "./run-table.js";
import { FetchedSource } from "./source.js";
import { registerNodes } from "./sums.js";
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

const NO_ENTRIES = { entries: [], gap: false } as const;

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
    const packed = packPayloads(batch);
    this.#doubted = true;
    let prepared: Prepared | null = null;
    const { made, last } = await this.#locked(async (client, head, before) => {
      const { changes, rows } = await this.#settled(client, head, batch, packed, prepared, before);
      await this.#commit.rows(client, head, changes, rows);
      const entry = entryOf(changes);
      await this.#commit.finish(client, head, { runs: changes.runs, tally: changes.tally, entry, counters: rows.counters });
      return { value: { made: changes, last: this.#source.seq }, entry, news: () => this.#news.news(client, changes, packed) };
    }, async (client) => {
      prepared = await this.#prepare(client, batch, packed);
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
    if ((await this.#remove(async (client) => [await runById(client, runId)].filter((run) => run !== null), 0)) > 0) return true;
    return this.#locked(async (client, head) => {
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
      return { value: await registerNodes(client, entry.nodes, prefix), entry };
    });
  }

  async sweep(settleBeforeMs: number, staleBeforeMs: number): Promise<void> {
    const limits = { settleBeforeMs, staleBeforeMs };
    if (!(await this.#link.run((client) => hasQuiet(client, limits)))) return;
    await this.#locked(async (client, head) => {
      const ended = await endQuietRuns(client, this.#source, this.#recorder, limits);
      const runs = [...ended].map((run) => run.runId);
      const entry: Entry = { ...NOTHING, runs, ended: runs };
      if (ended.size > 0) await this.#commit.finish(client, head, { runs: ended, entry });
      const news = (): Promise<News> => Promise.resolve(this.#news.ended(ended));
      return ended.size === 0 ? { value: undefined, entry: null } : { value: undefined, entry, news };
    });
  }

  /** Deletes up to 20 of the oldest ended runs that are beyond a limit. */
  async retain(limits: Retention): Promise<number> {
    return this.#remove((client) => beyond(client, limits), this.options.now() + DROP_WAIT_MS);
  }

  /** Drops partitions of which no run is left. Returns how many. */
  async dropEmpty(): Promise<number> {
    if (!(await this.#link.run((client) => hasDoomed(client, Number.MAX_SAFE_INTEGER)))) return 0;
    return this.#link.transaction(dropEmpty);
  }

  /** Deletes up to `limit` steps of doomed runs, also of those that wait for their partition when `all`; false when nothing is left to do. */
  async erase(limit: number, all = false): Promise<boolean> {
    const nowMs = all ? Number.MAX_SAFE_INTEGER : this.options.now();
    if (!(await this.#link.run((client) => hasDoomed(client, nowMs)))) return false;
    return this.#link.transaction((client) => erase(client, limit, nowMs));
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
  #locked<T>(work: Work<T>, prepare?: (client: Client) => Promise<void>): Promise<T> {
    // What was recorded is not stored: memory follows the database.
    return withRetries(() => this.#lockedOnce(work, prepare), () => this.#recorder.forget());
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
  async #prepare(client: Client, batch: readonly Incoming[], packed: Packed): Promise<Prepared> {
    const from = { seq: this.#at.seq, key: PROVISIONAL_KEY };
    this.#source.begin(from.seq, from.key);
    await this.#source.fetchBatch(client, this.#recorder, batch);
    const changes = this.#recorder.record(batch);
    return { changes, rows: batchRows(changes, packed), from };
  }

  /** What a batch changes, now that the head is locked; what others committed before it goes to `before`. */
  async #settled(client: Client, head: Head, batch: readonly Incoming[], packed: Packed, prepared: Prepared | null, before: News[]): Promise<Recorded> {
    const { entries, gap } = head.log === this.#at.log ? NO_ENTRIES : await entriesAfter(client, this.#at.log);
    const from = this.#at.seq;
    const isCurrent = head.log === this.#at.log + entries.length && !gap;
    if (prepared === null || !isCurrent || (entries.length > 0 && (await concerns(client, entries, { batch, changes: prepared.changes, from, to: head.seq })))) return this.#again(client, head, batch, packed);
    if (entries.length > 0) {
      await followEntries(client, this.#recorder, entries, from, head.seq);
      for (const entry of entries) this.#news.note(entry);
      before.push(await this.#news.logged(client, entries, from, head.seq));
    }
    renumber(prepared, head);
    const { seq, key } = this.#source;
    this.#source.move(seq - prepared.from.seq + head.seq, key - prepared.from.key + head.key);
    return prepared;
  }

  /** Records a batch by what is stored while the head is locked. */
  async #again(client: Client, head: Head, batch: readonly Incoming[], packed: Packed): Promise<Recorded> {
    this.#recorder.forget();
    await this.#catchUp(client, head);
    this.#source.begin(head.seq, head.key);
    await this.#source.fetchBatch(client, this.#recorder, batch);
    const changes = this.#recorder.record(batch);
    return { changes, rows: batchRows(changes, packed) };
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
    else await followEntries(client, this.#recorder, entries, from, to.seq);
    for (const entry of entries) this.#news.note(entry);
    const news = await this.#news.logged(client, entries, from, to.seq);
    this.#at = { log: to.log, seq: to.seq };
    this.options.onNews(news);
  }

  /** Takes runs and their sums out of every answer. Returns how many. Nobody is kept from writing while their steps are read. */
  async #remove(find: (client: Client) => Promise<RunRow[]>, eraseMs: number): Promise<number> {
    const read = await this.#link.run(async (client) => {
      const runs = await find(client);
      return runs.length === 0 ? null : removalOf(client, runs);
    });
    if (read === null) return 0;
    return this.#locked(async (client, head) => {
      const runs = await find(client);
      if (runs.length === 0) return { value: 0, entry: null };
      const removal = isStill(read, runs) ? read : await removalOf(client, runs);
      const entry = await doom(client, removal, eraseMs, (finish) => this.#commit.finish(client, head, finish));
      for (const run of runs) this.#recorder.drop(run.runId);
      return { value: runs.length, entry };
    });
  }
}
