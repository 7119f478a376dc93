/**
 * Backend `sqlite`: the embedded store, one file, better-sqlite3 with sqlite-vec. Opened read-only: nothing here can
 * write; `toolsrv load` has a writer of its own. Searches are exact: they compare every record the filter selects.
 */
import { resolve } from "node:path";
import { BackendError } from "../../abi/errors.js";
import type { Filter, Row } from "../../abi/filter.js";
import type { Adapter, AdapterModule, Route, RowSet, SearchRequest } from "../adapter.js";
import { refuseRoute } from "../reduce.js";
import type { Collection } from "./catalog.js";
import { loadCommand, type Place } from "./database.js";
import { comparesTexts } from "./filter.js";
import { scanRows } from "./scan.js";
import { type Hit, isLarge, searchAtOnce, searchInSlices } from "./search.js";
import { SearchPool } from "./search-pool.js";
import { Session, SnapshotPool } from "./session.js";
import { countSql, denseSql, fetchSql, type SelectedRows, type Statement, wordsSql } from "./sql.js";

class SqliteAdapter implements Adapter {
  /** For work that one turn of the event loop does. */
  readonly #main: Session;
  /** For reads that take several turns. */
  readonly #snapshots: SnapshotPool;
  /** For searches that would keep the event loop from other requests. */
  readonly #searches: SearchPool;

  constructor(main: Session, place: Place) {
    this.#main = main;
    this.#snapshots = new SnapshotPool(place);
    this.#searches = new SearchPool(place);
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
    const hits = (await this.#main.run(signal, () => searchAtOnce(this.#main, request))) ?? (await this.#searchLong(request, signal));
    return { rows: hits.map(toScoredRow), exact: true };
  }

  /** A filter over the texts of a small collection shares the event loop; a large collection is searched in a thread. */
  async #searchLong(request: SearchRequest, signal: AbortSignal): Promise<readonly Hit[]> {
    const large = await this.#main.run(signal, () => isLarge(this.#main, this.#main.collections.get(request.collection)));
    return large ? this.#searches.search(request, signal) : this.#snapshots.use(signal, (session) => searchInSlices(session, request, signal));
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
    this.#searches.close();
  }
}

function toScoredRow({ record, id, score }: Hit): Row {
  const row = toRow(record, id);
  row["_score"] = score;
  return row;
}

function toRow(record: string, id: string): Row {
  const row = JSON.parse(record) as Row;
  row["_id"] = id;
  return row;
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
    return new SqliteAdapter(await Session.open(place), place);
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
