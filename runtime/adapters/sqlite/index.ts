/**
 * Backend `sqlite`: the embedded store, one file, better-sqlite3 with sqlite-vec. Opened read-only: nothing here can
 * write; `toolsrv load` has a writer of its own. Searches are exact: they compare every record the filter selects.
 */
import { resolve } from "node:path";
import { BackendError } from "../../abi/errors.js";
import type { Row } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import type { Adapter, AdapterModule, Page, PageRequest, ReadCost, ReadRequest, Route, RowSet, SearchRequest } from "../adapter.js";
import { countedPage, offsetOf } from "../page.js";
import { PreparedReads } from "../prepared.js";
import { refuseRoute } from "../reduce.js";
import { codesMemory } from "./code-sets.js";
import { costOf } from "./cost.js";
import { CurrentFile, type OpenFile } from "./current-file.js";
import { loadCommand } from "./database.js";
import { explainOn, type Known } from "./queries.js";
import type { StoredRecord } from "./reads.js";
import { type Hit, isLarge, searchAtOnce, searchInSteps } from "./search.js";
import { vectorsSql } from "./sql.js";

class SqliteAdapter implements Adapter {
  readonly #file: CurrentFile;

  constructor(file: CurrentFile) {
    this.#file = file;
  }

  async health(signal: AbortSignal): Promise<void> {
    const { main } = await this.#file.check();
    return main.run(signal, () => void main.collections.names());
  }

  async collections(signal: AbortSignal): Promise<readonly string[]> {
    const { main } = await this.#file.get();
    return main.run(signal, () => main.collections.names());
  }

  async describe(collection: string, signal: AbortSignal): ReturnType<Adapter["describe"]> {
    const { main } = await this.#file.get();
    return main.run(signal, () => {
      const found = main.collections.find(collection);
      return found === null ? null : main.collections.describe(found);
    });
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseRoute("sqlite", request.route);
    const looked = this.#file.get();
    const file = looked instanceof Promise ? await looked : looked;
    const hits = (await file.main.run(signal, () => searchAtOnce(file.main, request))) ?? (await searchLong(file, request, signal));
    return { rows: hits.map(toScoredRow), exact: true };
  }

  async fetch(request: Parameters<Adapter["fetch"]>[0], signal: AbortSignal): Promise<RowSet> {
    refuseRoute("sqlite", request.route);
    const looked = this.#file.get();
    const { lists } = looked instanceof Promise ? await looked : looked;
    const rows = (await lists.read({ fetch: request }, signal)) as readonly StoredRecord[];
    return { rows: rows.map(({ id, record }) => toRow(record, id)), exact: true };
  }

  /** The rows as a list has them, then their vectors; of a row that is loaded anew between the two, the vector is the new one. */
  async page({ collection, filter, route, limit, after }: PageRequest, signal: AbortSignal): Promise<Page> {
    const offset = offsetOf(after);
    const { rows } = await this.fetch({ collection, filter, ...(route === undefined ? {} : { route }), limit, offset, fields: null }, signal);
    const { main } = await this.#file.get();
    const found = await main.run(signal, () => main.all(vectorsSql(collection, rows.map((row) => String(row["_id"]))))) as { id: string; vector: Buffer }[];
    const vectors = new Map(found.map(({ id, vector }) => [id, floatsOf(vector)]));
    return countedPage(rows.map((row) => ({ row, vector: vectors.get(String(row["_id"])) ?? null })), rows.length, offset, limit);
  }

  async count(collection: string, filter: Parameters<Adapter["count"]>[1], signal: AbortSignal, route?: Route): Promise<number> {
    refuseRoute("sqlite", route);
    const looked = this.#file.get();
    const { lists } = looked instanceof Promise ? await looked : looked;
    const [row] = (await lists.read({ count: { collection, filter } }, signal)) as readonly { readonly n: number }[];
    return row?.n ?? 0;
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null }, signal)).rows;
  }

  explain(request: ReadRequest): Json {
    const known = assumed(request);
    return explainOn(request, this.#file.last.main.collections.readBefore(known.name) ?? known);
  }

  async cost(request: ReadRequest, signal: AbortSignal): Promise<ReadCost> {
    const { main } = await this.#file.get();
    return main.run(signal, () => costOf(main, request));
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}

/** A filter over the texts of a small collection shares the event loop; a large collection is searched in a thread. */
async function searchLong({ main, searches, snapshots }: OpenFile, request: SearchRequest, signal: AbortSignal): Promise<readonly Hit[]> {
  const large = await main.run(signal, () => isLarge(main, main.collections.get(request.collection)));
  return large ? searches.search(request, signal) : snapshots.use(signal, (session) => searchInSteps(session, request, signal));
}

function toScoredRow({ record, id, score }: Hit): Row {
  const row = toRow(record, id);
  row["_score"] = score;
  return row;
}

/** Numbers are copied, because a row's bytes may begin anywhere. */
function floatsOf(bytes: Buffer): Float32Array | null {
  return bytes.length === 0 ? null : new Float32Array(Uint8Array.from(bytes).buffer);
}

function toRow(record: string, id: string): Row {
  const row = JSON.parse(record) as Row;
  row["_id"] = id;
  return row;
}

/** Columns that no file has named yet: every path may be one. */
function assumed(request: ReadRequest): Known {
  const { collection } = "search" in request ? request.search : "fetch" in request ? request.fetch : request.count;
  return { name: collection, paths: null, reads: new PreparedReads() };
}

export const adapter: AdapterModule = {
  backend: "sqlite",
  async open(settings, { base, from }) {
    const path = settings["path"];
    if (typeof path !== "string" || path === "") throw new BackendError("unsupported", "sqlite", "the connection has no path");
    const place = { file: resolve(base, path), name: path, load: loadCommand(from) };
    return new SqliteAdapter(await CurrentFile.open(place, codesMemory(settings)));
  },
  explain: (request) => explainOn(request, assumed(request)),
};
