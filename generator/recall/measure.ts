/**
 * Recall of a catalog's searches: how many of the rows that a tool should find it does find, at the selectivity that its
 * guard and its tenants really have. Each search is sent twice, as calls send it and as an exact scan of the same rows:
 * with the same filter, so an index is walked under the filter as in a call. The texts of the queries are those of stored
 * rows. Nothing of a row is kept; `certificate.ts` says what a build makes of the numbers.
 */
import { createServices, type ProgramServices } from "../../runtime/call/services.js";
import { fillProgram } from "../../runtime/call/fill-program.js";
import { bindFilter } from "../../runtime/call/steps/bind.js";
import { searchOf, type Search } from "./search-of.js";
import { callersOf } from "./tenants.js";
import { documentOf } from "../../runtime/call/steps/rerank.js";
import { routeOf } from "../../runtime/call/steps/search.js";
import type { CallContext, Principal, Program } from "../../runtime/abi/call.js";
import { isBackendError, isToolError } from "../../runtime/abi/errors.js";
import type { Filter, Row } from "../../runtime/abi/filter.js";
import type { Adapter, Route, RowSet, SearchRequest } from "../../runtime/adapters/adapter.js";

export interface ToolRecall {
  readonly tool: string;
  /** Rows of one search: what the store is asked for by a call without a limit. */
  readonly k: number;
  /** Share of the right rows that were found, 0 to 1: the mean of all queries, and the worst one; `null` when not measured. */
  readonly recall: number | null;
  readonly worst: number | null;
  /** Mean of the tenant whose searches find least; the mean of all without request tenancy. What a floor is compared with. */
  readonly lowest: number | null;
  readonly queries: number;
  /** Tenants whose rows were searched; 0 without request tenancy. */
  readonly tenants: number;
  /** Share of the collection that the guard and the tenant leave; the smallest of the tenants. */
  readonly selectivity: number | null;
  /** Rows of the collection when it was measured, all tenants together. */
  readonly rows: number | null;
  /** The store compares every row by itself. */
  readonly exact: boolean;
  /** Why it could not be measured. */
  readonly problem: string | null;
}

export interface RecallOptions {
  readonly env: ReadonlyMap<string, string>;
  /** Tools to measure; all by default. */
  readonly tools?: readonly string[];
  /** Queries for each tenant. */
  readonly samples: number;
  readonly now: () => number;
  readonly variable: (name: string) => string | undefined;
  readonly signal: AbortSignal;
}

/** Records from which query texts are taken. */
const SAMPLE = 500;
/** Longest query, in characters. */
const MAX_QUERY = 200;
/** Scores of one row differ by less between two searches. */
const SAME_SCORE = 1e-5;

/** One result for each tool that searches by text, in the order of the catalog. A store that fails is the problem of its tools. */
export async function measureRecall(program: Program, { env, tools, samples, now, variable, signal }: RecallOptions): Promise<readonly ToolRecall[]> {
  const services = createServices(program, fillProgram(program, env), { now, variable, learned: () => undefined, degraded: () => undefined });
  try {
    const results: ToolRecall[] = [];
    for (const [tool, plan] of Object.entries(program.plans)) {
      const search = searchOf(plan);
      if (search === null || (tools !== undefined && !tools.includes(tool))) continue;
      results.push(await measureTool(tool, search, services, samples, signal));
    }
    return results;
  } finally {
    await services.close();
  }
}

async function measureTool(tool: string, search: Search, services: ProgramServices, samples: number, signal: AbortSignal): Promise<ToolRecall> {
  const nothing: ToolRecall = { tool, k: search.k, recall: null, worst: null, lowest: null, queries: 0, tenants: 0, selectivity: null, rows: null, exact: false, problem: null };
  const { read, query } = search;
  if (typeof read.collection !== "string") return { ...nothing, problem: "the collection is an argument" };
  if (read.document_acl !== undefined) return { ...nothing, problem: "document access needs the claims of real callers" };
  if (query.mode !== "dense") return { ...nothing, problem: "hybrid search has no one right order" };
  try {
    const place = { ...search, tool, collection: read.collection, adapter: await services.adapter(read.connection), services, samples, signal };
    const callers = await callersOf(read.tenant, { ...place, route: read.route === undefined ? undefined : services.route(read.route) }, (principal) => countsOf(place, principal));
    const measured = (await Promise.all(callers.map((principal) => measureCaller({ ...place, principal })))).filter((one) => one.recalls.length > 0);
    const recalls = measured.flatMap((one) => one.recalls);
    if (recalls.length === 0) return { ...nothing, problem: "the collection has no rows for it" };
    return {
      ...nothing, queries: recalls.length, tenants: read.tenant === undefined ? 0 : measured.length,
      recall: round(meanOf(recalls)), worst: round(Math.min(...recalls)), lowest: round(Math.min(...measured.map((one) => meanOf(one.recalls)))),
      selectivity: round(Math.min(...measured.map((one) => one.selectivity))), rows: measured[0]?.rows ?? null, exact: measured.every((one) => one.exact),
    };
  } catch (error) {
    if (signal.aborted || !(error instanceof Unmeasured || isBackendError(error) || isToolError(error))) throw error;
    return { ...nothing, problem: error.message };
  }
}

class Unmeasured extends Error {}

/** A search and where it is asked. */
interface Place extends Search {
  readonly tool: string;
  readonly collection: string;
  readonly adapter: Adapter;
  readonly services: ProgramServices;
  readonly samples: number;
  readonly signal: AbortSignal;
}

interface Asked {
  readonly filter: Filter | null;
  readonly route: Route | undefined;
}

/** The filter and the route of a call of this caller, without any argument. */
function askedBy({ tool, read, signal, services }: Place, principal: Principal): Asked {
  const call: CallContext = { tool, requestId: "recall", trace: null, principal, startedMs: 0, deadlineMs: Number.MAX_SAFE_INTEGER, signal, warnings: [], debug: false, services, watch: null };
  return { filter: bindFilter({ ...read, bind: [] }, {}, call), route: routeOf(read, call) };
}

/** Rows that a caller's searches choose from. */
async function countsOf(place: Place, principal: Principal): Promise<number> {
  const { filter, route } = askedBy(place, principal);
  return place.adapter.count(place.collection, filter, place.signal, route);
}

interface Measured {
  readonly recalls: readonly number[];
  readonly selectivity: number;
  /** All rows, those of other tenants included. */
  readonly rows: number;
  readonly exact: boolean;
}

async function measureCaller(place: Place & { readonly principal: Principal }): Promise<Measured> {
  const { query, k, collection, adapter, services, samples, signal } = place;
  const { filter, route } = askedBy(place, place.principal);
  const at = route === undefined ? {} : { route };
  const [all, left] = await Promise.all([adapter.count(collection, null, signal, route), adapter.count(collection, filter, signal, route)]);
  const { rows } = await adapter.fetch({ collection, filter, limit: SAMPLE, offset: 0, fields: null, ...at }, signal);
  const texts = spread(rows, samples).map((row) => documentOf(row).slice(0, MAX_QUERY)).filter((text) => text.trim() !== "");
  const embedder = await services.embedder(query.embedding);
  const vectors = texts.length === 0 ? [] : await embedder.embed(texts, signal);
  const recalls: number[] = [];
  let exact = true;
  for (const [index, text] of texts.entries()) {
    const request: SearchRequest = {
      collection, vector: vectors[index] ?? null, text, mode: "dense", alpha: 1, filter, limit: k, fields: null, embeddedBy: `${embedder.provider}/${embedder.model}`,
      ...(query.ef === undefined ? {} : { ef: query.ef }), ...at,
    };
    const found = await adapter.search(request, signal);
    exact &&= found.exact;
    recalls.push(found.exact ? 1 : recallOf(found, await scan(adapter, request, signal)));
  }
  return { recalls, selectivity: all === 0 ? 1 : left / all, rows: all, exact };
}

/** The right rows: the same search by comparing every row that the filter leaves. */
async function scan(adapter: Adapter, request: SearchRequest, signal: AbortSignal): Promise<RowSet> {
  const right = await adapter.search({ ...request, exact: true }, signal);
  // A store that ignores the wish would be compared with itself.
  if (!right.exact) throw new Unmeasured("the store cannot search by an exact scan, so nothing is known to compare with");
  return right;
}

/** Rows from the whole list, at equal distances. */
function spread(rows: readonly Row[], count: number): readonly Row[] {
  const step = Math.max(1, rows.length / count);
  return Array.from({ length: Math.min(count, rows.length) }, (_, index) => rows[Math.floor(index * step)] ?? {});
}

/** Share of the right rows that were found; of equal scores at the end of the list each row is right. */
export function recallOf(found: Pick<RowSet, "rows">, right: Pick<RowSet, "rows">): number {
  if (right.rows.length === 0) return 1;
  const ids = new Set(right.rows.map(({ _id }) => _id));
  const last = Number(right.rows.at(-1)?.["_score"]);
  const hits = found.rows.filter(({ _id, _score }) => ids.has(_id) || Math.abs(Number(_score) - last) <= SAME_SCORE).length;
  return Math.min(hits, right.rows.length) / right.rows.length;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Down, so that no floor is met by rounding. */
function round(value: number): number {
  return Math.floor(value * 1e4 + 1e-6) / 1e4;
}
