/** Reading a store for one bound request: the vector search and the reads without one. */
import type { Adapter, FetchRequest, Route, RowSet, SearchRequest } from "../../adapters/adapter.js";
import type { BoundRead, CallContext, CallRows } from "../../abi/call.js";
import { isBackendError, ToolError } from "../../abi/errors.js";
import type { Row } from "../../abi/filter.js";
import type { Json, QueryPlan, RoutePlan } from "../../abi/plan.js";
import { expandText, mergeRows } from "./expand.js";
import { redactRows } from "./redact.js";
import { rerankRows } from "./rerank.js";

/** Weight of the dense part in hybrid mode where the catalog says nothing. */
const DEFAULT_ALPHA = 0.5;

/**
 * The rows nearest to the query text, best first; without text, the matching rows in record-id order.
 * @throws ToolError embedding_error, BackendError.
 */
export async function search(bound: BoundRead, call: CallContext): Promise<CallRows> {
  const { query } = bound.plan;
  return query === undefined || bound.text === null ? fetchRows(bound, call) : searchText(bound, query, bound.text, call);
}

/** The matching rows in record-id order, or by similarity when the tool has a query and the call gives a text. */
export const scroll = search;

/** The matching rows, at most as many as the lookup may return. */
export async function lookup(bound: BoundRead, call: CallContext): Promise<CallRows> {
  return fetchRows(bound, call);
}

/** How many rows match; also the one row of the envelope. */
export async function count(bound: BoundRead, call: CallContext): Promise<CallRows> {
  const { signal } = call;
  const adapter = await call.services.adapter(bound.plan.connection);
  const route = routeOf(bound.plan, call);
  const total = await adapter.count(bound.collection, bound.filter, signal, route);
  const native = () => ({ count: { collection: bound.collection, filter: bound.filter, ...(route === undefined ? {} : { route }) } });
  return { rows: [{ count: total }], exact: true, searchMode: "none", mayBeIncomplete: false, total, compiledQuery: explain(bound, call, native) };
}

async function searchText(bound: BoundRead, query: QueryPlan, text: string, call: CallContext): Promise<CallRows> {
  const { rerank } = bound.plan;
  const found = await searchVariants(rerank === undefined ? bound : { ...bound, limit: Math.max(bound.limit, rerank.retrieve_k) }, query, text, call);
  if (rerank === undefined) return found;
  const { output } = bound.plan;
  const rows = output === undefined ? found.rows : await redactRows(found.rows, output, call);
  return { ...found, rows: (await rerankRows(rerank, rows, text, call)).slice(0, bound.limit), redacted: true };
}

/** The rows nearest to the query, or to any of its variants. */
async function searchVariants(bound: BoundRead, query: QueryPlan, text: string, call: CallContext): Promise<CallRows> {
  const { signal } = call;
  const texts = query.expand === undefined ? [text] : await expandText(query, text, call);
  const adapter = await call.services.adapter(bound.plan.connection);
  const embedded = await vectorsOf(adapter, bound, query, texts, call);
  const requests = texts.map((variant, index) => searchRequest(bound, query, variant, embedded.vectors[index] ?? null, embedded.by, call));
  const found = await Promise.all(requests.map((request) => adapter.search(request, signal)));
  const merged = mergeRows(found.map(({ rows }) => rows), bound.limit);
  const rows = query.min_score === undefined ? merged : aboveScore(merged, query.min_score);
  const explained = requests.map((request) => explain(bound, call, () => ({ search: request })));
  const exact = found.every((one) => one.exact);
  const shown = explained.length === 1 ? (explained[0] ?? null) : call.debug ? explained : null;
  // A recall that is promised below 1 says that an index may miss rows; a store that compared all of them missed none.
  return { ...toCallRows({ rows, exact }, query.mode, shown), mayBeIncomplete: !exact && query.min_recall !== undefined && query.min_recall < 1 };
}

function searchRequest(bound: BoundRead, query: QueryPlan, text: string, vector: Float32Array | null, embeddedBy: string | null, call: CallContext): SearchRequest {
  const route = routeOf(bound.plan, call);
  return {
    collection: bound.collection,
    vector,
    text,
    mode: query.mode,
    alpha: query.alpha ?? DEFAULT_ALPHA,
    filter: bound.filter,
    limit: bound.limit,
    fields: fieldsHint(bound, call),
    ...(embeddedBy === null ? {} : { embeddedBy }),
    ...(query.ef === undefined ? {} : { ef: query.ef }),
    ...(route === undefined ? {} : { route }),
  };
}

/** The vectors of query texts in their order; none where the store makes them itself. */
async function vectorsOf(adapter: Adapter, bound: BoundRead, query: QueryPlan, texts: readonly string[], call: CallContext): Promise<{ readonly vectors: readonly Float32Array[]; readonly by: string | null }> {
  if (adapter.embedsText !== undefined && (await adapter.embedsText(bound.collection, call.signal))) return { vectors: [], by: null };
  return embedTexts(query.embedding, texts, call);
}

async function fetchRows(bound: BoundRead, call: CallContext): Promise<CallRows> {
  const { signal } = call;
  const adapter: Adapter = await call.services.adapter(bound.plan.connection);
  const route = routeOf(bound.plan, call);
  const request: FetchRequest = { collection: bound.collection, filter: bound.filter, limit: bound.limit, offset: 0, fields: fieldsHint(bound, call), ...(route === undefined ? {} : { route }) };
  return toCallRows(await adapter.fetch(request, signal), "none", explain(bound, call, () => ({ fetch: request })));
}

/** The part of the store that a plan reads, its references filled; `undefined` where the plan names none. */
export function routeOf({ route }: { readonly route?: RoutePlan }, call: CallContext): Route | undefined {
  return route === undefined ? undefined : call.services.route(route);
}

function toCallRows({ rows, exact }: RowSet, searchMode: CallRows["searchMode"], compiledQuery: Json): CallRows {
  return { rows, exact, searchMode, mayBeIncomplete: false, compiledQuery };
}

/** Rows without a score are kept: the threshold is about similarity, and they have none. */
function aboveScore(rows: readonly Row[], minScore: number): readonly Row[] {
  return rows.filter(({ _score }) => typeof _score !== "number" || _score >= minScore);
}

async function embedTexts(name: string, texts: readonly string[], call: CallContext): Promise<{ readonly vectors: readonly Float32Array[]; readonly by: string }> {
  const { signal } = call;
  try {
    const embedder = await call.services.embedder(name);
    const vectors = await embedder.embed(texts, signal);
    if (vectors.length !== texts.length) throw new ToolError("embedding_error", `embedding provider '${embedder.provider}' returned ${vectors.length} vectors for ${texts.length} texts`);
    return { vectors, by: `${embedder.provider}/${embedder.model}` };
  } catch (error) {
    if (!isBackendError(error)) throw error;
    throw new ToolError("embedding_error", error.message, {}, { cause: error });
  }
}

/** Top-level keys that projection will read. */
function fieldsHint(bound: BoundRead, call: CallContext): readonly string[] | null {
  const fields = bound.plan.output?.fields;
  // A reranker reads the text of a record, whether or not it is returned.
  if (fields === undefined || bound.plan.rerank !== undefined) return null;
  return call.services.once(fields, () => [...new Set(fields.map((field) => field.split(".")[0] ?? field))]);
}

function explain(bound: BoundRead, call: CallContext, request: () => Parameters<CallContext["services"]["explain"]>[1]): Json {
  return call.debug ? call.services.explain(bound.plan.connection, request()) : null;
}
