/**
 * The queries of this adapter, compiled once for each shape of a read. Pure: `search`, `fetch` and `count` send what
 * `explain` shows, from the same templates.
 */
import { BackendError } from "../../abi/errors.js";
import type { Json } from "../../abi/plan.js";
import type { FetchRequest, ReadRequest, SearchRequest } from "../adapter.js";
import { type Given, laterAll, later, place } from "../hole.js";
import { toNumbers } from "../numbers.js";
import type { CountRequest, PreparedReads, SearchShape } from "../prepared.js";
import { refuse } from "../reduce.js";
import type { Shape } from "../shape.js";
import { compileFilter, type WeaviateFilter } from "./filter.js";
import type { Properties } from "./properties.js";

/** Most rows of one request, offset included (QUERY_MAXIMUM_RESULTS of a server that has the default). */
export const MAX_ROWS = 10_000;

export interface Schema<P extends Properties = Properties> {
  /** Null: nobody has looked. */
  readonly properties: P;
  /** Name of the vectors; null: the only ones, without a name. */
  readonly vector: string | null;
  /** The server makes vectors of texts. */
  readonly vectorizes: boolean;
}

/** A collection nobody has looked at. */
export const ASSUMED: Schema<null> = { properties: null, vector: null, vectorizes: true };

/** A collection, and what was compiled for its schema. */
export interface Known<P extends Properties = Properties> {
  readonly schema: Schema<P>;
  readonly reads: PreparedReads;
}

interface Selection {
  readonly filters?: WeaviateFilter;
  readonly returnProperties?: string[];
}

interface Options extends Selection {
  readonly limit: number;
  readonly returnMetadata: readonly ("distance" | "certainty" | "score")[];
  readonly targetVector?: string;
  readonly alpha?: number;
  readonly vector?: number[];
}

/** A search as the client takes it. */
export type Query =
  | { readonly by: "vector"; readonly vector: number[]; readonly options: Options }
  | { readonly by: "text" | "hybrid"; readonly text: string; readonly options: Options };

/** Null where nothing can be found, as of the others. */
export function searchQuery({ schema, reads }: Known, request: SearchRequest, isShown = false): Query | null {
  return reads.search(request, "", (shape) => compileSearch(shape, schema), isShown);
}

function compileSearch({ filter, vector, text, mode, alpha, limit, fields }: SearchShape, schema: Schema): Query | null {
  const selection = select(filter, fields, schema);
  if (selection === null) return null;
  if (mode === "hybrid" && schema.properties !== null && ![...schema.properties.values()].some(({ searchable }) => searchable)) throw new BackendError("unsupported", "weaviate", "the collection has no property that is indexed for words, which hybrid search needs (VB2013)");
  const options: Options = {
    limit: later(limit, (rows) => Math.min(rows, MAX_ROWS)), returnMetadata: ["distance", "certainty", "score"],
    ...selection, ...(schema.vector === null ? {} : { targetVector: schema.vector }),
  };
  if (mode === "hybrid" && text !== null) return { by: "hybrid", text: place(text), options: { ...options, alpha, ...(vector === null ? {} : { vector: unwritten(vector) }) } };
  if (vector !== null) return { by: "vector", vector: unwritten(vector), options };
  return text === null || !schema.vectorizes ? refuse("weaviate", "a search without a vector") : { by: "text", text: place(text), options };
}

/**
 * The client writes the whole vector into the text of an error that it makes before each search, in case it needs one:
 * that takes longer than all that is done here, so the list is short as a text. (weaviate-client 3, Serialize.vectors)
 */
function unwritten(vector: Given<Float32Array>): number[] {
  return later(vector, (numbers) => Object.defineProperty(toNumbers(numbers), "toString", { value: () => `a vector of ${numbers.length} numbers` }));
}

/** The client has no method for it, and the server sorts by this name. */
export const BY_ID = { sorts: [{ property: "_id", ascending: true }] };

interface PageQuery extends Selection {
  readonly limit: number;
  readonly offset: number;
  readonly sort: typeof BY_ID;
}

export function fetchQuery({ schema, reads }: Known, request: FetchRequest): PageQuery | null {
  return reads.fetch(request, "", ({ filter, fields, limit, offset }): PageQuery | null => {
    const selection = select(filter, fields, schema);
    return selection === null ? null : {
      limit: laterAll([limit, offset], ([rows = 0, skipped = 0]) => Math.min(rows, MAX_ROWS - Math.min(skipped, MAX_ROWS - 1))), offset: place(offset), ...selection, ...sortable(selection),
      sort: BY_ID,
    };
  });
}

/**
 * The filter of a read that is sorted. Of a single condition the server (1.35) takes the first `limit` rows in the order of
 * its values, and sorts those; of two it takes all. Equality has one value.
 * https://github.com/weaviate/weaviate/blob/v1.35.2/adapters/repos/db/inverted/prop_value_pairs.go#L94
 */
export function sortable({ filters }: Selection): { readonly filters?: WeaviateFilter } {
  if (filters === undefined || "filters" in filters) return {};
  return filters.operator === "Equal" || filters.operator === "NotEqual" ? {} : { filters: { operator: "And", filters: [filters, filters], value: null } };
}

export function countQuery({ schema, reads }: Known, request: CountRequest): Selection | null {
  return reads.count(request, "", ({ filter }) => select(filter, null, schema));
}

function select(filter: Shape | null, fields: readonly string[] | null, { properties }: Schema): Selection | null {
  const filters = filter === null ? "all" : compileFilter(filter, properties);
  return filters === "none" ? null : { ...(filters === "all" ? {} : { filters }), ...shown(fields, filter, properties) };
}

/** Properties to send: those asked for, and those that rows are compared by once more. */
function shown(fields: readonly string[] | null, filter: Shape | null, properties: Properties): { readonly returnProperties?: string[] } {
  if (fields === null || properties === null) return {};
  return { returnProperties: [...new Set([...fields, ...pathsOf(filter)])].filter((name) => properties.has(name)) };
}

function pathsOf(filter: Shape | null): readonly string[] {
  if (filter === null) return [];
  if ("and" in filter) return filter.and.flatMap(pathsOf);
  return "or" in filter ? filter.or.flatMap(pathsOf) : [filter.path];
}

export function explainWith(request: ReadRequest, known: Known): Json {
  const { collection, route } = "search" in request ? request.search : "fetch" in request ? request.fetch : request.count;
  const tenant = route?.tenant === undefined ? {} : { tenant: route.tenant };
  const shown = (query: object | null): Json => ({ collection, ...tenant, ...(query ?? { nothing: true }) }) as Json;
  if ("count" in request) {
    const query = countQuery(known, request.count);
    return shown(query === null ? null : { ...query, aggregate: "count" });
  }
  if ("fetch" in request) return shown(fetchQuery(known, request.fetch));
  const query = searchQuery(known, request.search, true);
  if (query === null) return shown(null);
  const { returnMetadata: _asked, ...options } = query.options;
  switch (query.by) {
    case "vector":
      return shown({ ...options, vector: query.vector });
    case "text":
      return shown({ nearText: query.text, ...options });
    case "hybrid":
      return shown({ hybrid: query.text, ...options });
    default:
      return query satisfies never;
  }
}
