/**
 * The queries of this adapter, compiled once for each shape of a read. Pure: `search`, `fetch` and `count` send what
 * `explain` shows, from the same templates.
 */
import { isDeepStrictEqual } from "node:util";
import type { Filter } from "../../abi/filter.js";
import type { Json } from "../../abi/plan.js";
import type { FetchRequest, ReadRequest, SearchRequest } from "../adapter.js";
import { place } from "../hole.js";
import type { CountRequest, PreparedReads } from "../prepared.js";
import type { Width } from "./filter.js";
import { filterBody, type Manner, payloadOf, queryBody, type Vectors } from "./requests.js";

/** A body with the name of its collection, as the client takes it; null where nothing can be found. */
export type Query = { readonly collection_name: string } & { readonly [key: string]: unknown };

export function searchQuery(reads: PreparedReads, request: SearchRequest, vectors: Vectors, manner: Manner, isShown = false): Query | null {
  const variant = `${vectors.name === null ? "" : JSON.stringify(vectors.name)} ${String(vectors.sparse)} ${manner.width} ${String(manner.exact)}`;
  return reads.search(request, variant, (shape): Query | null => {
    const body = queryBody(shape, vectors, manner);
    return body === null ? null : { collection_name: shape.collection, ...body };
  }, isShown);
}

/** A page in the order of ids. Its start is an id, which only the page before tells. */
export function scrollQuery(reads: PreparedReads, request: FetchRequest, width: Width): Query | null {
  return reads.fetch(request, `page ${width}`, ({ collection, filter, limit, fields }): Query | null => {
    const where = filterBody(filter, width);
    return where === null ? null : { collection_name: collection, ...where, limit: place(limit), with_payload: payloadOf(fields, filter), with_vector: false };
  });
}

/** A page of a copy, without the name of its vectors. */
export function copyQuery(reads: PreparedReads, request: FetchRequest): Query | null {
  return scrollQuery(reads, request, "exact");
}

/** The points before a page, without their payload. */
export function pageQuery(reads: PreparedReads, request: FetchRequest, width: Width): Query {
  return reads.fetch(request, `before ${width}`, ({ collection, filter, offset }): Query => ({ collection_name: collection, ...filterBody(filter, width), limit: place(offset), with_payload: false, with_vector: false }));
}

export function countQuery(reads: PreparedReads, request: CountRequest): Query | null {
  return reads.count(request, "", ({ collection, filter }): Query | null => {
    const where = filterBody(filter, "exact");
    return where === null ? null : { collection_name: collection, ...where, exact: true };
  });
}

export function explainWith(reads: PreparedReads, request: ReadRequest, vectors: Vectors): Json {
  if ("count" in request) return shown(request.count.collection, countQuery(reads, request.count), {});
  if ("fetch" in request) {
    const { fetch } = request;
    const width = fetch.offset === 0 ? "wide" : "exact";
    return shown(fetch.collection, scrollQuery(reads, { ...fetch, limit: fetch.offset + fetch.limit }, width), checked(fetch.filter));
  }
  const { search } = request;
  return shown(search.collection, searchQuery(reads, search, vectors, { exact: false, width: "wide" }, true), checked(search.filter));
}

function shown(collection: string, query: Query | null, then: object): Json {
  const { collection_name: _name, with_vector: _vector, ...body } = query ?? { collection_name: collection, nothing: true };
  return { collection, ...body, ...then } as Json;
}

/** Said where rows are compared once more: a list does not equal its element. */
function checked(filter: Filter | null): { readonly then?: string } {
  return isDeepStrictEqual(filterBody(filter, "wide"), filterBody(filter, "exact")) ? {} : { then: "rows with a list where the filter compares a value are dropped" };
}
