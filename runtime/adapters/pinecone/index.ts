/**
 * Backend `pinecone`: an index of Pinecone through its client. A collection is a namespace of the index. The service
 * searches by vectors only: reads and counts by a filter alone are refused. The client takes a `fetch`, which finds the
 * signal of the call that it is part of.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type * as Pinecone from "@pinecone-database/pinecone";
import { BackendError, isBackendError } from "../../abi/errors.js";
import { compareText, evaluate, type Filter, type Row } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import type { Adapter, AdapterModule, CollectionInfo, FetchRequest, Page, PageRequest, ReadRequest, Route, RowSet, SearchRequest } from "../adapter.js";
import { attempt } from "../attempt.js";
import { fetchError, statusError } from "../http-errors.js";
import { numbersOf } from "../numbers.js";
import { loadPackage } from "../package.js";
import { later } from "../hole.js";
import { toVector } from "../page.js";
import { PreparedReads, type SearchShape } from "../prepared.js";
import { refuse, refuseRoute, type Compiled } from "../reduce.js";
import { textSetting } from "../settings.js";
import type { Where } from "../where.js";
import { compileFilter } from "./filter.js";

/** Most rows of one query. */
const MAX_ROWS = 10_000;
/** Most ids of one page of a list. */
const MAX_LISTED = 100;

type Index = Pinecone.Index;

class PineconeAdapter implements Adapter {
  readonly #reads = new PreparedReads();

  constructor(
    private readonly index: Index,
    private readonly signals: AsyncLocalStorage<AbortSignal>,
  ) {}

  async health(signal: AbortSignal): Promise<void> {
    await this.#stats(signal);
  }

  async collections(signal: AbortSignal): Promise<readonly string[]> {
    const names = Object.keys((await this.#stats(signal)).namespaces ?? {});
    return names.length === 0 ? [""] : names.sort();
  }

  async describe(collection: string, signal: AbortSignal): Promise<CollectionInfo | null> {
    const { dimension, namespaces } = await this.#stats(signal);
    const found = namespaces?.[collection];
    return found === undefined ? null : { name: collection, dims: dimension ?? null, count: found.recordCount, sparse: false, fields: [] };
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    const { filter } = request;
    const query = queryOf(this.#reads, request);
    if (query === null) return { rows: [], exact: true };
    const { matches } = await this.#ask(signal, (index) => index.query(query));
    const rows = matches.map(({ id, score, metadata }): Row => ({ ...metadata, _id: id, _score: score !== undefined && Number.isFinite(score) ? score : 0 }));
    // A list field passes a comparison of one value there; here it does not equal it.
    const meant = rows.filter((row) => filter === null || evaluate(filter, row));
    return { rows: meant.sort((a, b) => Number(b["_score"]) - Number(a["_score"]) || compareText(String(a["_id"]), String(b["_id"]))), exact: false };
  }

  async fetch(_request: FetchRequest, signal: AbortSignal): Promise<RowSet> {
    signal.throwIfAborted();
    return refuse("pinecone", "reads without a query text");
  }

  /** The service lists ids and not by a filter: rows are read and compared here. */
  async page({ collection, filter, route, limit, after }: PageRequest, signal: AbortSignal): Promise<Page> {
    const namespace = namespaceOf(collection, route);
    const { vectors = [], pagination } = await this.#ask(signal, (index) => index.listPaginated({ namespace, limit: Math.min(limit, MAX_LISTED), ...(typeof after === "string" ? { paginationToken: after } : {}) }));
    const ids = vectors.flatMap(({ id }) => id ?? []);
    const { records } = ids.length === 0 ? { records: {} } : await this.#ask(signal, (index) => index.fetch({ ids, namespace }));
    const rows = Object.values<Pinecone.PineconeRecord>(records).map(({ id, metadata, values }) => ({ row: { ...metadata, _id: id } as Row, vector: toVector(values) }));
    return { rows: rows.filter(({ row }) => filter === null || evaluate(filter, row)), next: pagination?.next ?? null };
  }

  async count(collection: string, filter: Filter | null, signal: AbortSignal, route?: Route): Promise<number> {
    signal.throwIfAborted();
    if (filter !== null) return refuse("pinecone", "counting with a filter");
    const found = (await this.#stats(signal)).namespaces?.[namespaceOf(collection, route)];
    return found?.recordCount ?? 0;
  }

  async sample(_collection: string, _n: number, signal: AbortSignal): Promise<readonly Row[]> {
    signal.throwIfAborted();
    return refuse("pinecone", "reads without a query text");
  }

  async close(): Promise<void> {
    // A client has no connection of its own.
  }

  #stats(signal: AbortSignal): Promise<Pinecone.IndexStatsDescription> {
    return this.#ask(signal, (index) => index.describeIndexStats());
  }

  #ask<T>(signal: AbortSignal, work: (index: Index) => Promise<T>): Promise<T> {
    return attempt(signal, async () => {
      try {
        return await this.signals.run(signal, () => work(this.index));
      } catch (error) {
        signal.throwIfAborted();
        throw pineconeError(error);
      }
    });
  }
}

/** The collection, or the namespace that the connection fixes; both only where they agree. */
function namespaceOf(collection: string, route: Route | undefined): string {
  refuseRoute("pinecone", route?.tenant === undefined ? undefined : { tenant: route.tenant });
  const fixed = route?.namespace;
  if (fixed === undefined || fixed === null) return collection;
  if (collection !== "" && collection !== String(fixed)) throw new BackendError("unsupported", "pinecone", `the connection reads its own namespace only, and the collection '${collection.slice(0, 128)}' is another one`);
  return String(fixed);
}

interface Query {
  readonly namespace: string;
  readonly vector: number[];
  readonly topK: number;
  readonly includeMetadata: true;
  readonly filter?: Where;
}

/** The query of a search, compiled once for each shape; null where nothing can be found. */
function queryOf(reads: PreparedReads, request: SearchRequest, isShown = false): Query | null {
  return reads.search(request, "", compileQuery, isShown);
}

function compileQuery({ collection, route, mode, vector, filter, limit }: SearchShape): Query | null {
  const namespace = namespaceOf(collection, route);
  if (mode === "hybrid") return refuse("pinecone", "hybrid search");
  if (vector === null) return refuse("pinecone", "a search without a vector");
  const native: Compiled<Where> = filter === null ? "all" : compileFilter(filter);
  return native === "none" ? null : { namespace, vector: numbersOf(vector), topK: later(limit, (rows) => Math.min(rows, MAX_ROWS)), includeMetadata: true, ...(native === "all" ? {} : { filter: native }) };
}

/** Statuses are errors before the client sees them: it keeps none of those it would try again. */
function fetchWith(signals: AsyncLocalStorage<AbortSignal>): typeof fetch {
  return async (url, init) => {
    const signal = signals.getStore();
    // A request that no call made could not be ended.
    if (signal === undefined) throw new BackendError("internal", "pinecone", "a request without a call");
    const answer = await fetch(url, { ...init, signal });
    if (answer.ok) return answer;
    throw statusError("pinecone", answer.status, new Error((await answer.text()).slice(0, 1_000)));
  };
}

/** The client wraps what `fetch` throws, twice. */
function pineconeError(error: unknown, depth = 4): unknown {
  if (isBackendError(error) || !(error instanceof Error)) return error;
  for (let cause: unknown = error, left = depth; left > 0 && cause instanceof Error; left--) {
    if (isBackendError(cause)) return cause;
    cause = "cause" in cause ? cause.cause : null;
  }
  return error.name === "PineconeArgumentError" ? new BackendError("bad_request", "pinecone", "the client refuses the request", { cause: error }) : fetchError("pinecone", error);
}

export const adapter: AdapterModule = {
  backend: "pinecone",
  async open(settings, { base }) {
    const host = textSetting(settings, "host");
    const apiKey = textSetting(settings, "api_key");
    const address = host === null || /^https?:\/\//.test(host) ? host : `https://${host}`;
    if (address === null || !URL.canParse(address)) throw new BackendError("bad_request", "pinecone", "the host of the connection is no address");
    if (apiKey === null) throw new BackendError("auth", "pinecone", "the connection has no api_key");
    const { Pinecone } = await loadPackage<typeof import("@pinecone-database/pinecone")>("@pinecone-database/pinecone", "pinecone", base);
    const signals = new AsyncLocalStorage<AbortSignal>();
    return new PineconeAdapter(new Pinecone({ apiKey, maxRetries: 0, fetchApi: fetchWith(signals) as never }).index({ host: address }), signals);
  },
  explain(request: ReadRequest): Json {
    if (!("search" in request)) return { nothing: true, reason: "pinecone does not support reads without a query text" };
    const { collection, route, vector } = request.search;
    return (queryOf(new PreparedReads(), request.search, true) ?? { namespace: namespaceOf(collection, route), nothing: true, vector: vector === null ? null : `<vector of ${vector.length}>` }) as Json;
  },
};
