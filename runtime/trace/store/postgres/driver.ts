/**
 * Connections to PostgreSQL through the client library, which is optional: it is loaded when the setting names this
 * store. Errors are classified here: what will pass (the batch can wait), a full disk, and everything else.
 */
import type Pg from "pg";
import type CopyStreams from "pg-copy-streams";
import { StorageFullError, StoreOpenError, StoreUnavailableError } from "../store.js";

export interface DatabaseOptions {
  /** postgresql://… as the client library takes it; a secret. */
  readonly url: string;
  /** Tables live in this schema: one for each set of traces. */
  readonly schema: string;
}

export type Client = Pg.Client;
export type Rows = Pg.QueryResultRow;

export interface Driver {
  /** A connection that is open and set up. @throws Error of the client library */
  connect(application: string): Promise<Client>;
  /** Up to `size` connections, opened as they are needed. */
  pool(application: string, size: number): Pg.Pool;
  /** Sends rows in the binary format of COPY. */
  copy(client: Client, sql: string, rows: Buffer): Promise<void>;
}

const PACKAGES = "npm i pg pg-copy-streams";
const CONNECT_MS = 5_000;
const STATEMENT_MS = 60_000;
/** Tries of a transaction that others are in the way of. */
const MAX_ATTEMPTS = 4;
const BIGINT = 20;
const NUMERIC = 1700;

/** Loads the client library, by `find`. @throws StoreOpenError when it is not installed. */
export async function loadDriver({ url, schema }: DatabaseOptions, find: (name: string) => Promise<unknown> = (name) => import(name)): Promise<Driver> {
  const pg = (await load("pg", find)) as { readonly default: typeof Pg };
  const streams = (await load("pg-copy-streams", find)) as { readonly default: typeof CopyStreams };
  const { Client, Pool, types } = pg.default;
  // Sequence numbers, times and sums stay below 2^53.
  const parsers = { getTypeParser: ((oid: number, format?: "text") => (oid === BIGINT || oid === NUMERIC ? Number : types.getTypeParser(oid, format))) as typeof types.getTypeParser };
  const config = (application: string): Pg.ClientConfig => ({
    connectionString: url, types: parsers, application_name: application, connectionTimeoutMillis: CONNECT_MS, keepAlive: true, query_timeout: STATEMENT_MS + CONNECT_MS,
  });
  // A process that stops answering in the middle of a batch must not keep the others waiting for long.
  const setUp = `SET search_path TO ${quoted(schema)}; SET statement_timeout = ${STATEMENT_MS}; SET idle_in_transaction_session_timeout = 20000; SET jit = off`;
  return {
    async connect(application) {
      const client = new Client(config(application));
      // Without a listener an error of an idle connection would end the process.
      client.on("error", () => undefined);
      await client.connect();
      await client.query(setUp);
      return client;
    },
    pool(application, size) {
      const onConnect = async (client: Pg.ClientBase): Promise<void> => void (await client.query(setUp));
      const pool = new Pool({ ...config(application), max: size, idleTimeoutMillis: 60_000, onConnect: onConnect as (client: Pg.ClientBase) => void });
      pool.on("error", () => undefined);
      return pool;
    },
    copy: (client, sql, rows) =>
      new Promise((resolve, reject) => {
        const stream = client.query(streams.default.from(sql));
        stream.on("error", reject);
        stream.on("finish", resolve);
        stream.end(rows);
      }),
  };
}

async function load(name: "pg" | "pg-copy-streams", find: (name: string) => Promise<unknown>): Promise<unknown> {
  try {
    return await find(name);
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    throw new StoreOpenError(missing ? `the store postgres needs the package ${name}; install it with: ${PACKAGES}` : `the package ${name} can't be loaded: ${messageOf(error)}`);
  }
}

/** Host, port, database and schema of a URL that the settings accepted, for a person. */
export function placeOf({ url, schema }: DatabaseOptions): string {
  const parsed = new URL(url);
  const host = parsed.searchParams.get("host") ?? decodeURIComponent(parsed.hostname);
  const at = host.startsWith("/") ? host : `${host === "" ? "localhost" : host}:${parsed.port === "" ? "5432" : parsed.port}`;
  return `postgres ${at}${host.startsWith("/") ? " " : "/"}${decodeURIComponent(parsed.pathname.slice(1))}, schema ${schema}`;
}

/** An identifier in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Conditions that pass: connections lost or refused, shutdowns, timeouts, conflicts, a server that only reads for now. */
const PASSING = /^(08...|28...|3D000|57P0[1-5]|57014|53300|53400|25006|25P03|40001|40P01|55P03|55006)$/;
const FULL = /^(53100|53200)$/;

/** Codes of Node, and messages of the client library, about a connection. */
const CONNECTION_CODE = /^E[A-Z]+$/;
const CONNECTION_LOST = /^(connection terminated|timeout|query read timeout|client (was closed|has encountered))/i;

/** An error of the database in the words of the store. */
export function storeError(error: unknown): Error {
  if (error instanceof StoreUnavailableError || error instanceof StorageFullError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (FULL.test(code)) return new StorageFullError("the database has no room", { cause: error });
  if (PASSING.test(code) || CONNECTION_CODE.test(code) || CONNECTION_LOST.test(messageOf(error))) return new StoreUnavailableError(`the database does not answer: ${messageOf(error)}`, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

/** Whether the database gave up a transaction because of another one: the same work can be done again at once. */
export function isConflict(error: unknown): boolean {
  const cause = error instanceof StoreUnavailableError ? error.cause : error;
  return cause instanceof Error && "code" in cause && /^40(001|P01)$/.test(String(cause.code));
}

/** Does a transaction again that the database gave up because of another one; `failed` is called after every failure. */
export async function withRetries<T>(transaction: () => Promise<T>, failed: () => void): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction();
    } catch (error) {
      failed();
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

export function messageOf(error: unknown): string {
  // Node tells of several addresses that were tried in an error without a message.
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return (first instanceof Error ? first.message : String(first)).split("\n", 1)[0] ?? "";
}
