/**
 * The queries of this adapter, compiled once for each shape of a read. Pure: `search`, `fetch` and `count` send what
 * `explain` shows, from the same templates.
 */
import type * as Chroma from "chromadb";
import type { Json } from "../../abi/plan.js";
import type { ReadRequest, SearchRequest } from "../adapter.js";
import { place } from "../hole.js";
import { numbersOf } from "../numbers.js";
import type { CountRequest, PreparedReads, SearchShape } from "../prepared.js";
import { refuse, refuseRoute, type Compiled } from "../reduce.js";
import type { Shape } from "../shape.js";
import { compileFilter, type ChromaFilter } from "./filter.js";

/** What a read selects. */
export type Native = Compiled<ChromaFilter>;
export type Selected = Omit<Parameters<Chroma.Collection["get"]>[0] & object, "include">;

/** A search as the server takes it, of one vector. */
export interface Query extends ChromaFilter {
  readonly query: number[];
  readonly n_results: number;
}

/** Null where nothing can be found. */
export function searchQuery(reads: PreparedReads, request: SearchRequest, isShown = false): Query | null {
  return reads.search(request, "", compileSearch, isShown);
}

function compileSearch({ route, mode, vector, filter, limit }: SearchShape): Query | null {
  refuseRoute("chroma", route);
  if (mode === "hybrid") return refuse("chroma", "hybrid search");
  if (vector === null) return refuse("chroma", "a search without a vector");
  const native = compiled(filter);
  return native === "none" ? null : { ...(native === "all" ? {} : native), n_results: place(limit), query: numbersOf(vector) };
}

/** What a read without a vector selects. */
export function nativeOf(reads: PreparedReads, request: CountRequest): Native {
  return reads.count(request, "", ({ filter }) => compiled(filter));
}

function compiled(filter: Shape | null): Native {
  return filter === null ? "all" : compileFilter(filter);
}

/** The same, as the client takes it. */
export function selected(native: Native): Selected {
  if (typeof native === "string") return {};
  return { ...(native.ids === undefined ? {} : { ids: [...native.ids] }), ...(native.where === undefined ? {} : { where: native.where as Chroma.Where }) };
}

export function explainWith(reads: PreparedReads, request: ReadRequest): Json {
  if ("search" in request) {
    const { collection, vector } = request.search;
    return { collection, ...(searchQuery(reads, request.search, true) ?? { nothing: true, query: vector === null ? null : `<vector of ${vector.length}>` }) } as Json;
  }
  const { collection, filter } = "fetch" in request ? request.fetch : request.count;
  const native = nativeOf(reads, { collection, filter });
  const page = "fetch" in request ? { limit: request.fetch.limit, offset: request.fetch.offset } : { count: true };
  return { collection, ...(native === "none" ? { nothing: true } : selected(native)), ...page } as Json;
}
