/** Requests of this adapter as Qdrant's REST bodies. Pure: `search`, `fetch` and `count` send what `explain` shows. */
import { BackendError } from "../../abi/errors.js";
import { later, place } from "../hole.js";
import { numbersOf } from "../numbers.js";
import type { SearchShape } from "../prepared.js";
import { refuse } from "../reduce.js";
import type { Shape } from "../shape.js";
import { compileFilter, type QdrantFilter, type Width } from "./filter.js";
import { keysOf } from "./verify.js";

/** What a search needs to know of its collection. */
export interface Vectors {
  /** Name of the dense vector; null: the only one, without a name. */
  readonly name: string | null;
  readonly dims: number | null;
  /** Small distances are near: Euclid and Manhattan. */
  readonly isDistance: boolean;
  /** The collection has the sparse vectors that hybrid search needs. */
  readonly sparse: boolean;
}

/** A collection nobody has looked at. */
export const ASSUMED: Vectors = { name: null, dims: null, isDistance: false, sparse: true };

/** Name of the sparse vectors, and the model that Qdrant makes them with: as loaders of such collections have it. */
export const SPARSE = { name: "text", model: "Qdrant/bm25" } as const;
const MIN_CANDIDATES = 20;

interface Nearest {
  readonly query: readonly number[] | { readonly text: string; readonly model: string };
  readonly using?: string;
  readonly filter?: QdrantFilter;
  readonly params?: { readonly hnsw_ef?: number; readonly exact?: boolean };
  readonly limit: number;
}

/** Body of `points/query`. */
export type QueryBody = (Nearest | { readonly prefetch: readonly Nearest[]; readonly query: { readonly fusion: "rrf" }; readonly limit: number }) & { readonly with_payload: boolean | { readonly include: readonly string[] } };

/** Body of `points/scroll` and `points/count`; `null` where nothing can be found, so that nothing is asked. */
export type FilterBody = { readonly filter?: QdrantFilter } | null;

/** How a search is asked: `exact` compares every point that passes the filter, instead of walking the index. */
export interface Manner {
  readonly exact: boolean;
  readonly width: Width;
}

export function queryBody(request: SearchShape, vectors: Vectors, { exact, width }: Manner): QueryBody | null {
  const { vector, filter, limit, ef, mode, text } = request;
  if (vector === null) return refuse("qdrant", "a search without a vector");
  const where = filterBody(filter, width);
  if (where === null) return null;
  const params = { ...(ef === undefined ? {} : { hnsw_ef: ef }), ...(exact ? { exact: true } : {}) };
  const dense = (count: number): Nearest => ({
    query: numbersOf(vector), ...(vectors.name === null ? {} : { using: vectors.name }), ...where, ...(Object.keys(params).length === 0 ? {} : { params }), limit: count,
  });
  const shown = { with_payload: payloadOf(request.fields, filter) };
  if (mode === "dense" || text === null) return { ...dense(place(limit)), ...shown };
  if (!vectors.sparse) throw new BackendError("unsupported", "qdrant", `the collection has no sparse vectors '${SPARSE.name}', which hybrid search needs (VB2013)`);
  const candidates = later(limit, (count) => Math.max(MIN_CANDIDATES, 2 * count));
  const words: Nearest = { query: { text: place(text), model: SPARSE.model }, using: SPARSE.name, ...where, limit: candidates };
  return { prefetch: [dense(candidates), words], query: { fusion: "rrf" }, limit: place(limit), ...shown };
}

/** The condition of a read. */
export function filterBody(filter: Shape | null, width: Width): FilterBody {
  const compiled = filter === null ? "all" : compileFilter(filter, width);
  return compiled === "none" ? null : compiled === "all" ? {} : { filter: compiled };
}

/** Top-level keys of the payload to send: those asked for, and those that rows are compared by once more. */
export function payloadOf(fields: readonly string[] | null, filter: Shape | null): boolean | { readonly include: readonly string[] } {
  if (fields === null) return true;
  const keys = [...new Set([...fields, ...keysOf(filter)])].filter((key) => key !== "_id" && key !== "_score");
  // A name that Qdrant would read as a path, or not at all: the whole payload has it.
  return keys.every((key) => /^[\w-]+$/.test(key)) ? { include: keys } : true;
}
