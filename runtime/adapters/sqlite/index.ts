/**
 * Backend `sqlite`: the embedded store, one file, better-sqlite3 with sqlite-vec. Opened read-only: nothing here can
 * write; `toolsrv load` has a writer of its own. Searches are exact: they compare every record the filter selects.
 */
import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { BackendError } from "../../abi/errors.js";
import { compareText, type Row } from "../../abi/filter.js";
import type { Adapter, AdapterModule, RowSet, SearchRequest } from "../adapter.js";
import { isBusy, sqliteError } from "../errors.js";
import { type Collection, Collections } from "./catalog.js";
import { openDatabase, Statements } from "./database.js";
import { tableName } from "./layout.js";
import { countSql, denseSql, fetchSql, recordsSql, type Slice, type Statement, wordsSql } from "./sql.js";

/** Records compared in one statement; between two, other work of the process gets its turn and the deadline is seen. */
const SLICE_ROWS = 32_768;

/** Constant of reciprocal rank fusion, as in the paper and most stores. */
const RRF_K = 60;

/** Smallest number of candidates that each half of a hybrid search gives. */
const MIN_CANDIDATES = 100;

/** Waits between tries while another process holds the lock. */
const BUSY_WAITS_MS = [25, 50, 100, 200, 400, 800];

interface Found {
  readonly row: number;
  readonly id: string;
  readonly score: number;
}

class SqliteAdapter implements Adapter {
  readonly #db: Awaited<ReturnType<typeof openDatabase>>;
  readonly #name: string;
  readonly #statements: Statements;
  readonly #collections: Collections;

  constructor(db: Awaited<ReturnType<typeof openDatabase>>, name: string) {
    this.#db = db;
    this.#name = name;
    this.#statements = new Statements(db);
    this.#collections = new Collections(this.#statements, name);
  }

  health(signal: AbortSignal): Promise<void> {
    return this.#run(signal, () => void this.#collections.names());
  }

  collections(signal: AbortSignal): Promise<readonly string[]> {
    return this.#run(signal, () => this.#collections.names());
  }

  describe(collection: string, signal: AbortSignal): ReturnType<Adapter["describe"]> {
    return this.#run(signal, () => {
      const found = this.#collections.find(collection);
      return found === null ? null : this.#collections.describe(found);
    });
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    const first = await this.#run(signal, () => {
      const collection = this.#collections.get(request.collection);
      checkVector(request, collection);
      const last = this.#lastRow(collection.name);
      return last > SLICE_ROWS ? { collection, last } : this.#rank(request, collection, this.#dense(request, collection));
    });
    if ("rows" in first) return first;
    const dense = await this.#denseInSlices(request, first.collection, first.last, signal);
    return this.#run(signal, () => this.#rank(request, first.collection, dense));
  }

  fetch(request: Parameters<Adapter["fetch"]>[0], signal: AbortSignal): Promise<RowSet> {
    return this.#run(signal, () => {
      const { paths } = this.#collections.get(request.collection);
      const rows = this.#all(fetchSql(request, paths)) as { id: string; record: string }[];
      return { rows: rows.map(({ id, record }) => toRow(record, id)), exact: true };
    });
  }

  count(collection: string, filter: Parameters<Adapter["count"]>[1], signal: AbortSignal): Promise<number> {
    return this.#run(signal, () => {
      const { paths } = this.#collections.get(collection);
      const [row] = this.#all(countSql(collection, filter, paths)) as { n: number }[];
      return row?.n ?? 0;
    });
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null }, signal)).rows;
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #lastRow(collection: string): number {
    return (this.#statements.get(`SELECT max("@row") FROM ${tableName(collection, "vectors")}`).pluck().get() as number | null) ?? 0;
  }

  /** The ranking by vector: of the whole collection, or of one slice of it. */
  #dense({ vector, filter, mode, limit }: SearchRequest, { name, paths }: Collection, slice: Slice | null = null): readonly Found[] {
    if (vector === null) return [];
    return this.#all(denseSql(name, vector, filter, mode === "hybrid" ? candidatesFor(limit) : limit, paths, slice)) as Found[];
  }

  async #denseInSlices(request: SearchRequest, collection: Collection, last: number, signal: AbortSignal): Promise<readonly Found[]> {
    let best: readonly Found[] = [];
    const keep = request.mode === "hybrid" ? candidatesFor(request.limit) : request.limit;
    for (let from = 0; from < last; from += SLICE_ROWS) {
      const found = await this.#run(signal, () => this.#dense(request, collection, { from, to: from + SLICE_ROWS }));
      best = [...best, ...found].sort(byScore).slice(0, keep);
      await new Promise((resume) => setImmediate(resume));
    }
    return best;
  }

  /** The found records: those of the vector ranking, fused with the ranking by words in hybrid mode. */
  #rank(request: SearchRequest, { name, paths }: Collection, dense: readonly Found[]): RowSet {
    if (request.mode === "dense") return { rows: dense.map((one) => this.#record(name, one)), exact: true };
    const statement = request.text === null ? null : wordsSql(name, request.text, request.filter, candidatesFor(request.limit), paths);
    const words = statement === null ? [] : (this.#all(statement) as Found[]);
    const fused = fuse([[dense, request.alpha], [words, 1 - request.alpha]]).slice(0, request.limit);
    return { rows: fused.map((one) => this.#record(name, one)), exact: true };
  }

  #record(collection: string, { row, id, score }: Found): Row {
    const record = this.#statements.get(recordsSql(collection)).pluck().get(row) as string | undefined;
    const found = toRow(record ?? "{}", id);
    found["_score"] = roundScore(score);
    return found;
  }

  #all({ sql, params }: Statement): unknown[] {
    return this.#statements.get(sql).all(...params.map((param) => (param instanceof Float32Array ? vectorBytes(param) : param)));
  }

  /** Runs a synchronous piece of work in one read transaction, again while another process holds the file's lock. */
  async #run<T>(signal: AbortSignal, work: () => T): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted();
      try {
        // One lock for all statements of the work, and one state of the file.
        this.#statements.get("BEGIN").run();
        try {
          return work();
        } finally {
          if (this.#db.inTransaction) this.#statements.get("COMMIT").run();
        }
      } catch (error) {
        const waitMs = BUSY_WAITS_MS[attempt];
        if (!isBusy(error) || waitMs === undefined) throw sqliteError(error, this.#name);
        await wait(waitMs, undefined, { signal });
      }
    }
  }
}

/** How many candidates each half of a hybrid search gives. */
function candidatesFor(limit: number): number {
  return Math.max(MIN_CANDIDATES, 2 * limit);
}

/** Reciprocal rank fusion; a record that is first in every ranking scores 1. */
function fuse(rankings: readonly (readonly [ranking: readonly Found[], weight: number])[]): readonly Found[] {
  const fused = new Map<number, Found>();
  for (const [ranking, weight] of rankings) {
    for (const [rank, { row, id }] of ranking.entries()) {
      const score = (fused.get(row)?.score ?? 0) + (weight * (RRF_K + 1)) / (RRF_K + 1 + rank);
      fused.set(row, { row, id, score });
    }
  }
  return [...fused.values()].sort(byScore);
}

/** Vectors of another model have no common meaning, even where their lengths agree. */
function checkVector({ vector, embeddedBy }: SearchRequest, collection: Collection): void {
  if (vector === null) return;
  const other = embeddedBy !== undefined && embeddedBy !== collection.embeddedBy;
  if (!other && vector.length === collection.dims) return;
  throw new BackendError(
    "unsupported", "sqlite",
    `collection '${collection.name}' was embedded by ${collection.embeddedBy} (${collection.dims} dimensions), the query by ${embeddedBy ?? "another model"} (${vector.length}); load it again with --replace`,
  );
}

function toRow(record: string, id: string): Row {
  const row = JSON.parse(record) as Row;
  row["_id"] = id;
  return row;
}

function byScore(a: Found, b: Found): number {
  return b.score - a.score || compareText(a.id, b.id);
}

/** Six digits: what is behind them is noise of 32-bit arithmetic. */
function roundScore(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}

function vectorBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** Vectors are shown by their length only. */
function shown({ sql, params }: Statement): { readonly sql: string; readonly params: readonly (string | number)[] } {
  return { sql, params: params.map((param) => (param instanceof Float32Array ? `<vector of ${param.length}>` : param)) };
}

export const adapter: AdapterModule = {
  backend: "sqlite",
  async open(settings, { base }) {
    const path = settings["path"];
    if (typeof path !== "string" || path === "") throw new BackendError("unsupported", "sqlite", "the connection has no path");
    return new SqliteAdapter(await openDatabase(resolve(base, path), path), path);
  },
  explain(request) {
    if ("fetch" in request) return shown(fetchSql(request.fetch, null));
    if ("count" in request) return shown(countSql(request.count.collection, request.count.filter, null));
    const { collection, vector, text, mode, filter, limit } = request.search;
    const dense = vector === null ? null : shown(denseSql(collection, vector, filter, limit, null));
    if (mode === "dense" || text === null) return dense;
    const words = wordsSql(collection, text, filter, limit, null);
    return { dense, words: words === null ? null : shown(words) };
  },
};
