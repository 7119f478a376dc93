/**
 * Backend `pinecone`: an index of Pinecone through its client. A collection is a namespace of the index. The service
 * searches by vectors only: reads and counts by a filter alone are refused. The client takes a `fetch`, so each call
 * has a client of its own, with the call's signal: an object without a connection.
 */
import type * as Pinecone from "@pinecone-database/pinecone";
import { BackendError, isBackendError } from "../../abi/errors.js";
import { compareText, evaluate, type Filter, type Row } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import type { Adapter, AdapterModule, CollectionInfo, FetchRequest, Page, PageRequest, ReadRequest, Route, RowSet, SearchRequest } from "../adapter.js";
import { attempt } from "../attempt.js";
import { fetchError, statusError } from "../http-errors.js";
import { loadPackage } from "../package.js";
import { toVector } from "../page.js";
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
  constructor(private readonly index: (signal: AbortSignal) => Index) {}

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
    const { vector, filter } = request;
    const namespace = namespaceOf(request.collection, request.route);
    const body = queryBody(request);
    if (body === null || vector === null) return { rows: [], exact: true };
    const { matches } = await this.#ask(signal, (index) => index.query({ ...body, namespace, vector: [...vector] }));
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
        return await work(this.index(signal));
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

/** A query without vector and namespace; null where nothing can be found. */
function queryBody({ mode, vector, filter, limit }: SearchRequest): { readonly topK: number; readonly includeMetadata: true; readonly filter?: Where } | null {
  if (mode === "hybrid") return refuse("pinecone", "hybrid search");
  if (vector === null) return refuse("pinecone", "a search without a vector");
  const native: Compiled<Where> = filter === null ? "all" : compileFilter(filter);
  return native === "none" ? null : { topK: Math.min(limit, MAX_ROWS), includeMetadata: true, ...(native === "all" ? {} : { filter: native }) };
}

/** Statuses are errors before the client sees them: it keeps none of those it would try again. */
function fetchWith(signal: AbortSignal): typeof fetch {
  return async (url, init) => {
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
    return new PineconeAdapter((signal) => new Pinecone({ apiKey, maxRetries: 0, fetchApi: fetchWith(signal) as never }).index({ host: address }));
  },
  explain(request: ReadRequest): Json {
    if (!("search" in request)) return { nothing: true, reason: "pinecone does not support reads without a query text" };
    const { collection, route, vector } = request.search;
    return { namespace: namespaceOf(collection, route), ...(queryBody(request.search) ?? { nothing: true }), vector: vector === null ? null : `<vector of ${vector.length}>` } as Json;
  },
};
