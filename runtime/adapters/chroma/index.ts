/**
 * Backend `chroma`: a Chroma server through its client. Collections are read by their id, which names alone tell.
 */
import type * as Chroma from "chromadb";
import { BackendError, type BackendErrorKind } from "../../abi/errors.js";
import { compareText, type Filter, type Row } from "../../abi/filter.js";
import type { Adapter, AdapterModule, CollectionInfo, FetchRequest, Page, PageRequest, Route, RowSet, SearchRequest } from "../adapter.js";
import { attempt } from "../attempt.js";
import { inferFields } from "../infer.js";
import { loadPackage } from "../package.js";
import { countedPage, offsetOf, toVector } from "../page.js";
import { PreparedReads } from "../prepared.js";
import { refuseRoute } from "../reduce.js";
import { textSetting } from "../settings.js";
import { Clients } from "./clients.js";
import { explainWith, type Native, nativeOf, searchQuery, type Selected, selected } from "./queries.js";

/** Ids of one request. */
const PAGE = 1000;
/** Matching records whose ids are sorted; of more the store's own order is taken, which is as stable. */
const MAX_SORTED = 10_000;
const SAMPLE_RECORDS = 500;
const FRESH_MS = 30_000;


class ChromaAdapter implements Adapter {
  readonly #ids = new Map<string, { readonly id: string; readonly readAtMs: number }>();
  readonly #reads = new PreparedReads();

  constructor(
    private readonly clients: Clients,
    private readonly now: () => number,
  ) {}

  async health(signal: AbortSignal): Promise<void> {
    await this.#ask(signal, (client) => client.heartbeat());
  }

  async collections(signal: AbortSignal): Promise<readonly string[]> {
    const names: string[] = [];
    for (let offset = 0; ; offset += PAGE) {
      const page = await this.#ask(signal, (client) => client.listCollections({ limit: PAGE, offset }));
      names.push(...page.map(({ name }) => name));
      if (page.length < PAGE) return names.sort();
    }
  }

  async describe(collection: string, signal: AbortSignal): Promise<CollectionInfo | null> {
    try {
      const count = await this.count(collection, null, signal);
      const { embeddings } = await this.#on(collection, signal, (one) => one.get({ limit: 1, include: ["embeddings"] }));
      const fields = inferFields(await this.sample(collection, SAMPLE_RECORDS, signal), () => false);
      return { name: collection, dims: embeddings[0]?.length ?? null, count, sparse: false, fields };
    } catch (error) {
      if (error instanceof BackendError && error.kind === "not_found") return null;
      throw error;
    }
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
    const { collection, fields } = request;
    const query = searchQuery(this.#reads, request);
    if (query === null) {
      await this.#idOf(collection, signal);
      return { rows: [], exact: true };
    }
    // The server fails when one of the ids is not there.
    const ids = query.ids === undefined ? undefined : await this.#matching(collection, query, query.ids.length, signal);
    if (ids?.length === 0) return { rows: [], exact: true };
    const found = await this.#on(collection, signal, (one) => one.query({ ...(query.where === undefined ? {} : { where: query.where as Chroma.Where }), ...(ids === undefined ? {} : { ids: [...ids] }), queryEmbeddings: [query.query], nResults: query.n_results, include: ["metadatas", "distances", "documents"] }));
    const distances = found.distances[0] ?? [];
    const rows = (found.ids[0] ?? []).map((id, index): Row => ({ ...toRow(id, found.metadatas[0]?.[index], found.documents[0]?.[index], fields), _score: scoreOf(distances[index]) }));
    return { rows: rows.sort((a, b) => Number(b["_score"]) - Number(a["_score"]) || compareText(String(a["_id"]), String(b["_id"]))), exact: false };
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<RowSet> {
    const { collection, filter, limit, offset, fields, route } = request;
    refuseRoute("chroma", route);
    const native = nativeOf(this.#reads, { collection, filter });
    const ids = await this.#matching(collection, native, MAX_SORTED + 1, signal);
    const wanted = ids.length > MAX_SORTED ? null : [...ids].sort(compareText).slice(offset, offset + limit);
    if (wanted?.length === 0) return { rows: [], exact: true };
    const which: Selected = wanted === null ? { ...selected(native), limit, offset } : { ids: wanted };
    const found = await this.#on(collection, signal, (one) => one.get({ ...which, include: ["metadatas", "documents"] }));
    const rows = found.ids.map((id, index) => toRow(id, found.metadatas[index], found.documents[index], fields));
    return { rows: wanted === null ? rows : rows.sort((a, b) => compareText(String(a["_id"]), String(b["_id"]))), exact: true };
  }

  async page({ collection, filter, route, limit, after }: PageRequest, signal: AbortSignal): Promise<Page> {
    refuseRoute("chroma", route);
    const native = nativeOf(this.#reads, { collection, filter });
    const offset = offsetOf(after);
    if (native === "none") return { rows: [], next: null };
    const { ids, metadatas, documents, embeddings } = await this.#on(collection, signal, (one) => one.get({ ...selected(native), limit, offset, include: ["metadatas", "documents", "embeddings"] }));
    const rows = ids.map((id, index) => ({ row: toRow(id, metadatas[index], documents[index], null), vector: toVector(embeddings[index]) }));
    return countedPage(rows, ids.length, offset, limit);
  }

  async count(collection: string, filter: Filter | null, signal: AbortSignal, route?: Route): Promise<number> {
    refuseRoute("chroma", route);
    const native = nativeOf(this.#reads, { collection, filter });
    if (native === "all") return this.#on(collection, signal, (one) => one.count());
    return (await this.#matching(collection, native, Number.POSITIVE_INFINITY, signal)).length;
  }

  async sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]> {
    return (await this.fetch({ collection, filter: null, limit: n, offset: 0, fields: null }, signal)).rows;
  }

  async close(): Promise<void> {
    // A client has no connection of its own.
  }

  /** Ids of matching records, in the store's order, up to `most`. */
  async #matching(collection: string, native: Native, most: number, signal: AbortSignal): Promise<readonly string[]> {
    if (native === "none" || (native !== "all" && native.ids?.length === 0)) {
      await this.#idOf(collection, signal);
      return [];
    }
    const ids: string[] = [];
    while (ids.length < most) {
      const page = await this.#on(collection, signal, (one) => one.get({ ...selected(native), limit: Math.min(PAGE, most - ids.length), offset: ids.length, include: [] }));
      ids.push(...page.ids);
      if (page.ids.length < PAGE) break;
    }
    return ids;
  }

  async #idOf(collection: string, signal: AbortSignal): Promise<string> {
    const known = this.#ids.get(collection);
    if (known !== undefined && this.now() - known.readAtMs < FRESH_MS) return known.id;
    const { id } = await this.#ask(signal, (client) => client.getCollection({ name: collection, embeddingFunction: null as unknown as Chroma.EmbeddingFunction }));
    this.#ids.set(collection, { id, readAtMs: this.now() });
    return id;
  }

  /** Work on a collection; once more by its name when the id is gone, as after the collection was made anew. */
  async #on<T>(collection: string, signal: AbortSignal, work: (one: Chroma.Collection) => Promise<T>): Promise<T> {
    const wasKnown = this.#ids.has(collection);
    const id = await this.#idOf(collection, signal);
    try {
      return await this.#ask(signal, (client) => work(client.collection(id)));
    } catch (error) {
      if (!wasKnown || !(error instanceof BackendError) || error.kind !== "not_found") throw error;
    }
    this.#ids.delete(collection);
    const renewed = await this.#idOf(collection, signal);
    return this.#ask(signal, (client) => work(client.collection(renewed)));
  }

  #ask<T>(signal: AbortSignal, work: (client: Chroma.ChromaClient) => Promise<T>): Promise<T> {
    return attempt(signal, async () => {
      try {
        return await this.clients.use(signal, work);
      } catch (error) {
        signal.throwIfAborted();
        throw chromaError(error);
      }
    });
  }
}

const KINDS: { readonly [name: string]: readonly [BackendErrorKind, string] } = {
  ChromaConnectionError: ["unreachable", "does not answer"],
  ChromaUnauthorizedError: ["auth", "refuses the credentials"],
  ChromaForbiddenError: ["auth", "refuses the credentials"],
  ChromaNotFoundError: ["not_found", "has no such collection"],
  ChromaClientError: ["bad_request", "refuses the request"],
  ChromaValueError: ["bad_request", "refuses the request"],
  InvalidArgumentError: ["bad_request", "refuses the request"],
  InvalidCollectionError: ["bad_request", "refuses the request"],
  ChromaQuotaExceededError: ["rate_limited", "has a quota that is used up"],
  ChromaRateLimitError: ["rate_limited", "gets too many requests"],
};

/** The client has a class for each answer; messages of the server stay in the cause. */
function chromaError(error: unknown): unknown {
  if (error instanceof BackendError || !(error instanceof Error)) return error;
  const [kind, words] = KINDS[error.name] ?? ["internal", "failed"];
  return new BackendError(kind, "chroma", `the store ${words}`, { cause: error });
}

/** Distances of every kind are near where they are small. */
function scoreOf(distance: number | null | undefined): number {
  return typeof distance === "number" && Number.isFinite(distance) ? 1 / (1 + Math.max(0, distance)) : 0;
}

function toRow(id: string, metadata: Chroma.Metadata | null | undefined, document: string | null | undefined, fields: readonly string[] | null): Row {
  const shown = document !== null && document !== undefined && (fields === null || fields.includes("_document"));
  return { ...metadata, ...(shown ? { _document: document } : {}), _id: id };
}

/** The port of the URL, else that of https, else Chroma's own. */
function portOf(url: URL): number {
  return url.port !== "" ? Number(url.port) : url.protocol === "https:" ? 443 : 8000;
}

export const adapter: AdapterModule = {
  backend: "chroma",
  async open(settings, { base }) {
    const address = textSetting(settings, "url");
    if (address === null || !URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) throw new BackendError("bad_request", "chroma", "the url of the connection is no http or https address");
    const { ChromaClient } = await loadPackage<typeof Chroma>("chromadb", "chroma", base);
    const url = new URL(address);
    const token = textSetting(settings, "auth_token");
    const headers = token === null ? {} : { Authorization: /^bearer /i.test(token) ? token : `Bearer ${token}` };
    const clients = new Clients((signal) => new ChromaClient({ host: url.hostname, port: portOf(url), ssl: url.protocol === "https:", tenant: "default_tenant", database: "default_database", headers, fetchOptions: { signal } }));
    return new ChromaAdapter(clients, () => performance.now());
  },
  explain: (request) => explainWith(new PreparedReads(), request),
};
