/**
 * Backend `pgvector`: rows of one table of PostgreSQL, with a vector column or (table mode) without, its other fields in
 * columns or in a jsonb column `payload`. Sessions are read-only. The database is a server, or PGlite within this process.
 */
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type Pg from "pg";
import { BackendError } from "../../abi/errors.js";
import type { Filter, Row } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import type { Adapter, AdapterModule, CollectionInfo, FetchRequest, Page, PageRequest, ReadRequest, Route, RowSet, SearchRequest } from "../adapter.js";
import { attempt } from "../attempt.js";
import { inferFields } from "../infer.js";
import { findPackage, loadPackage } from "../package.js";
import { countedPage, offsetOf, toVector } from "../page.js";
import { PreparedReads } from "../prepared.js";
import { refuse, refuseRoute } from "../reduce.js";
import { textSetting } from "../settings.js";
import { type Database, Server } from "./database.js";
import { EMBEDDED_PACKAGES } from "./descriptor.js";
import { addressOf, embeddedFolder } from "./dsn.js";
import { isChanged } from "./errors.js";
import { copyStatement, countStatement, explainOn, fetchStatement, type Known, searchStatement } from "./queries.js";
import { fetchSql, shownColumns, type Statement } from "./sql.js";
import { assumedTable, type ColumnRow, INTROSPECT_SQL, type IndexRow, knownTable, PAYLOAD, placeOf, type Place, type Table, TABLES_SQL } from "./table.js";

/** How long the columns of a table are taken as read. */
const FRESH_MS = 30_000;
/** Rows whose payload tells which fields there are. */
const SAMPLE_ROWS = 500;

class PgvectorAdapter implements Adapter {
  readonly #tables = new Map<string, Known & { readonly readAtMs: number }>();

  constructor(
    private readonly database: Database,
    private readonly place: Place,
    private readonly now: () => number,
  ) {}

  async health(signal: AbortSignal): Promise<void> {
    await this.#run({ sql: "SELECT 1", params: [] }, signal);
  }

  async collections(signal: AbortSignal): Promise<readonly string[]> {
    if (this.place.table !== null) return [this.place.table];
    const rows = await this.#run({ sql: TABLES_SQL, params: [this.place.vectorColumn ?? ""] }, signal);
    return rows.map(({ name }) => String(name)).sort();
  }

  async describe(collection: string, signal: AbortSignal): Promise<CollectionInfo | null> {
    const known = await this.#readTable(collection, signal);
    if (known === null) return null;
    const { table } = known;
    const count = await this.#count(known, collection, null, signal);
    const rows = (await this.#run(fetchSql({ filter: null, limit: SAMPLE_ROWS, offset: 0, fields: null }, table), signal)).map((row) => toRow(row, table, null));
    const fields = inferFields(rows, (path) => table.indexed.has(path) || (table.payloadIndex && !table.columns.has(path.split(".", 1)[0] ?? "")), table.columns.keys());
    return { name: collection, dims: table.vector?.dims ?? null, count, sparse: false, fields };
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseRoute("pgvector", request.route);
    if (request.mode === "hybrid") refuse("pgvector", "hybrid search");
    return this.#onTable(request.collection, signal, async (known) => {
      const { table } = known;
      const exact = table.vector?.approximate !== true;
      checkDims(request, table);
      const isScan = request.exact === true;
      const rows = await this.#run(searchStatement(known, request, isScan), signal);
      // Fewer rows than asked for: all there are, or all that an approximate index found.
      const isShort = !exact && !isScan && rows.length < request.limit;
      const all = isShort ? await this.#run(searchStatement(known, request, true), signal) : rows;
      return { rows: all.map((row) => scored(row, table, request.fields)).sort(byScore), exact: exact || isScan || isShort };
    });
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseRoute("pgvector", request.route);
    return this.#onTable(request.collection, signal, async (known) => {
      const rows = await this.#run(fetchStatement(known, request), signal);
      return { rows: rows.map((row) => toRow(row, known.table, request.fields)), exact: true };
    });
  }

  async page({ collection, filter, route, limit, after }: PageRequest, signal: AbortSignal): Promise<Page> {
    refuseRoute("pgvector", route);
    const offset = offsetOf(after);
    return this.#onTable(collection, signal, async (known) => {
      const found = await this.#run(copyStatement(known, { collection, filter, limit, offset, fields: null }), signal);
      return countedPage(found.map((row) => ({ row: toRow(row, known.table, null), vector: vectorOf(row["vector"]) })), found.length, offset, limit);
    });
  }

  async count(collection: string, filter: Filter | null, signal: AbortSignal, route?: Route): Promise<number> {
    refuseRoute("pgvector", route);
    return this.#onTable(collection, signal, (known) => this.#count(known, collection, filter, signal));
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null }, signal)).rows;
  }

  explain(request: ReadRequest): Json {
    const collection = "search" in request ? request.search.collection : "fetch" in request ? request.fetch.collection : request.count.collection;
    return explainOn(request, this.#tables.get(collection) ?? { table: assumedTable(this.place, collection), reads: new PreparedReads() });
  }

  close(): Promise<void> {
    return this.database.close();
  }

  #run(statement: Statement, signal: AbortSignal): ReturnType<Database["run"]> {
    return attempt(signal, () => this.database.run(statement, signal));
  }

  async #count(known: Known, collection: string, filter: Filter | null, signal: AbortSignal): Promise<number> {
    const [row] = await this.#run(countStatement(known, { collection, filter }), signal);
    return Number(row?.["n"] ?? 0);
  }

  /** Work on a table; once more with its columns read anew when they have changed. */
  async #onTable<T>(collection: string, signal: AbortSignal, work: (known: Known) => Promise<T>): Promise<T> {
    const known = this.#tables.get(collection);
    if (known !== undefined && this.now() - known.readAtMs < FRESH_MS) {
      try {
        return await work(known);
      } catch (error) {
        if (!isChanged(error)) throw error;
      }
    }
    const read = await this.#readTable(collection, signal);
    if (read === null) throw new BackendError("not_found", "pgvector", `there is no table for collection '${collection.slice(0, 128)}'`);
    return work(read);
  }

  async #readTable(collection: string, signal: AbortSignal): Promise<Known | null> {
    const [row] = await this.#run({ sql: INTROSPECT_SQL, params: [this.place.tableOf(collection)] }, signal);
    const columns = row?.["columns"] as readonly ColumnRow[] | null | undefined;
    if (columns === null || columns === undefined) {
      this.#tables.delete(collection);
      return null;
    }
    const table = knownTable(this.place, collection, columns, (row?.["indexes"] ?? []) as readonly IndexRow[]);
    if (!columns.some(({ name }) => name === this.place.idColumn)) throw new BackendError("bad_request", "pgvector", `the table has no id column '${this.place.idColumn}'; see id_column of the connection`);
    const before = this.#tables.get(collection);
    // Statements are compiled for a table; most often it has not changed.
    const reads = before !== undefined && isDeepStrictEqual(before.table, table) ? before.reads : new PreparedReads();
    const known = { table, reads, readAtMs: this.now() };
    this.#tables.set(collection, known);
    return known;
  }
}

function checkDims({ vector }: SearchRequest, { vector: column }: Table): void {
  if (vector === null || column === null || column.dims === null || vector.length === column.dims) return;
  throw new BackendError("unsupported", "pgvector", `the table has vectors of ${column.dims} numbers, the query has ${vector.length}`);
}

function scored(found: Record<string, unknown>, table: Table, fields: readonly string[] | null): Row {
  const row = toRow(found, table, fields);
  const distance = Number(found["distance"]);
  // A zero vector has no direction: it is similar to nothing.
  row["_score"] = Number.isNaN(distance) ? 0 : 1 / (1 + Math.max(0, distance));
  return row;
}

/** An index that is searched in steps may return rows slightly out of order. Stable: equal ones stay in id order. */
function byScore(a: Row, b: Row): number {
  return Number(b["_score"]) - Number(a["_score"]);
}

/** Fields of the payload, then columns, which count more, then the id. */
function toRow(found: Record<string, unknown>, table: Table, fields: readonly string[] | null): Row {
  const payload = found[PAYLOAD];
  const row: Row = typeof payload === "object" && payload !== null && !Array.isArray(payload) ? (payload as Row) : {};
  for (const [index, name] of shownColumns(table, fields).entries()) row[name] = found[`c${index}`];
  const id = String(found["_id"]);
  row["_id"] = table.idKind === "integer" && Number.isSafeInteger(Number(id)) ? Number(id) : id;
  return row;
}

/** `[1,2]`; a sparse vector or one of bits is written otherwise, and is no list of numbers. */
function vectorOf(text: unknown): Float32Array | null {
  return typeof text === "string" && text.startsWith("[") ? toVector(JSON.parse(text)) : null;
}

async function databaseOf(dsn: string, base: string): Promise<Database> {
  const folder = embeddedFolder(dsn);
  if (folder !== null) {
    const [pglite, pgvector] = await Promise.all(EMBEDDED_PACKAGES.map((name) => findPackage(name, "pgvector", base)));
    const { openEmbedded } = await import("./embedded.js");
    return openEmbedded(resolve(base, folder), folder, { pglite: pglite ?? "", pgvector: pgvector ?? "" });
  }
  const address = addressOf(dsn);
  const { default: pg } = await loadPackage<{ readonly default: typeof Pg }>("pg", "pgvector", base);
  return new Server(pg, address);
}

export const adapter: AdapterModule = {
  backend: "pgvector",
  async open(settings, { base }) {
    const dsn = textSetting(settings, "dsn");
    if (dsn === null) throw new BackendError("unsupported", "pgvector", "the connection has no dsn");
    return new PgvectorAdapter(await databaseOf(dsn, base), placeOf(settings), () => performance.now());
  },
  explain: (request, settings) => {
    const collection = "search" in request ? request.search.collection : "fetch" in request ? request.fetch.collection : request.count.collection;
    return explainOn(request, { table: assumedTable(placeOf(settings), collection), reads: new PreparedReads() });
  },
};
