/**
 * The queries of this adapter, compiled once for each shape of a read. Pure: `search`, `fetch` and `count` send what
 * `explain` shows, from the same templates.
 */
import type { Json } from "../../abi/plan.js";
import type { FetchRequest, ReadRequest, SearchRequest } from "../adapter.js";
import type { CountRequest, PreparedReads } from "../prepared.js";
import { MAX_ROWS, outputFields, queryBody, type QueryBody, type Schema, searchBody, type SearchBody } from "./requests.js";

/** A collection, and what was compiled for its schema. */
export interface Known {
  readonly schema: Schema;
  readonly reads: PreparedReads;
}

/** Null where nothing can be found, as of the others. */
export function searchQuery({ schema, reads }: Known, request: SearchRequest, isShown = false): SearchBody | null {
  return reads.search(request, "", (shape) => searchBody(shape, schema), isShown);
}

/** Ids of all matching records. */
export function pageQuery({ schema, reads }: Known, request: FetchRequest): QueryBody | null {
  return reads.fetch(request, "ids", ({ collection, filter }) => queryBody(collection, filter, [schema.fields.id], schema, MAX_ROWS));
}

/** Matching records; with their vectors for a copy. */
export function rowsQuery({ schema, reads }: Known, request: FetchRequest, withVector = false): QueryBody | null {
  const vector = withVector && schema.vector !== null ? [schema.vector.name] : [];
  return reads.fetch(request, withVector ? "copy" : "rows", ({ collection, filter, fields }) => queryBody(collection, filter, [...outputFields(fields, schema), ...vector], schema, MAX_ROWS));
}

export function countQuery({ schema, reads }: Known, request: CountRequest): QueryBody | null {
  return reads.count(request, "", ({ collection, filter }) => queryBody(collection, filter, ["count(*)"], schema));
}

export function explainWith(request: ReadRequest, known: Known): Json {
  const shown = (body: object | null, collection: string): Json => (body === null ? { collection_name: collection, nothing: true } : (body as Json));
  if ("search" in request) return shown(searchQuery(known, request.search, true), request.search.collection);
  if ("count" in request) return shown(countQuery(known, request.count), request.count.collection);
  // The page is cut here, from the ids of all matching records.
  const { limit, offset, collection } = request.fetch;
  const body = rowsQuery(known, request.fetch);
  return shown(body === null ? null : { ...body, limit, offset }, collection);
}
