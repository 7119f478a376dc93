/**
 * Backend `sqlite`: the embedded store, one file, better-sqlite3 with sqlite-vec. Opened read-only: nothing here can
 * write; `toolsrv load` has a writer of its own. Searches are exact: they compare every record the filter selects.
 */
import { resolve } from "node:path";
import { BackendError } from "../../abi/errors.js";
import { compareText, type Filter, type Row } from "../../abi/filter.js";
import type { Adapter, AdapterModule, Route, RowSet, SearchRequest } from "../adapter.js";
import { refuseRoute } from "../reduce.js";
import type { Collection } from "./catalog.js";
import { loadCommand } from "./database.js";
import { tableName } from "./layout.js";
import { Session, SnapshotPool } from "./session.js";
import { comparesTexts } from "./filter.js";
import { scanRows } from "./scan.js";
import { countSql, denseSql, fetchSql, recordsSql, type SelectedRows, type Slice, type Statement, wordsSql } from "./sql.js";

/**
 * Vector components compared in one statement: some 20 ms of work. Between two statements other tasks of the process
 * run and the deadline is checked.
 */
const SLICE_COMPONENTS = 32_768 * 256;
const MIN_SLICE_ROWS = 1024;
const MAX_SLICE_ROWS = 32_768;

/** Constant of reciprocal rank fusion, as in the paper and most stores. */
const RRF_K = 60;

/** Smallest number of candidates that each half of a hybrid search gives. */
const MIN_CANDIDATES = 100;

interface Found {
  readonly row: number;
  readonly id: string;
  readonly score: number;
}

/** A search whose filter may be evaluated already. */
type Selection = Omit<SearchRequest, "filter"> & { readonly filter: Filter | SelectedRows | null };

class SqliteAdapter implements Adapter {
  /** For work that one turn of the event loop does. */
  readonly #main: Session;
  /** For searches that take several turns. */
  readonly #snapshots: SnapshotPool;

  constructor(main: Session, snapshots: SnapshotPool) {
    this.#main = main;
    this.#snapshots = snapshots;
  }

  health(signal: AbortSignal): Promise<void> {
    return this.#main.run(signal, () => void this.#main.collections.names());
  }

  collections(signal: AbortSignal): Promise<readonly string[]> {
    return this.#main.run(signal, () => this.#main.collections.names());
  }

  describe(collection: string, signal: AbortSignal): ReturnType<Adapter["describe"]> {
    return this.#main.run(signal, () => {
      const found = this.#main.collections.find(collection);
      return found === null ? null : this.#main.collections.describe(found);
    });
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseRoute("sqlite", request.route);
    if (request.filter !== null && comparesTexts(request.filter)) return this.#snapshots.use(signal, (session) => searchInSlices(session, request, signal));
    const rows = await this.#main.run(signal, () => {
      const collection = this.#main.collections.get(request.collection);
      checkVector(request, collection);
      const last = lastRow(this.#main, collection);
      return last > sliceRows(collection) ? null : rank(this.#main, request, collection, dense(this.#main, request, collection));
    });
    return rows ?? this.#snapshots.use(signal, (session) => searchInSlices(session, request, signal));
  }

  async fetch(request: Parameters<Adapter["fetch"]>[0], signal: AbortSignal): Promise<RowSet> {
    refuseRoute("sqlite", request.route);
    const { filter } = request;
    const read = (session: Session, { paths }: Collection, filter: Filter | SelectedRows | null): RowSet => {
      const rows = session.all(fetchSql({ ...request, filter }, paths)) as { id: string; record: string }[];
      return { rows: rows.map(({ id, record }) => toRow(record, id)), exact: true };
    };
    if (filter === null || !comparesTexts(filter)) return this.#main.run(signal, () => read(this.#main, this.#main.collections.get(request.collection), filter));
    return this.#snapshots.use(signal, async (session) => {
      const collection = await session.begin(signal, () => session.collections.get(request.collection));
      const selected = await scanRows(session, collection, filter, signal);
      return session.next(() => read(session, collection, selected));
    });
  }

  async count(collection: string, filter: Parameters<Adapter["count"]>[1], signal: AbortSignal, route?: Route): Promise<number> {
    refuseRoute("sqlite", route);
    if (filter !== null && comparesTexts(filter)) {
      return this.#snapshots.use(signal, async (session) => {
        const found = await session.begin(signal, () => session.collections.get(collection));
        return (await scanRows(session, found, filter, signal)).rows.length;
      });
    }
    return this.#main.run(signal, () => {
      const { paths } = this.#main.collections.get(collection);
      const [row] = this.#main.all(countSql(collection, filter, paths)) as { n: number }[];
      return row?.n ?? 0;
    });
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null }, signal)).rows;
  }

  async close(): Promise<void> {
    this.#main.close();
    this.#snapshots.close();
  }
}

/**
 * A search over several turns of the event loop in one read transaction: every slice, the ranking by words and the
 * records themselves are read from one state of the file. Row numbers are meaningless in another state: after `load
 * --replace` the same number is another record, which the filter never saw.
 */
async function searchInSlices(session: Session, request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
  const { collection, last } = await session.begin(signal, () => {
    const collection = session.collections.get(request.collection);
    checkVector(request, collection);
    return { collection, last: lastRow(session, collection) };
  });
  const rows = sliceRows(collection);
  const { filter } = request;
  const selected = filter !== null && comparesTexts(filter) ? await scanRows(session, collection, filter, signal) : null;
  const keep = request.mode === "hybrid" ? candidatesFor(request.limit) : request.limit;
  let best: readonly Found[] = [];
  for (let from = 0; from < last; from += rows) {
    const slice = { from, to: from + rows };
    const within = selected === null ? filter : { rows: selected.rows.filter((row) => row > slice.from && row <= slice.to) };
    const found = session.next(() => dense(session, { ...request, filter: within }, collection, slice));
    best = [...best, ...found].sort(byScore).slice(0, keep);
    await new Promise((resume) => setImmediate(resume));
    signal.throwIfAborted();
  }
  return session.next(() => rank(session, { ...request, filter: selected ?? filter }, collection, best));
}

function sliceRows({ dims }: Collection): number {
  return Math.min(MAX_SLICE_ROWS, Math.max(MIN_SLICE_ROWS, Math.floor(SLICE_COMPONENTS / dims)));
}

function lastRow({ statements }: Session, { name }: Collection): number {
  return (statements.get(`SELECT max("@row") FROM ${tableName(name, "vectors")}`).pluck().get() as number | null) ?? 0;
}

/** The ranking by vector: of the whole collection, or of one slice of it. */
function dense(session: Session, { vector, filter, mode, limit }: Selection, { name, paths }: Collection, slice: Slice | null = null): readonly Found[] {
  if (vector === null) return [];
  return session.all(denseSql(name, vector, filter, mode === "hybrid" ? candidatesFor(limit) : limit, paths, slice)) as Found[];
}

/** The found records: those of the vector ranking, fused with the ranking by words in hybrid mode. */
function rank(session: Session, request: Selection, { name, paths }: Collection, best: readonly Found[]): RowSet {
  if (request.mode === "dense") return { rows: best.map((one) => readRecord(session, name, one)), exact: true };
  const statement = request.text === null ? null : wordsSql(name, request.text, request.filter, candidatesFor(request.limit), paths);
  const words = statement === null ? [] : (session.all(statement) as Found[]);
  const fused = fuse([[best, request.alpha], [words, 1 - request.alpha]]).slice(0, request.limit);
  return { rows: fused.map((one) => readRecord(session, name, one)), exact: true };
}

function readRecord({ statements, load }: Session, collection: string, { row, id, score }: Found): Row {
  const record = statements.get(recordsSql(collection)).pluck().get(row) as string | undefined;
  if (record === undefined) throw new BackendError("internal", "sqlite", `the collection is damaged: a record is missing; load it again: ${load} --replace`);
  const found = toRow(record, id);
  found["_score"] = roundScore(score);
  return found;
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

/** Vectors of two models are not comparable, even where their lengths agree. */
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

/** Six digits: the rest is noise of 32-bit arithmetic. */
function roundScore(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}

/** Vectors are shown by their length only. */
function shown({ sql, params }: Statement): { readonly sql: string; readonly params: readonly (string | number)[] } {
  return { sql, params: params.map((param) => (param instanceof Float32Array ? `<vector of ${param.length}>` : param)) };
}

export const adapter: AdapterModule = {
  backend: "sqlite",
  async open(settings, { base, from }) {
    const path = settings["path"];
    if (typeof path !== "string" || path === "") throw new BackendError("unsupported", "sqlite", "the connection has no path");
    const place = { file: resolve(base, path), name: path, load: loadCommand(from) };
    return new SqliteAdapter(await Session.open(place), new SnapshotPool(place));
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
