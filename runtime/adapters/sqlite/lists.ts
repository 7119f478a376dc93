/**
 * Lists and counts: on the event loop while they are short, else in a thread. Which one a statement is depends on the
 * values: a tenant may have three rows or a million. So each starts on the event loop, which is quickest for what an
 * index answers, and is ended there when its time is over.
 */
import { performance } from "node:perf_hooks";
import type { ListRequest } from "./queries.js";
import { type ListAnswer, listSql, readList } from "./reads.js";
import type { SearchPool } from "./search-pool.js";
import type { Session } from "./session.js";
import type { Statement } from "./sql.js";

/** Milliseconds of the event loop that one list or count may take. */
const ON_LOOP_MS = 4;
/** Looks at the clock before a statement can be too long: some 2,000 rows. A process that waits for a core is not a long statement. */
const MIN_TURNS = 8;
/** Statements that are known to be long; the set is emptied when it is full. */
const MAX_LONG = 200;

/** Ends a statement whose time is over. */
const TOO_LONG = Symbol("too long");

/** What runs longer than the event loop should wait. */
export type LongReads = Pick<SearchPool, "list">;

export class Lists {
  readonly #session: Session;
  readonly #threads: LongReads;
  readonly #nowMs: () => number;
  /** Texts of statements that took too long the last time: they start in a thread. */
  readonly #long = new Set<string>();

  constructor(session: Session, threads: LongReads, nowMs: () => number = () => performance.now()) {
    this.#session = session;
    this.#threads = threads;
    this.#nowMs = nowMs;
  }

  /** The answer of one read transaction. @throws BackendError; the signal's reason when it aborts. */
  async read(request: ListRequest, signal: AbortSignal): Promise<ListAnswer> {
    let sql = "";
    const answer = await this.#session.run(signal, () => {
      const statement = listSql(this.#session, request);
      sql = statement.sql;
      return this.#long.has(sql) ? null : this.#tryNow(statement);
    });
    if (answer !== null) return answer;
    if (this.#long.size >= MAX_LONG) this.#long.clear();
    this.#long.add(sql);
    const late = await this.#threads.list(request, signal);
    if (late.tookMs < ON_LOOP_MS / 2) this.#long.delete(sql);
    return late.answer;
  }

  /** `null` when the time was over. */
  #tryNow(statement: Statement): ListAnswer | null {
    const endMs = this.#nowMs() + ON_LOOP_MS;
    let turns = 0;
    const onTurn = (): void => {
      if (++turns >= MIN_TURNS && this.#nowMs() > endMs) throw TOO_LONG;
    };
    try {
      return this.#session.watched(onTurn, () => readList(this.#session, statement));
    } catch (error) {
      if (error === TOO_LONG) return null;
      throw error;
    }
  }
}
