/** One connection to the database file, with what is kept for it: prepared statements and the known collections. */
import { setTimeout as wait } from "node:timers/promises";
import { isBusy, isUnfinished, sqliteError } from "./errors.js";
import { Collections } from "./catalog.js";
import { type Connection, openDatabase, type Place, rollBack, Statements } from "./database.js";
import { FUNCTIONS } from "./filter.js";
import { Pool } from "./pool.js";
import type { Statement } from "./sql.js";

/** Delays between attempts while another process has the lock. */
const BUSY_WAITS_MS = [25, 50, 100, 200, 400, 800];

/** Sessions that may keep a snapshot open at the same time; further searches wait for one of them. */
const MAX_SNAPSHOTS = 4;

export class Session {
  readonly statements: Statements;
  readonly collections: Collections;
  /** The command that fills the file anew. */
  readonly load: string;
  readonly #db: Connection;
  readonly #place: Place;
  /** Called while a statement runs; it ends the statement by throwing. */
  #onTurn: (() => void) | null = null;

  private constructor(db: Connection, place: Place) {
    this.#db = db;
    this.#place = place;
    this.load = place.load;
    this.statements = new Statements(db);
    this.collections = new Collections(this.statements);
    db.function(FUNCTIONS.turn, (_row: unknown) => {
      this.#onTurn?.();
      return 1;
    });
  }

  /** @throws BackendError as openDatabase */
  static async open(place: Place): Promise<Session> {
    return new Session(await openDatabase(place), place);
  }

  /** Runs a statement to its end. */
  all({ sql, params }: Statement): unknown[] {
    return this.statements.get(sql).all(...bound(params));
  }

  /** The JSON in the only column of a statement's only row. */
  json({ sql, params }: Statement): unknown {
    return JSON.parse(this.statements.get(sql).pluck().get(...bound(params)) as string);
  }

  /** Runs a statement record by record; nothing else can run in this session until the last one, or `return`. */
  each<T>({ sql, params }: Statement): IterableIterator<T> {
    return this.statements.get(sql).iterate(...params) as IterableIterator<T>;
  }

  /**
   * Runs work whose statements call `onTurn` now and then; what it throws ends the statement and is thrown here.
   * Only conditions that have TURN in them are asked.
   */
  watched<T>(onTurn: () => void, work: () => T): T {
    this.#onTurn = onTurn;
    try {
      return work();
    } finally {
      this.#onTurn = null;
    }
  }

  /** Runs synchronous work in one read transaction, so that all its statements see one state of the file. */
  run<T>(signal: AbortSignal, work: () => T): Promise<T> {
    return this.#retry(signal, () => {
      this.statements.get("BEGIN").run();
      try {
        return work();
      } finally {
        this.end();
      }
    });
  }

  /**
   * Starts a read transaction with `first` and leaves it open for `next`, over several turns of the event loop. Only
   * for a session that nothing else uses meanwhile. The caller must call `end` unless this throws.
   */
  begin<T>(signal: AbortSignal, first: () => T): Promise<T> {
    return this.#retry(signal, () => {
      this.statements.get("BEGIN").run();
      try {
        return first();
      } catch (error) {
        this.end();
        throw error;
      }
    });
  }

  /** More work in the transaction that `begin` opened. */
  next<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw sqliteError(error, this.#place.name);
    }
  }

  /** Ends the transaction, if one is open. */
  end(): void {
    if (this.#db.inTransaction) this.statements.get("COMMIT").run();
  }

  get isUsable(): boolean {
    return this.#db.open;
  }

  close(): void {
    this.#db.close();
  }

  /** Retries while another process has the file's lock, and once when a killed load has left its transaction. */
  async #retry<T>(signal: AbortSignal, work: () => T): Promise<T> {
    let isRolledBack = false;
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted();
      try {
        return work();
      } catch (error) {
        if (!isRolledBack && isUnfinished(error) && rollBack(this.#place)) {
          isRolledBack = true;
          continue;
        }
        const waitMs = BUSY_WAITS_MS[attempt];
        if (!isBusy(error) || waitMs === undefined) throw sqliteError(error, this.#place.name);
        await wait(waitMs, undefined, { signal });
      }
    }
  }
}

/**
 * Sessions for work that lasts over several turns of the event loop: each is used by one caller at a time, because a
 * connection has one transaction.
 */
export class SnapshotPool {
  readonly #sessions: Pool<Session>;

  constructor(place: Place) {
    this.#sessions = new Pool(MAX_SNAPSHOTS, () => Session.open(place));
  }

  /** Gives `work` a session and ends its transaction; waits, until `signal` aborts, while all are in use. */
  use<T>(signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
    return this.#sessions.use(signal, async (session) => {
      try {
        return await work(session);
      } finally {
        session.end();
      }
    });
  }

  close(): void {
    this.#sessions.close();
  }
}

/** Parameters as SQLite takes them. */
function bound(params: Statement["params"]): readonly (string | number | Buffer)[] {
  return params.map((param) => (param instanceof Float32Array ? Buffer.from(param.buffer, param.byteOffset, param.byteLength) : param));
}
