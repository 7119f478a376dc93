/**
 * Backend `weaviate`: a Weaviate server through its client. Properties have declared types, so the schema of a
 * collection is read before a filter is written. A native tenant is a wall beside the filter, never instead of it.
 */
import type * as Weaviate from "weaviate-client";
import { BackendError } from "../../abi/errors.js";
import { compareText, evaluate, type Filter, type Row } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import type { Adapter, AdapterModule, CollectionInfo, FetchRequest, Page, PageRequest, ReadRequest, Route, RowSet, SearchRequest, Settings } from "../adapter.js";
import { loadPackage } from "../package.js";
import { countedPage, offsetOf, toVector } from "../page.js";
import { refuse, refuseRoute } from "../reduce.js";
import { textSetting } from "../settings.js";
import { Client, type Config, type Endpoint } from "./client.js";
import { compileFilter, type WeaviateFilter } from "./filter.js";
import { type Declared, type Properties, propertiesOf } from "./properties.js";

/** How long the schema of a collection is taken as read. */
const FRESH_MS = 30_000;
/** Most rows of one request, offset included (QUERY_MAXIMUM_RESULTS of a server that has the default). */
const MAX_ROWS = 10_000;
const GRPC_PORT = 50_051;

interface Schema {
  readonly properties: Exclude<Properties, null>;
  /** Name of the vectors; null: the only ones, without a name. */
  readonly vector: string | null;
  /** The server makes vectors of texts. */
  readonly vectorizes: boolean;
}

type Collection = Weaviate.Collection<undefined, string>;
type Mode = "auto" | "client" | "server";

class WeaviateAdapter implements Adapter {
  readonly #known = new Map<string, { readonly schema: Schema; readonly readAtMs: number }>();

  constructor(
    private readonly client: Client,
    /** Tenant of reads that no plan names: descriptions and samples. */
    private readonly tenant: string | null,
    private readonly mode: Mode,
    private readonly now: () => number,
  ) {}

  async health(signal: AbortSignal): Promise<void> {
    await this.collections(signal);
  }

  async collections(signal: AbortSignal): Promise<readonly string[]> {
    const all = await this.client.ask(signal, (client) => client.collections.listAll());
    return all.map(({ name }) => name).sort();
  }

  async describe(collection: string, signal: AbortSignal): Promise<CollectionInfo | null> {
    try {
      const { properties, vector } = await this.#readSchema(collection, signal);
      const count = await this.count(collection, null, signal, this.#ownRoute());
      const { objects } = await this.#on(collection, this.#ownRoute(), signal, (one) => one.query.fetchObjects({ limit: 1, includeVector: true }));
      const found: unknown = objects[0]?.vectors[vector ?? "default"];
      const fields = [...properties].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, { dtype, filterable, searchable }]) => ({ path, dtype, nullable: true, indexed: filterable || searchable }));
      return { name: collection, dims: Array.isArray(found) ? found.length : null, count, sparse: [...properties.values()].some(({ searchable }) => searchable), fields };
    } catch (error) {
      if (error instanceof BackendError && error.kind === "not_found") return null;
      throw error;
    }
  }

  async embedsText(collection: string, signal: AbortSignal): Promise<boolean> {
    if (this.mode === "client") return false;
    const { vectorizes } = await this.#schema(collection, signal);
    if (this.mode === "server" && !vectorizes) throw new BackendError("unsupported", "weaviate", "embedding_mode is server, but the collection has no vectorizer");
    return vectorizes;
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseOthers(request.route);
    return this.#withSchema(request.collection, signal, (schema) => this.#search(request, schema, signal));
  }

  async #search(request: SearchRequest, schema: Schema, signal: AbortSignal): Promise<RowSet> {
    const { collection, vector, text, mode, filter, alpha, route } = request;
    const filters = compiled(filter, schema.properties);
    if (filters === "none") return { rows: [], exact: true };
    if (mode === "hybrid" && ![...schema.properties.values()].some(({ searchable }) => searchable)) throw new BackendError("unsupported", "weaviate", "the collection has no property that is indexed for words, which hybrid search needs (VB2013)");
    const options = {
      limit: Math.min(request.limit, MAX_ROWS), returnMetadata: ["distance", "certainty", "score"] as ("distance" | "certainty" | "score")[],
      ...(filters === "all" ? {} : { filters: filters as Weaviate.FilterValue }), ...shown(request.fields, filter, schema), ...(schema.vector === null ? {} : { targetVector: schema.vector }),
    };
    const { objects } = await this.#on(collection, route, signal, (one) => {
      if (mode === "hybrid" && text !== null) return one.query.hybrid(text, { ...options, alpha, ...(vector === null ? {} : { vector: [...vector] }) });
      if (vector !== null) return one.query.nearVector([...vector], options);
      return text === null || !schema.vectorizes ? refuse("weaviate", "a search without a vector") : one.query.nearText(text, options);
    });
    const rows = objects.map((found): Row => ({ ...toRow(found), _score: scoreOf(found.metadata, mode) })).filter((row) => isMeant(filter, row));
    return { rows: rows.sort((a, b) => Number(b["_score"]) - Number(a["_score"]) || byId(a, b)), exact: false };
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseOthers(request.route);
    return this.#withSchema(request.collection, signal, (schema) => this.#fetch(request, schema, signal));
  }

  async #fetch({ collection, filter, limit, offset, fields, route }: FetchRequest, schema: Schema, signal: AbortSignal): Promise<RowSet> {
    const filters = compiled(filter, schema.properties);
    if (filters === "none") return { rows: [], exact: true };
    const { objects } = await this.#on(collection, route, signal, (one) => one.query.fetchObjects({
      limit: Math.min(limit, MAX_ROWS - Math.min(offset, MAX_ROWS - 1)), offset, ...(filters === "all" ? {} : { filters: filters as Weaviate.FilterValue }), ...shown(fields, filter, schema),
      sort: BY_ID,
    }));
    return { rows: objects.map(toRow).filter((row) => isMeant(filter, row)), exact: true };
  }

  /** All objects by a cursor, which the server has without a filter only; else by counting, as far as it counts. */
  async page({ collection, filter, route = this.#ownRoute(), limit, after }: PageRequest, signal: AbortSignal): Promise<Page> {
    refuseOthers(route);
    return this.#withSchema(collection, signal, async ({ properties, vector }) => {
      const filters = compiled(filter, properties);
      const offset = offsetOf(after);
      if (filters === "none" || offset >= MAX_ROWS) return { rows: [], next: null };
      const place = filters === "all" ? (typeof after === "string" ? { after } : {}) : { offset, filters: filters as Weaviate.FilterValue, sort: BY_ID };
      const most = Math.min(limit, MAX_ROWS - offset);
      const { objects } = await this.#on(collection, route, signal, (one) => one.query.fetchObjects({ limit: most, includeVector: true, ...place }));
      const rows = objects.map((found) => ({ row: toRow(found), vector: toVector(found.vectors[vector ?? "default"]) })).filter(({ row }) => isMeant(filter, row));
      const { next } = countedPage(rows, objects.length, offset, most);
      return { rows, next: filters === "all" && next !== null ? objects.at(-1)?.uuid ?? null : next };
    });
  }

  async count(collection: string, filter: Filter | null, signal: AbortSignal, route?: Route): Promise<number> {
    refuseOthers(route);
    return this.#withSchema(collection, signal, async ({ properties }) => {
      const filters = compiled(filter, properties);
      if (filters === "none") return 0;
      const { totalCount } = await this.#on(collection, route, signal, (one) => one.aggregate.overAll(filters === "all" ? {} : { filters: filters as Weaviate.FilterValue }));
      return totalCount;
    });
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    const route = this.#ownRoute();
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null, ...(route === undefined ? {} : { route }) }, signal)).rows;
  }

  explain(request: ReadRequest): Json {
    const collection = "search" in request ? request.search.collection : "fetch" in request ? request.fetch.collection : request.count.collection;
    return explainWith(request, this.#known.get(collection)?.schema.properties ?? null);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  #ownRoute(): Route | undefined {
    return this.tenant === null ? undefined : { tenant: this.tenant };
  }

  #on<T>(collection: string, route: Route | undefined, signal: AbortSignal, work: (one: Collection) => Promise<T>): Promise<T> {
    const tenant = route?.tenant;
    return this.client.ask(signal, (client) => {
      const all = client.collections.get(collection);
      return work(tenant === undefined || tenant === null ? (all as Collection) : (all.withTenant(String(tenant)) as Collection));
    });
  }

  /** Work on a collection; once more with its schema read anew when the server refuses what the known one allows. */
  async #withSchema<T>(collection: string, signal: AbortSignal, work: (schema: Schema) => Promise<T>): Promise<T> {
    const wasKnown = this.#known.has(collection);
    const schema = await this.#schema(collection, signal);
    try {
      return await work(schema);
    } catch (error) {
      if (!wasKnown || !(error instanceof BackendError) || error.kind !== "bad_request") throw error;
    }
    return work(await this.#readSchema(collection, signal));
  }

  async #schema(collection: string, signal: AbortSignal): Promise<Schema> {
    signal.throwIfAborted();
    const known = this.#known.get(collection);
    return known !== undefined && this.now() - known.readAtMs < FRESH_MS ? known.schema : this.#readSchema(collection, signal);
  }

  async #readSchema(collection: string, signal: AbortSignal): Promise<Schema> {
    const { properties, vectorizers } = await this.client.ask(signal, (client) => client.collections.get(collection).config.get());
    const names = Object.keys(vectorizers);
    const vector = names.includes("default") ? null : names[0] ?? null;
    const vectorizer = vectorizers[vector ?? "default"]?.vectorizer.name;
    const schema: Schema = { properties: propertiesOf(properties as unknown as readonly Declared[]), vector, vectorizes: vectorizer !== undefined && vectorizer !== null && !/none|self_?provided/i.test(vectorizer) };
    this.#known.set(collection, { schema, readAtMs: this.now() });
    return schema;
  }
}

/** The client has no method for it, and the server sorts by this name. */
const BY_ID = { sorts: [{ property: "_id", ascending: true }] } as unknown as Weaviate.Sorting<undefined>;

function refuseOthers(route: Route | undefined): void {
  refuseRoute("weaviate", route?.namespace === undefined ? undefined : { namespace: route.namespace });
}

function compiled(filter: Filter | null, properties: Properties): WeaviateFilter | "all" | "none" {
  return filter === null ? "all" : compileFilter(filter, properties);
}

/** Properties to send: those asked for, and those that rows are compared by once more. */
function shown(fields: readonly string[] | null, filter: Filter | null, { properties }: Schema): { readonly returnProperties?: string[] } {
  if (fields === null) return {};
  return { returnProperties: [...new Set([...fields, ...pathsOf(filter)])].filter((name) => properties.has(name)) };
}

function pathsOf(filter: Filter | null): readonly string[] {
  if (filter === null) return [];
  if ("and" in filter) return filter.and.flatMap(pathsOf);
  return "or" in filter ? filter.or.flatMap(pathsOf) : [filter.path];
}

/** The server drops spaces around texts when it compares them; a row that passed only so is dropped. */
function isMeant(filter: Filter | null, row: Row): boolean {
  return filter === null || evaluate(withoutPatterns(filter), row);
}

/** Patterns and words are the server's own: it tells upper from lower case by the property's index. */
function withoutPatterns(filter: Filter): Filter {
  if ("and" in filter) return { and: filter.and.map(withoutPatterns) };
  if ("or" in filter) return { or: filter.or.map(withoutPatterns) };
  return filter.op === "like" || filter.op === "text_match" ? { path: filter.path, op: "like", value: "%" } : filter;
}

function toRow({ uuid, properties }: { readonly uuid: string; readonly properties: object }): Row {
  return { ...(JSON.parse(JSON.stringify(properties)) as Row), _id: uuid };
}

function byId(a: Row, b: Row): number {
  return compareText(String(a["_id"]), String(b["_id"]));
}

/** The score of words and vectors together; of vectors alone, certainty, which cosine distances have, or nearness. */
function scoreOf(found: { readonly score?: number; readonly certainty?: number; readonly distance?: number } | undefined, mode: SearchRequest["mode"]): number {
  const { score, certainty, distance } = found ?? {};
  const value = mode === "hybrid" ? score : distance !== undefined && certainty !== undefined && certainty > 0 ? certainty : distance === undefined ? undefined : 1 / (1 + Math.max(0, distance));
  return value !== undefined && Number.isFinite(value) ? value : 0;
}

function explainWith(request: ReadRequest, properties: Properties): Json {
  const { collection, filter, route } = "search" in request ? request.search : "fetch" in request ? request.fetch : request.count;
  const filters = compiled(filter, properties);
  const where = { collection, ...(route?.tenant === undefined ? {} : { tenant: route.tenant }), ...(filters === "none" ? { nothing: true } : filters === "all" ? {} : { filters }) };
  if ("count" in request) return { ...where, aggregate: "count" } as Json;
  if ("fetch" in request) return { ...where, limit: request.fetch.limit, offset: request.fetch.offset } as Json;
  const { vector, text, mode, alpha, limit } = request.search;
  return { ...where, ...(mode === "hybrid" ? { hybrid: text, alpha } : vector === null ? { nearText: text } : {}), ...(vector === null ? {} : { vector: `<vector of ${vector.length}>` }), limit } as Json;
}

function endpointOf(address: string, port: number | null): Endpoint {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) throw new BackendError("bad_request", "weaviate", "the url of the connection is no http or https address");
  const url = new URL(address);
  const secure = url.protocol === "https:";
  return { host: url.hostname, secure, port: url.port !== "" ? Number(url.port) : port ?? (secure ? 443 : 8080) };
}

function configOf(settings: Settings): Config {
  const http = endpointOf(textSetting(settings, "url") ?? "", null);
  const grpc = textSetting(settings, "grpc_url");
  return { http, grpc: grpc === null ? { ...http, port: GRPC_PORT } : endpointOf(grpc, GRPC_PORT), apiKey: textSetting(settings, "api_key") };
}

export const adapter: AdapterModule = {
  backend: "weaviate",
  async open(settings, { base }) {
    const config = configOf(settings);
    const mode = textSetting(settings, "embedding_mode") ?? "auto";
    const found = await loadPackage<typeof Weaviate>("weaviate-client", "weaviate", base);
    return new WeaviateAdapter(new Client(found, config), textSetting(settings, "tenant"), mode as Mode, () => performance.now());
  },
  explain: (request) => explainWith(request, null),
};
