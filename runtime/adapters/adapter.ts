/**
 * The narrow interface of a store: read-only by construction, there is no write method to call.
 * An adapter gets bound requests and returns plain rows; it knows nothing of tools, tenants or MCP.
 * `index.ts` of each backend does I/O; `filter.ts` beside it is pure and also used by the compiler.
 */
import type { Filter, Row } from "../abi/filter.js";
import type { BackendName, Json } from "../abi/plan.js";

/** Connection settings with every environment reference filled in. */
export type Settings = { readonly [key: string]: Json };

export interface OpenOptions {
  /** Absolute folder against which relative paths in the settings are resolved. */
  readonly base: string;
  /** File name of the catalog and its name for the connection, for messages that name a command. */
  readonly from?: { readonly catalog: string; readonly connection: string };
}

/** Isolation by address: values of the connection's namespace or tenant, filled in. */
export interface Route {
  readonly namespace?: Json;
  readonly tenant?: Json;
}

/** A search by vector and/or text. At least one of `vector` and `text` is given. */
export interface SearchRequest {
  readonly collection: string;
  readonly vector: Float32Array | null;
  readonly text: string | null;
  readonly mode: "dense" | "hybrid";
  /** Weight of the dense part in hybrid mode, 0–1, where the backend has one. */
  readonly alpha: number;
  readonly filter: Filter | null;
  /** The part of the store that is read. An adapter carries it out or refuses the request: `refuseRoute`. */
  readonly route?: Route;
  /** 1–20000. */
  readonly limit: number;
  /** Top-level payload keys the caller will use; `null` means all. A hint: more may come back. */
  readonly fields: readonly string[] | null;
  readonly ef?: number;
  /** Compare every row that passes the filter instead of using an index. A store that cannot says so by `exact: false` of its rows. */
  readonly exact?: true;
  /** `provider/model` that made `vector`; a store that knows its vectors' model refuses another. */
  readonly embeddedBy?: string;
}

/** A filter-only read in ascending record-id order. */
export interface FetchRequest {
  readonly collection: string;
  readonly filter: Filter | null;
  /** As of a search. */
  readonly route?: Route;
  readonly limit: number;
  readonly offset: number;
  readonly fields: readonly string[] | null;
}

/** A read of whole rows with their vectors, for a copy of a collection; never for answering a caller. */
export interface PageRequest {
  readonly collection: string;
  readonly filter: Filter | null;
  /** As of a search. */
  readonly route?: Route;
  /** 1–1000. */
  readonly limit: number;
  /** `next` of the page before; `null` for the first page. */
  readonly after: Json;
}

export interface StoredRow {
  readonly row: Row;
  /** `null` where the row has none, or several. */
  readonly vector: Float32Array | null;
}

/** Rows in an order of the store's own. A page may have fewer than were asked for, also before the last. */
export interface Page {
  readonly rows: readonly StoredRow[];
  /** Where the next page starts; `null` after the last. */
  readonly next: Json;
}

/** Rows, best first for a search. Each has `_id` (string or number) and, from a search, `_score` (higher is better). */
export interface RowSet {
  readonly rows: readonly Row[];
  /** The store compared every candidate; false where it used an approximate index. */
  readonly exact: boolean;
}

export interface FieldInfo {
  readonly path: string;
  readonly dtype: "keyword" | "integer" | "float" | "boolean" | "datetime" | "keyword[]" | "unknown";
  readonly nullable: boolean;
  readonly indexed: boolean;
  /** The type is what a sample of the rows has, not what the store declares or has counted. */
  readonly sampled?: true;
}

export interface CollectionInfo {
  readonly name: string;
  readonly dims: number | null;
  readonly count: number;
  readonly sparse: boolean;
  /** `provider/model` of its vectors, where the store keeps it. */
  readonly embeddedBy?: string;
  readonly fields: readonly FieldInfo[];
  /** The space of its vectors, where the store has recorded one. */
  readonly space?: string;
  /** What an index can be made of, and the indexes there are, each as its columns in order; absent where a store does not say. */
  readonly indexing?: { readonly columns: readonly string[]; readonly indexes: readonly (readonly string[])[] };
}

/** What a read costs in the store as it is now, for people. */
export interface ReadCost {
  /** Rows of the collection. */
  readonly rows: number;
  /** Rows that pass the filter, counted. A search compares the vectors of these. */
  readonly matching: number;
  /** Rows that are looked at to find them, as the store estimates; `null` where it does not know. */
  readonly examined: number | null;
  /** Fields of the index that finds them; `null` when every row is looked at. */
  readonly index: string | null;
  /** The plan in the store's own words. */
  readonly plan: readonly string[];
}

/**
 * An open store. Every method rejects with `BackendError` (never a client's own error) and stops early
 * when `signal` aborts.
 */
export interface Adapter {
  health(signal: AbortSignal): Promise<void>;
  /** Collection names, sorted. */
  collections(signal: AbortSignal): Promise<readonly string[]>;
  /** `null` when there is no such collection. */
  describe(collection: string, signal: AbortSignal): Promise<CollectionInfo | null>;
  search(request: SearchRequest, signal: AbortSignal): Promise<RowSet>;
  /** Whether the store makes vectors of query texts itself, so that a search gives it the text alone; absent: it never does. */
  embedsText?(collection: string, signal: AbortSignal): Promise<boolean>;
  fetch(request: FetchRequest, signal: AbortSignal): Promise<RowSet>;
  count(collection: string, filter: Filter | null, signal: AbortSignal, route?: Route): Promise<number>;
  /** Up to `n` rows in record-id order, for inference; never for answering a caller. */
  sample(collection: string, n: number, signal: AbortSignal): Promise<readonly Row[]>;
  /** Every row that passes the filter, page by page; absent: the store's rows cannot be copied. */
  page?(request: PageRequest, signal: AbortSignal): Promise<Page>;
  /** As the module's `explain`, with what only the open store knows (the columns of a table); absent: it knows no more. */
  explain?(request: ReadRequest): Json;
  /** What a read costs; absent: the store does not say. */
  cost?(request: ReadRequest, signal: AbortSignal): Promise<ReadCost>;
  close(): Promise<void>;
}

/** A read to explain. */
export type ReadRequest =
  | { readonly search: SearchRequest }
  | { readonly fetch: FetchRequest }
  | { readonly count: { readonly collection: string; readonly filter: Filter | null; readonly route?: Route } };

/** What each `adapters/<backend>/index.ts` exports as `adapter`. */
export interface AdapterModule {
  readonly backend: BackendName;
  open(settings: Settings, options: OpenOptions): Promise<Adapter>;
  /** The native query that `search`/`fetch`/`count` would send with these settings; pure, for `explain` and `--show-plan`. */
  explain(request: ReadRequest, settings: Settings): Json;
}
