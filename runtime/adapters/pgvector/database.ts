/**
 * Runs statements on a PostgreSQL server: one pool for a connection of the catalog, sessions that can only read,
 * prepared statements, and a cancelled query for a call that ended.
 */
import { createHash } from "node:crypto";
import type Pg from "pg";
import type { Address } from "./dsn.js";
import { isStale, pgError } from "./errors.js";
import { SEARCH_SQL, SESSION_SQL } from "./session.js";
import type { Statement } from "./sql.js";

/** A store of PostgreSQL's SQL. */
export interface Database {
  /** The rows of a statement. @throws BackendError; the signal's reason when it aborts */
  run(statement: Statement, signal: AbortSignal): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;
const SETUP_MS = 5_000;
const MAX_CONNECTIONS = 10;
const IDLE_MS = 60_000;
/** Texts that are prepared in each session; more would fill the server's memory. */
const MAX_PREPARED = 200;

export class Server implements Database {
  readonly #pg: typeof Pg;
  readonly #config: Pg.ClientConfig;
  readonly #pool: Pg.Pool;
  readonly #names = new Map<string, string>();
  readonly #pids = new WeakMap<Pg.ClientBase, number>();

  /** Connects to nothing yet. */
  constructor(pg: typeof Pg, address: Address) {
    this.#pg = pg;
    this.#config = { ...address, application_name: "toolsrv", connectionTimeoutMillis: CONNECT_MS, keepAlive: true };
    this.#pool = new pg.Pool({ ...this.#config, max: MAX_CONNECTIONS, idleTimeoutMillis: IDLE_MS, onConnect: ((client: Pg.ClientBase) => this.#setUp(client)) as (client: Pg.ClientBase) => void });
    // An idle connection that breaks is dropped by the pool; without a listener it would end the process.
    this.#pool.on("error", () => undefined);
  }

  async run({ sql, params }: Statement, signal: AbortSignal): Promise<readonly Record<string, unknown>[]> {
    const values = params.map(toParam);
    const named = { ...this.#named(sql), text: sql, values };
    try {
      return await this.#query(named, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isStale(error) || named.name === undefined) throw pgError(error);
    }
    // The table has changed under its prepared statement; from now on this text is not prepared.
    this.#names.set(sql, "");
    return this.#query({ text: sql, values }, signal).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : pgError(error);
    });
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #query(config: Pg.QueryConfig, signal: AbortSignal): Promise<readonly Record<string, unknown>[]> {
    const client = await this.#lend(signal);
    return new Promise((resolve, reject) => {
      let over = false;
      const abort = (): void => {
        over = true;
        this.#cancel(client);
        client.release(true);
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", abort, { once: true });
      // An error of the socket reaches the query as well; without a listener it would end the process.
      client.on("error", ignore);
      client.query<Record<string, unknown>>(config).then(
        ({ rows }) => {
          if (over) return;
          signal.removeEventListener("abort", abort);
          client.off("error", ignore);
          client.release();
          resolve(rows);
        },
        (error: unknown) => {
          if (over) return;
          signal.removeEventListener("abort", abort);
          client.off("error", ignore);
          client.release(hasState(error) ? undefined : true);
          reject(error as Error);
        },
      );
    });
  }

  /** A session, or the signal's reason as soon as it aborts; a session that comes too late goes back. */
  #lend(signal: AbortSignal): Promise<Pg.PoolClient> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      let over = false;
      const abort = (): void => {
        over = true;
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#pool.connect().then(
        (client) => {
          signal.removeEventListener("abort", abort);
          if (over) client.release();
          else resolve(client);
        },
        (error: unknown) => {
          signal.removeEventListener("abort", abort);
          if (!over) reject(error as Error);
        },
      );
    });
  }

  async #setUp(client: Pg.ClientBase): Promise<void> {
    const { rows } = await client.query<{ pid: number }>(bounded("SELECT pg_backend_pid() AS pid"));
    this.#pids.set(client, rows[0]?.pid ?? 0);
    await client.query(bounded(SESSION_SQL));
    // What an older server or extension lacks, it lacks: the adapter does not count on it.
    for (const sql of SEARCH_SQL) await client.query(bounded(sql)).catch((error: unknown) => (hasState(error) ? undefined : Promise.reject(error as Error)));
  }

  /** Asks the server to stop the session's query; its connection is closed in any case, so nothing waits for this. */
  #cancel(client: Pg.PoolClient): void {
    const pid = this.#pids.get(client);
    if (pid === undefined) return;
    const messenger = new this.#pg.Client(this.#config);
    messenger.on("error", ignore);
    const stop = async (): Promise<void> => {
      await messenger.connect();
      await messenger.query({ ...bounded("SELECT pg_cancel_backend($1)"), values: [pid] });
    };
    stop().catch(ignore).finally(() => void messenger.end().catch(ignore));
  }

  /** The name under which a text is prepared; none for texts beyond the bound. */
  #named(sql: string): { readonly name?: string } {
    let name = this.#names.get(sql);
    if (name === undefined && this.#names.size < MAX_PREPARED) {
      name = `toolsrv_${createHash("sha256").update(sql).digest("base64url").slice(0, 22)}`;
      this.#names.set(sql, name);
    }
    return name === undefined || name === "" ? {} : { name };
  }
}

function bounded(text: string): Pg.QueryConfig {
  return { text, query_timeout: SETUP_MS } as Pg.QueryConfig;
}

/** Whether the server itself reported the error, so that the session is still in order. */
function hasState(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) && "severity" in error && error.severity === "ERROR";
}

function ignore(): void {
  // Reported elsewhere, or of no consequence.
}

/** Vectors as pgvector reads them. */
export function toParam(param: Statement["params"][number]): unknown {
  return param instanceof Float32Array ? `[${param.join(",")}]` : param;
}
