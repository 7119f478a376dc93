/**
 * Recall of a catalog's searches: how many of the rows that a tool should find it does find, at the selectivity that its
 * guard and its tenants really have. Each search is sent twice, as calls send it and as an exact scan of the same rows.
 * The texts of the queries are those of stored rows. Nothing of a row is kept.
 */
import { createServices, type ProgramServices } from "../../runtime/call/services.js";
import { fillProgram } from "../../runtime/call/fill-program.js";
import { bindFilter } from "../../runtime/call/steps/bind.js";
import { documentOf } from "../../runtime/call/steps/rerank.js";
import { routeOf } from "../../runtime/call/steps/search.js";
import type { CallContext, Principal, Program } from "../../runtime/abi/call.js";
import { isBackendError, isToolError } from "../../runtime/abi/errors.js";
import type { Row } from "../../runtime/abi/filter.js";
import type { QueryPlan, ReadPlan, ToolPlan } from "../../runtime/abi/plan.js";
import { readPath } from "../../runtime/base/paths.js";
import type { Adapter, RowSet, SearchRequest } from "../../runtime/adapters/adapter.js";

export interface ToolRecall {
  readonly tool: string;
  /** Rows of one search: the tool's default limit. */
  readonly k: number;
  /** Share of the right rows that were found, 0 to 1: the mean of all queries, and the worst one; `null` when not measured. */
  readonly recall: number | null;
  readonly worst: number | null;
  readonly queries: number;
  /** Tenants whose rows were searched; 0 without request tenancy. */
  readonly tenants: number;
  /** Share of the collection that the guard and the tenant leave; the smallest of the tenants. */
  readonly selectivity: number | null;
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

/** Tenants of one tool that are searched. */
const MAX_TENANTS = 5;
/** Records in which tenants are looked for, and from which query texts are taken. */
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

interface Search {
  readonly read: ReadPlan;
  readonly query: QueryPlan;
  readonly k: number;
}

function searchOf(plan: ToolPlan): Search | null {
  if (plan.kind === "meta" || plan.kind === "count" || plan.kind === "lookup") return null;
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  return read.query === undefined ? null : { read, query: read.query, k: plan.limit.default };
}

async function measureTool(tool: string, search: Search, services: ProgramServices, samples: number, signal: AbortSignal): Promise<ToolRecall> {
  const nothing: ToolRecall = { tool, k: search.k, recall: null, worst: null, queries: 0, tenants: 0, selectivity: null, exact: false, problem: null };
  const { read, query } = search;
  if (typeof read.collection !== "string") return { ...nothing, problem: "the collection is an argument" };
  if (read.document_acl !== undefined) return { ...nothing, problem: "document access needs the claims of real callers" };
  if (query.mode !== "dense") return { ...nothing, problem: "hybrid search has no one right order" };
  try {
    const adapter = await services.adapter(read.connection);
    const callers = await callersOf(read, read.collection, adapter, signal);
    const measured = await Promise.all(callers.map((principal) => measureCaller({ ...search, collection: read.collection as string, principal, adapter, services, samples, signal, tool })));
    const recalls = measured.flatMap((one) => one.recalls);
    if (recalls.length === 0) return { ...nothing, problem: "the collection has no rows for it" };
    return {
      ...nothing, queries: recalls.length, tenants: read.tenant === undefined ? 0 : callers.length,
      recall: round(recalls.reduce((sum, one) => sum + one, 0) / recalls.length), worst: round(Math.min(...recalls)),
      selectivity: round(Math.min(...measured.map((one) => one.selectivity))), exact: measured.every((one) => one.exact),
    };
  } catch (error) {
    if (signal.aborted || !(error instanceof Unmeasured || isBackendError(error) || isToolError(error))) throw error;
    return { ...nothing, problem: error.message };
  }
}

class Unmeasured extends Error {}

/** Nobody, or one caller for each of some tenants that the collection has. */
async function callersOf({ tenant }: ReadPlan, collection: string, adapter: Adapter, signal: AbortSignal): Promise<readonly Principal[]> {
  if (tenant === undefined) return [{ id: null, claims: {}, headers: {} }];
  const values = (await adapter.sample(collection, SAMPLE, signal)).map((row) => readPath(row, tenant.path)).filter((value) => typeof value === "string" || typeof value === "number");
  const named = (value: string | number): { readonly [name: string]: string | number } => ({ [tenant.from === "header" ? tenant.name.toLowerCase() : tenant.name]: value });
  const encode = (value: string | number): string => (tenant.encoding === "percent" ? encodeURIComponent(value) : tenant.encoding === "base64url" ? Buffer.from(String(value)).toString("base64url") : String(value));
  return [...new Set(values)].slice(0, MAX_TENANTS).map((value) => (tenant.from === "header" ? { id: null, claims: {}, headers: named(encode(value)) as Principal["headers"] } : { id: null, claims: named(value), headers: {} }));
}

interface CallerSearch extends Search {
  readonly tool: string;
  readonly collection: string;
  readonly principal: Principal;
  readonly adapter: Adapter;
  readonly services: ProgramServices;
  readonly samples: number;
  readonly signal: AbortSignal;
}

async function measureCaller({ tool, read, query, k, collection, principal, adapter, services, samples, signal }: CallerSearch): Promise<{ readonly recalls: readonly number[]; readonly selectivity: number; readonly exact: boolean }> {
  const call: CallContext = { tool, requestId: "recall", trace: null, principal, startedMs: 0, deadlineMs: Number.MAX_SAFE_INTEGER, signal, warnings: [], debug: false, services, watch: null };
  const filter = bindFilter({ ...read, bind: [] }, {}, call);
  const route = routeOf(read, call);
  const at = route === undefined ? {} : { route };
  const [all, left] = await Promise.all([adapter.count(collection, null, signal, route), adapter.count(collection, filter, signal, route)]);
  const { rows } = await adapter.fetch({ collection, filter, limit: SAMPLE, offset: 0, fields: null, ...at }, signal);
  const texts = spread(rows, samples).map((row) => documentOf(row).slice(0, MAX_QUERY)).filter((text) => text.trim() !== "");
  const embedder = await services.embedder(query.embedding);
  const vectors = await embedder.embed(texts, signal);
  const recalls: number[] = [];
  let exact = true;
  for (const [index, text] of texts.entries()) {
    const request: SearchRequest = {
      collection, vector: vectors[index] ?? null, text, mode: "dense", alpha: 1, filter, limit: k, fields: null, embeddedBy: `${embedder.provider}/${embedder.model}`,
      ...(query.ef === undefined ? {} : { ef: query.ef }), ...at,
    };
    const found = await adapter.search(request, signal);
    if (found.exact) recalls.push(1);
    else {
      exact = false;
      const right = await adapter.search({ ...request, exact: true }, signal);
      // A store that ignores the wish would be compared with itself.
      if (!right.exact) throw new Unmeasured("the store cannot search by an exact scan, so nothing is known to compare with");
      recalls.push(recallOf(found, right));
    }
  }
  return { recalls, selectivity: all === 0 ? 1 : left / all, exact };
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

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
