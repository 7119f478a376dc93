/**
 * Backend `qdrant`: a Qdrant server by its REST API. Requests go through the official client's typed operations, which
 * take the signal of a call; the client's own methods do not.
 */
import type * as Qdrant from "@qdrant/js-client-rest";
import { BackendError } from "../../abi/errors.js";
import type { Filter, Row } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import { isRecord } from "../../base/paths.js";
import type { Adapter, AdapterModule, CollectionInfo, FetchRequest, FieldInfo, Page, PageRequest, ReadRequest, Route, RowSet, SearchRequest } from "../adapter.js";
import { attempt } from "../attempt.js";
import { fetchError, statusError } from "../http-errors.js";
import { inferFields } from "../infer.js";
import { loadPackage } from "../package.js";
import { toVector } from "../page.js";
import { PreparedReads } from "../prepared.js";
import { refuseRoute } from "../reduce.js";
import { textSetting } from "../settings.js";
import type { Width } from "./filter.js";
import { ASSUMED, type Manner, SPARSE, type Vectors } from "./requests.js";
import { copyQuery, countQuery, explainWith, pageQuery, scrollQuery, searchQuery } from "./queries.js";
import { meaningOf } from "./verify.js";

type Api = ReturnType<Qdrant.QdrantClient["api"]>;
type Init = { readonly signal: AbortSignal };

/** How long the vectors of a collection are taken as read. */
const FRESH_MS = 30_000;
/** Points whose payload tells which fields there are. */
const SAMPLE_POINTS = 500;

interface Point {
  readonly id: string | number | bigint;
  readonly score?: number;
  readonly payload?: { readonly [key: string]: unknown } | null;
  /** A list, or lists by the names of vectors. */
  readonly vector?: unknown;
}

class QdrantAdapter implements Adapter {
  readonly #known = new Map<string, { readonly vectors: Vectors; readonly readAtMs: number }>();
  readonly #reads = new PreparedReads();

  constructor(
    private readonly api: Api,
    private readonly now: () => number,
  ) {}

  async health(signal: AbortSignal): Promise<void> {
    await this.collections(signal);
  }

  async collections(signal: AbortSignal): Promise<readonly string[]> {
    const { collections } = await this.#ask(signal, (init) => this.api.getCollections({}, init));
    return (collections ?? []).map(({ name }) => name).sort();
  }

  async describe(collection: string, signal: AbortSignal): Promise<CollectionInfo | null> {
    const info = await this.#info(collection, signal).catch((error: unknown) => {
      if (error instanceof BackendError && error.kind === "not_found") return null;
      throw error;
    });
    if (info === null) return null;
    const vectors = vectorsOf(info, null);
    const schema = new Map(Object.entries(info.payload_schema).map(([path, index]) => [path, String(index?.data_type)]));
    const sampled = inferFields(await this.sample(collection, SAMPLE_POINTS, signal), (path) => schema.has(path), schema.keys());
    const fields = sampled.map(({ sampled, ...field }): FieldInfo => ({ ...field, dtype: declared(schema.get(field.path), field.dtype), ...(schema.has(field.path) ? {} : { sampled }) }));
    return { name: collection, dims: vectors.dims, count: await this.count(collection, null, signal), sparse: vectors.sparse, fields };
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseRoute("qdrant", request.route);
    const vectors = await this.#vectors(request, signal);
    const isMeant = meaningOf(request.filter);
    const ask = async (manner: Manner): Promise<readonly Row[]> => {
      const body = searchQuery(this.#reads, request, vectors, manner);
      if (body === null) return [];
      const { points } = await this.#ask(signal, (init) => this.api.queryPoints(body as Parameters<Api["queryPoints"]>[0], init));
      return (points as readonly Point[]).map((point) => toRow(point, vectors));
    };
    const isScan = request.exact === true && request.mode === "dense";
    const found = await ask({ exact: isScan, width: "wide" });
    const meant = found.filter(isMeant);
    const isWhole = meant.length === found.length;
    // Fewer rows than asked for: all there are, or all that the index found; or some were lists and their places are free.
    const isShort = found.length > 0 && meant.length < request.limit && (!isWhole || request.mode === "dense");
    const rows = isShort ? (await ask({ exact: request.mode === "dense", width: isWhole ? "wide" : "exact" })).filter(isMeant) : meant;
    return { rows: request.mode === "dense" ? [...rows].sort(byScore) : rows, exact: isScan || (isShort && request.mode === "dense") };
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseRoute("qdrant", request.route);
    // Pages are counted by the store, so it has to know exactly what belongs to them.
    const found = await this.#scroll(request, request.offset === 0 ? "wide" : "exact", signal);
    const isMeant = meaningOf(request.filter);
    const isWhole = found.every(isMeant);
    const rows = isWhole ? found : await this.#scroll(request, "exact", signal);
    return { rows: rows.filter(isMeant), exact: true };
  }

  async #scroll(request: FetchRequest, width: Width, signal: AbortSignal): Promise<readonly Row[]> {
    const page = scrollQuery(this.#reads, request, width);
    if (page === null) {
      await this.#info(request.collection, signal);
      return [];
    }
    const start = request.offset === 0 ? { offset: null } : await this.#skip(request, width, signal);
    if (start === null) return [];
    const body = start.offset === null ? page : { ...page, offset: start.offset };
    const { points } = await this.#ask(signal, (init) => this.api.scrollPoints(body as Parameters<Api["scrollPoints"]>[0], init));
    return (points as readonly Point[]).map((point) => toRow(point, null));
  }

  async page({ collection, filter, route, limit, after }: PageRequest, signal: AbortSignal): Promise<Page> {
    refuseRoute("qdrant", route);
    const { name, dims } = vectorsOf(await this.#info(collection, signal), null);
    const query = copyQuery(this.#reads, { collection, filter, limit, offset: 0, fields: null });
    if (query === null) return { rows: [], next: null };
    const body = { ...query, ...(after === null ? {} : { offset: after }), with_vector: name === null ? dims !== null : [name] };
    const { points, next_page_offset: next } = await this.#ask(signal, (init) => this.api.scrollPoints(body as Parameters<Api["scrollPoints"]>[0], init));
    const isMeant = meaningOf(filter);
    const rows = (points as readonly Point[]).map((point) => ({ row: toRow(point, null), vector: toVector(isRecord(point.vector) ? point.vector[name ?? ""] : point.vector) }));
    return { rows: rows.filter(({ row }) => isMeant(row)), next: (next ?? null) as Json };
  }

  async count(collection: string, filter: Filter | null, signal: AbortSignal, route?: Route): Promise<number> {
    refuseRoute("qdrant", route);
    const body = countQuery(this.#reads, { collection, filter });
    if (body === null) {
      await this.#info(collection, signal);
      return 0;
    }
    return (await this.#ask(signal, (init) => this.api.countPoints(body as Parameters<Api["countPoints"]>[0], init))).count;
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null }, signal)).rows;
  }

  explain(request: ReadRequest): Json {
    return explainWith(this.#reads, request, "search" in request ? (this.#known.get(request.search.collection)?.vectors ?? ASSUMED) : ASSUMED);
  }

  async close(): Promise<void> {
    // The client has no end: its sockets close by themselves when they have been idle.
  }

  /** Where a page starts: Qdrant's offset is the id of a point. Null when the pages before it have everything. */
  async #skip(request: FetchRequest, width: Width, signal: AbortSignal): Promise<{ readonly offset: string | number | null } | null> {
    const body = pageQuery(this.#reads, request, width);
    const { next_page_offset: next } = await this.#ask(signal, (init) => this.api.scrollPoints(body as Parameters<Api["scrollPoints"]>[0], init));
    return next === null || next === undefined ? null : { offset: next as string | number };
  }

  #info(collection: string, signal: AbortSignal): Promise<Qdrant.Schemas["CollectionInfo"]> {
    return this.#ask(signal, (init) => this.api.getCollection({ collection_name: collection }, init));
  }

  async #vectors({ collection, vector }: SearchRequest, signal: AbortSignal): Promise<Vectors> {
    let known = this.#known.get(collection);
    if (known === undefined || this.now() - known.readAtMs >= FRESH_MS) {
      known = { vectors: vectorsOf(await this.#info(collection, signal), vector?.length ?? null), readAtMs: this.now() };
      this.#known.set(collection, known);
    }
    const { dims } = known.vectors;
    if (vector !== null && dims !== null && vector.length !== dims) {
      this.#known.delete(collection);
      throw new BackendError("unsupported", "qdrant", `the collection has vectors of ${dims} numbers, the query has ${vector.length}`);
    }
    return known.vectors;
  }

  /** The result of one operation, tried once more where the connection broke. */
  #ask<T>(signal: AbortSignal, operation: (init: Init) => Promise<{ readonly data: { readonly result?: T } }>): Promise<T> {
    return attempt(signal, async () => {
      try {
        const { data } = await operation({ signal });
        const result: unknown = typeof data === "object" && data !== null ? data.result : undefined;
        if (result === undefined || result === null) throw new BackendError("internal", "qdrant", "the store answers what is no answer");
        return result as T;
      } catch (error) {
        signal.throwIfAborted();
        throw qdrantError(error);
      }
    });
  }
}

/** The client reports answers by classes and by messages; only its first kind has the status as a number. */
function qdrantError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof BackendError) return error;
  if ("status" in error && typeof error.status === "number") return statusError("qdrant", error.status, error);
  if ("retry_after" in error) return statusError("qdrant", 429, error);
  const [, status] = /^Unexpected Response: (\d{3}) /.exec(error.message) ?? [];
  return status === undefined ? fetchError("qdrant", error) : statusError("qdrant", Number(status), error);
}

/** The dense vectors of a collection: those without a name, else the first with the query's length, else the first. */
function vectorsOf(info: Qdrant.Schemas["CollectionInfo"], length: number | null): Vectors {
  const { vectors, sparse_vectors: sparse } = info.config.params;
  const isOne = vectors !== undefined && vectors !== null && "size" in vectors && typeof vectors.size === "number";
  const named = isOne ? [["", vectors] as const] : Object.entries(vectors ?? {});
  const [name, found] = named.find(([, one]) => (one as { size?: number }).size === length) ?? named[0] ?? [null, null];
  const { size, distance } = (found ?? {}) as { size?: number; distance?: string };
  return { name: isOne ? null : name, dims: size ?? null, isDistance: distance === "Euclid" || distance === "Manhattan", sparse: Object.hasOwn(sparse ?? {}, SPARSE.name) };
}

/** The type of a payload index, where it says more than the sample. */
function declared(type: string | undefined, sampled: FieldInfo["dtype"]): FieldInfo["dtype"] {
  if (type === undefined || sampled === "keyword[]") return sampled;
  if (type === "integer" || type === "float" || type === "datetime") return type;
  return type === "bool" ? "boolean" : "keyword";
}

/** `vectors` only for a search. */
function toRow({ id, score, payload }: Point, vectors: Vectors | null): Row {
  const row = plain(payload ?? {}) as Row;
  row["_id"] = typeof id === "bigint" || (typeof id === "number" && !Number.isSafeInteger(id)) ? String(id) : id;
  if (vectors !== null && score !== undefined) row["_score"] = vectors.isDistance ? 1 / (1 + Math.max(0, score)) : Number.isFinite(score) ? score : 0;
  return row;
}

/** On some versions of Node the client reads large numbers as bigint, which JSON cannot hold. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

function byScore(a: Row, b: Row): number {
  const [x, y] = [a["_id"], b["_id"]] as (string | number)[];
  return Number(b["_score"]) - Number(a["_score"]) || (x !== undefined && y !== undefined && x < y ? -1 : 1);
}

/** The port of the URL, else that of https, else Qdrant's own. */
function portOf(url: URL): number {
  return url.port !== "" ? Number(url.port) : url.protocol === "https:" ? 443 : 6333;
}

export const adapter: AdapterModule = {
  backend: "qdrant",
  async open(settings, { base }) {
    const address = textSetting(settings, "url");
    if (address === null || !URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) throw new BackendError("bad_request", "qdrant", "the url of the connection is no http or https address");
    const { QdrantClient } = await loadPackage<typeof Qdrant>("@qdrant/js-client-rest", "qdrant", base);
    const url = new URL(address);
    const key = textSetting(settings, "api_key");
    const prefix = url.pathname.replace(/\/$/, "");
    // As a header, because the client prints a warning about `apiKey` over http; without a timeout, because its own
    // would replace the signal of the call.
    const client = new QdrantClient({
      url: url.origin, port: portOf(url), ...(prefix === "" ? {} : { prefix }), checkCompatibility: false, timeout: Number.POSITIVE_INFINITY,
      ...(key === null ? {} : { headers: { "api-key": key } }),
    });
    return new QdrantAdapter(client.api(), () => performance.now());
  },
  explain: (request) => explainWith(new PreparedReads(), request, ASSUMED),
};
