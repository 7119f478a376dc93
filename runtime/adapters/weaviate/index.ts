/**
 * Backend `weaviate`: a Weaviate server through its client. Properties have declared types, so the schema of a
 * collection is read before a filter is written. A native tenant is a wall beside the filter, never instead of it.
 */
import { isDeepStrictEqual } from "node:util";
import type * as Weaviate from "weaviate-client";
import { BackendError } from "../../abi/errors.js";
import { compareText, evaluate, type Filter, type Row } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import type { Adapter, AdapterModule, CollectionInfo, FetchRequest, Page, PageRequest, ReadRequest, Route, RowSet, SearchRequest, Settings } from "../adapter.js";
import { loadPackage } from "../package.js";
import { countedPage, offsetOf, toVector } from "../page.js";
import { PreparedReads } from "../prepared.js";
import { refuseRoute } from "../reduce.js";
import { textSetting } from "../settings.js";
import { Client, type Config, type Endpoint } from "./client.js";
import { type Declared, type Properties, propertiesOf } from "./properties.js";
import { ASSUMED, BY_ID, countQuery, explainWith, fetchQuery, type Known, MAX_ROWS, type Schema, searchQuery, sortable } from "./queries.js";

/** How long the schema of a collection is taken as read. */
const FRESH_MS = 30_000;
const GRPC_PORT = 50_051;

type Collection = Weaviate.Collection<undefined, string>;
type Declarations = Exclude<Properties, null>;
type Mode = "auto" | "client" | "server";

class WeaviateAdapter implements Adapter {
  readonly #known = new Map<string, Known<Declarations> & { readonly readAtMs: number }>();

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
      const { schema: { properties, vector } } = await this.#readSchema(collection, signal);
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
    const { schema: { vectorizes } } = await this.#schema(collection, signal);
    if (this.mode === "server" && !vectorizes) throw new BackendError("unsupported", "weaviate", "embedding_mode is server, but the collection has no vectorizer");
    return vectorizes;
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseOthers(request.route);
    return this.#withSchema(request.collection, signal, (known) => this.#search(request, known, signal));
  }

  async #search(request: SearchRequest, known: Known, signal: AbortSignal): Promise<RowSet> {
    const query = searchQuery(known, request);
    if (query === null) return { rows: [], exact: true };
    const { collection, filter, mode, route } = request;
    const options = query.options as Weaviate.BaseNearTextOptions<undefined, undefined, undefined>;
    const { objects } = await this.#on(collection, route, signal, (one) => {
      switch (query.by) {
        case "hybrid":
          return one.query.hybrid(query.text, options);
        case "vector":
          return one.query.nearVector(query.vector, options);
        case "text":
          return one.query.nearText(query.text, options);
        default:
          return query satisfies never;
      }
    });
    const isMeant = meaningOf(filter);
    const rows: Row[] = [];
    for (const found of objects) {
      const row = toRow(found);
      row["_score"] = scoreOf(found.metadata, mode);
      if (isMeant(row)) rows.push(row);
    }
    return { rows: rows.sort((a, b) => Number(b["_score"]) - Number(a["_score"]) || byId(a, b)), exact: false };
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<RowSet> {
    refuseOthers(request.route);
    return this.#withSchema(request.collection, signal, (known) => this.#fetch(request, known, signal));
  }

  async #fetch(request: FetchRequest, known: Known, signal: AbortSignal): Promise<RowSet> {
    const query = fetchQuery(known, request);
    if (query === null) return { rows: [], exact: true };
    const { collection, filter, route } = request;
    const { objects } = await this.#on(collection, route, signal, (one) => one.query.fetchObjects(query as Weaviate.FetchObjectsOptions<undefined, undefined>));
    return { rows: objects.map(toRow).filter(meaningOf(filter)), exact: true };
  }

  /** All objects by a cursor, which the server has without a filter only; else by counting, as far as it counts. */
  async page({ collection, filter, route = this.#ownRoute(), limit, after }: PageRequest, signal: AbortSignal): Promise<Page> {
    refuseOthers(route);
    return this.#withSchema(collection, signal, async (known) => {
      const selection = countQuery(known, { collection, filter });
      const offset = offsetOf(after);
      if (selection === null || offset >= MAX_ROWS) return { rows: [], next: null };
      const place = selection.filters === undefined ? (typeof after === "string" ? { after } : {}) : { offset, filters: (sortable(selection).filters ?? selection.filters) as Weaviate.FilterValue, sort: BY_ID as unknown as Weaviate.Sorting<undefined> };
      const most = Math.min(limit, MAX_ROWS - offset);
      const { objects } = await this.#on(collection, route, signal, (one) => one.query.fetchObjects({ limit: most, includeVector: true, ...place }));
      const isMeant = meaningOf(filter);
      const rows = objects.map((found) => ({ row: toRow(found), vector: toVector(found.vectors[known.schema.vector ?? "default"]) })).filter(({ row }) => isMeant(row));
      const { next } = countedPage(rows, objects.length, offset, most);
      return { rows, next: selection.filters === undefined && next !== null ? objects.at(-1)?.uuid ?? null : next };
    });
  }

  async count(collection: string, filter: Filter | null, signal: AbortSignal, route?: Route): Promise<number> {
    refuseOthers(route);
    return this.#withSchema(collection, signal, async (known) => {
      const query = countQuery(known, { collection, filter });
      if (query === null) return 0;
      const { totalCount } = await this.#on(collection, route, signal, (one) => one.aggregate.overAll(query as { filters?: Weaviate.FilterValue }));
      return totalCount;
    });
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    const route = this.#ownRoute();
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null, ...(route === undefined ? {} : { route }) }, signal)).rows;
  }

  explain(request: ReadRequest): Json {
    const collection = "search" in request ? request.search.collection : "fetch" in request ? request.fetch.collection : request.count.collection;
    return explainWith(request, this.#known.get(collection) ?? { schema: ASSUMED, reads: new PreparedReads() });
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
  async #withSchema<T>(collection: string, signal: AbortSignal, work: (known: Known) => Promise<T>): Promise<T> {
    const wasKnown = this.#known.has(collection);
    const known = await this.#schema(collection, signal);
    try {
      return await work(known);
    } catch (error) {
      if (!wasKnown || !(error instanceof BackendError) || error.kind !== "bad_request") throw error;
    }
    return work(await this.#readSchema(collection, signal));
  }

  async #schema(collection: string, signal: AbortSignal): Promise<Known<Declarations>> {
    signal.throwIfAborted();
    const known = this.#known.get(collection);
    return known !== undefined && this.now() - known.readAtMs < FRESH_MS ? known : this.#readSchema(collection, signal);
  }

  async #readSchema(collection: string, signal: AbortSignal): Promise<Known<Declarations>> {
    const { properties, vectorizers } = await this.client.ask(signal, (client) => client.collections.get(collection).config.get());
    const names = Object.keys(vectorizers);
    const vector = names.includes("default") ? null : names[0] ?? null;
    const vectorizer = vectorizers[vector ?? "default"]?.vectorizer.name;
    const schema: Schema<Declarations> = { properties: propertiesOf(properties as unknown as readonly Declared[]), vector, vectorizes: vectorizer !== undefined && vectorizer !== null && !/none|self_?provided/i.test(vectorizer) };
    const before = this.#known.get(collection);
    // Queries are compiled for a schema; most often it has not changed.
    const reads = before !== undefined && isDeepStrictEqual(before.schema, schema) ? before.reads : new PreparedReads();
    const known = { schema, reads, readAtMs: this.now() };
    this.#known.set(collection, known);
    return known;
  }
}

function refuseOthers(route: Route | undefined): void {
  refuseRoute("weaviate", route?.namespace === undefined ? undefined : { namespace: route.namespace });
}

/** The server drops spaces around texts when it compares them; a row that passed only so is dropped. */
function meaningOf(filter: Filter | null): (row: Row) => boolean {
  const meant = filter === null ? null : withoutPatterns(filter);
  return (row) => evaluate(meant, row);
}

/** Patterns and words are the server's own: it tells upper from lower case by the property's index. */
function withoutPatterns(filter: Filter): Filter {
  if ("and" in filter) return { and: filter.and.map(withoutPatterns) };
  if ("or" in filter) return { or: filter.or.map(withoutPatterns) };
  return filter.op === "like" || filter.op === "text_match" ? { path: filter.path, op: "like", value: "%" } : filter;
}

function toRow({ uuid, properties }: { readonly uuid: string; readonly properties: object }): Row {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(properties)) {
    const plain = plainOf(value);
    if (plain !== undefined) entries.push([name, plain]);
  }
  // Not by assignment: a property may be named __proto__.
  const row: Row = Object.fromEntries(entries);
  row["_id"] = uuid;
  return row;
}

/** A value as JSON has it: the client makes dates and classes of some. Plain values, which most are, need no copy. */
function plainOf(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  // JSON has no -0.
  if (typeof value === "number" && Number.isFinite(value)) return value + 0;
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
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
  explain: (request) => explainWith(request, { schema: ASSUMED, reads: new PreparedReads() }),
};
