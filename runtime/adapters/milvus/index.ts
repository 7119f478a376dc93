/**
 * Backend `milvus`: a Milvus server through its client. What a collection declares decides how a filter is written, so
 * it is read first; records have their other values in the dynamic field.
 */
import { isDeepStrictEqual } from "node:util";
import type * as Milvus from "@zilliz/milvus2-sdk-node";
import { BackendError } from "../../abi/errors.js";
import { compareText, type Filter, type Row } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import { isRecord } from "../../base/paths.js";
import type { Adapter, AdapterModule, CollectionInfo, FetchRequest, FieldInfo, Page, PageRequest, ReadRequest, Route, RowSet, SearchRequest, Settings } from "../adapter.js";
import { inferFields } from "../infer.js";
import { loadPackage } from "../package.js";
import { countedPage, offsetOf, toVector } from "../page.js";
import { PreparedReads } from "../prepared.js";
import { refuseRoute } from "../reduce.js";
import { textSetting } from "../settings.js";
import { Client, type Config } from "./client.js";
import { countQuery, explainWith, type Known, pageQuery, rowsQuery, searchQuery } from "./queries.js";
import { ASSUMED_SCHEMA, type Described, type DescribedIndex, type QueryBody, type Schema, schemaOf, type SearchBody, widerSearch } from "./requests.js";

/** How long the schema of a collection is taken as read. */
const FRESH_MS = 30_000;
const SAMPLE_RECORDS = 500;

class MilvusAdapter implements Adapter {
  readonly #known = new Map<string, Known & { readonly readAtMs: number }>();

  constructor(
    private readonly client: Client,
    private readonly now: () => number,
  ) {}

  async health(signal: AbortSignal): Promise<void> {
    await this.collections(signal);
  }

  async collections(signal: AbortSignal): Promise<readonly string[]> {
    const { data } = await this.client.ask(signal, (client) => client.listCollections());
    return data.map(({ name }) => name).sort();
  }

  async describe(collection: string, signal: AbortSignal): Promise<CollectionInfo | null> {
    try {
      const { schema } = await this.#readSchema(collection, signal);
      const { dtypes, indexed } = schema;
      const count = await this.count(collection, null, signal);
      const sampled = inferFields(await this.sample(collection, SAMPLE_RECORDS, signal), (path) => indexed.has(path), dtypes.keys());
      const fields = sampled.map(({ sampled, ...field }): FieldInfo => {
        const own = dtypes.get(field.path);
        return own === undefined || own.dtype === "unknown" ? { ...field, ...(sampled === undefined ? {} : { sampled }) } : { ...field, ...own };
      });
      return { name: collection, dims: schema.vector?.dims ?? null, count, sparse: false, fields };
    } catch (error) {
      if (error instanceof BackendError && error.kind === "not_found") return null;
      throw error;
    }
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseRoute("milvus", request.route);
    const { collection, vector } = request;
    // Refused, whatever the collection has.
    if (request.mode === "hybrid" || vector === null) searchQuery({ schema: ASSUMED_SCHEMA, reads: new PreparedReads() }, request);
    const known = await this.#schema(collection, signal);
    const { schema } = known;
    const dims = schema.vector?.dims ?? null;
    if (vector !== null && dims !== null && vector.length !== dims) {
      this.#known.delete(collection);
      throw new BackendError("unsupported", "milvus", `the collection has vectors of ${dims} numbers, the query has ${vector.length}`);
    }
    const body = searchQuery(known, request);
    if (body === null) return { rows: [], exact: true };
    const ask = async (asked: SearchBody): Promise<readonly Milvus.SearchResultData[]> => (await this.client.ask(signal, (client) => client.search(asked as object as Milvus.SearchSimpleReq))).results;
    const first = await ask(body);
    const wider = widerSearch(body, first.length, schema);
    const results = wider === null ? first : await ask(wider);
    const rows = results.map((found): Row => {
      const row = toRow(found, schema);
      row["_score"] = scoreOf(found.score, schema.isDistance);
      return row;
    });
    return { rows: rows.sort(byScore), exact: false };
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseRoute("milvus", request.route);
    const known = await this.#schema(request.collection, signal);
    const found = await this.#pageOf(request, known, false, signal);
    return { rows: found.map((one) => toRow(one, known.schema)).sort(byId), exact: true };
  }

  /** Of more records than one request may read, copies have the first ones. */
  async page({ collection, filter, route, limit, after }: PageRequest, signal: AbortSignal): Promise<Page> {
    refuseRoute("milvus", route);
    const known = await this.#schema(collection, signal);
    const { schema } = known;
    const { name } = schema.vector ?? { name: null };
    const offset = offsetOf(after);
    const found = await this.#pageOf({ collection, filter, limit, offset, fields: null }, known, true, signal);
    return countedPage(found.map((one) => ({ row: toRow(one, schema), vector: toVector(name === null ? null : one[name]) })), found.length, offset, limit);
  }

  /** The server has no order of its own: all ids are read and sorted, then the page by its ids, under the filter again. */
  async #pageOf(request: FetchRequest, known: Known, withVector: boolean, signal: AbortSignal): Promise<readonly Record<string, unknown>[]> {
    const { filter, limit, offset } = request;
    const body = pageQuery(known, request);
    if (body === null) return [];
    const ids = (await this.#query(body, signal)).map((found) => idOf(found, known.schema)).sort(compareIds).slice(offset, offset + limit);
    if (ids.length === 0) return [];
    const page: Filter = { path: "id", op: "in", value: ids };
    const full = rowsQuery(known, { ...request, filter: filter === null ? page : { and: [filter, page] } }, withVector);
    return full === null ? [] : this.#query(full, signal);
  }

  async count(collection: string, filter: Filter | null, signal: AbortSignal, route?: Route): Promise<number> {
    refuseRoute("milvus", route);
    const body = countQuery(await this.#schema(collection, signal), { collection, filter });
    if (body === null) return 0;
    const [row] = await this.#query(body, signal);
    return Number(row?.["count(*)"] ?? 0);
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null }, signal)).rows;
  }

  explain(request: ReadRequest): Json {
    const collection = "search" in request ? request.search.collection : "fetch" in request ? request.fetch.collection : request.count.collection;
    return explainWith(request, this.#known.get(collection) ?? { schema: ASSUMED_SCHEMA, reads: new PreparedReads() });
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async #query(body: QueryBody, signal: AbortSignal): Promise<readonly Record<string, unknown>[]> {
    // The client takes the names of consistency levels, too; its types have their numbers.
    return (await this.client.ask(signal, (client) => client.query(body as object as Milvus.QueryReq))).data;
  }

  async #schema(collection: string, signal: AbortSignal): Promise<Known> {
    signal.throwIfAborted();
    const known = this.#known.get(collection);
    return known !== undefined && this.now() - known.readAtMs < FRESH_MS ? known : this.#readSchema(collection, signal);
  }

  async #readSchema(collection: string, signal: AbortSignal): Promise<Known> {
    const described = await this.client.ask(signal, (client) => client.describeCollection({ collection_name: collection }));
    const indexes = await this.client.ask(signal, (client) => client.describeIndex({ collection_name: collection })).then(
      ({ index_descriptions: found }) => found as unknown as readonly DescribedIndex[],
      // A collection without an index is an error to the server.
      (error: unknown) => (error instanceof BackendError && error.retryable ? Promise.reject(error) : []),
    );
    const schema = schemaOf(described as unknown as Described, indexes);
    const before = this.#known.get(collection);
    // Queries are compiled for a schema; most often it has not changed.
    const reads = before !== undefined && isDeepStrictEqual(before.schema, schema) ? before.reads : new PreparedReads();
    const known = { schema, reads, readAtMs: this.now() };
    this.#known.set(collection, known);
    return known;
  }
}

function idOf(found: Record<string, unknown>, { fields }: Schema): string | number {
  const id = found[fields.id] ?? found["id"];
  return fields.idKind === "integer" && Number.isSafeInteger(Number(id)) ? Number(id) : String(id);
}

/** Declared fields, then the dynamic ones, which a query returns in a field of their own; whole numbers of 64 bits arrive as texts. */
function toRow(found: Record<string, unknown>, schema: Schema): Row {
  const dynamic = found["$meta"];
  const row: Row = isRecord(dynamic) ? { ...dynamic } : {};
  for (const name of Object.keys(found)) {
    if (name === "$meta" || name === "score" || name === schema.fields.id || name === schema.vector?.name) continue;
    const value = found[name];
    row[name] = typeof value === "string" && schema.dtypes.get(name)?.dtype === "integer" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  row["_id"] = idOf(found, schema);
  return row;
}

function scoreOf(score: number, isDistance: boolean): number {
  if (!Number.isFinite(score)) return 0;
  return isDistance ? 1 / (1 + Math.max(0, score)) : score;
}

function compareIds(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : compareText(String(a), String(b));
}

function byId(a: Row, b: Row): number {
  return compareIds(a["_id"] as string | number, b["_id"] as string | number);
}

function byScore(a: Row, b: Row): number {
  return Number(b["_score"]) - Number(a["_score"]) || byId(a, b);
}

/** The address as gRPC takes it. @throws BackendError bad_request for anything but http, https and tcp */
function configOf(settings: Settings): Config {
  const uri = textSetting(settings, "uri");
  const written = uri === null || /^[a-z]+:\/\//.test(uri) ? uri : `http://${uri}`;
  if (written === null || !URL.canParse(written) || !/^(https?|tcp):$/.test(new URL(written).protocol)) throw new BackendError("bad_request", "milvus", "the uri of the connection is no http or https address");
  const url = new URL(written);
  const isSecure = url.protocol === "https:";
  const [token, user, password, database] = ["token", "user", "password", "database"].map((key) => textSetting(settings, key)) as [string | null, string | null, string | null, string | null];
  return {
    address: `${url.hostname}:${url.port !== "" ? url.port : isSecure ? 443 : 19530}`, ssl: isSecure,
    ...(token !== null ? { token } : user !== null ? { username: user, password: password ?? "" } : {}), ...(database === null ? {} : { database }),
  };
}

export const adapter: AdapterModule = {
  backend: "milvus",
  async open(settings, { base }) {
    const config = configOf(settings);
    const milvus = await loadPackage<typeof Milvus & { readonly default?: typeof Milvus }>("@zilliz/milvus2-sdk-node", "milvus", base);
    return new MilvusAdapter(new Client(milvus.default ?? milvus, config), () => performance.now());
  },
  explain: (request) => explainWith(request, { schema: ASSUMED_SCHEMA, reads: new PreparedReads() }),
};
