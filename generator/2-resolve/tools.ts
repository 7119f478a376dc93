/** One tool with every default merged. Defaults are those of specs/tds.schema.json, written once, here. */
import type { Scalar } from "../../runtime/abi/filter.js";
import type { Deferred } from "../../runtime/abi/plan.js";
import { providerCalled } from "../../runtime/abi/provider.js";
import { DEFAULT_EXPANDER, EXPANDERS } from "../../runtime/expand/descriptors.js";
import { DEFAULT_RERANKER, RERANKERS } from "../../runtime/rerank/descriptors.js";
import type { Reporter } from "../diagnostics.js";
import type { Path, ResolvedEmbedding, ResolvedOutput, ResolvedParameter, ResolvedQuery, ResolvedRerank, ResolvedStep, ResolvedTarget, ResolvedTool, tds } from "../ir.js";
import { resolveEmbedding } from "./embedding.js";
import { resolveFilterTree, resolveStaticFilters } from "./filters.js";
import type { Interpolator } from "./interpolate.js";

/** What resolving a part needs besides the part. */
export interface Scope {
  readonly interpolator: Interpolator;
  readonly reporter: Reporter;
  /** defaults.embedding; null where nothing is written there. */
  readonly embedding: ResolvedEmbedding | null;
  /** Text of a scalar as written in the file. */
  readonly sourceText: (path: Path) => string | null;
  /** Whether nothing at or below the path was refused for its shape. */
  readonly isWhole: (path: Path) => boolean;
}

/** Entries of a list with their indexes; those refused for their shape (null) are left out. */
export function* entriesOf<T>(list: readonly T[] | null | undefined): Iterable<readonly [number, T]> {
  for (const [index, entry] of (list ?? []).entries()) if (entry !== null) yield [index, entry];
}

export function resolveTool(tool: tds.Tool, at: Path, scope: Scope): ResolvedTool {
  return {
    at,
    origin: "user",
    name: tool.name,
    kind: tool.kind ?? "search",
    // Refused for its length, it is still the tool's description.
    description: tool.description ?? "",
    target: resolveTarget(tool.target, [...at, "target"]),
    query: resolveQuery(tool.query, [...at, "query"], scope),
    parameters: parametersOf(tool, at, scope),
    staticFilters: resolveStaticFilters(tool.static_filters, [...at, "static_filters"], null),
    dtypes: tool.dtypes ?? {},
    // Other tools of the collection may add to them, see dates.ts.
    dates: [],
    steps: (tool.steps ?? []).flatMap((step, index) => resolveStep(step, [...at, "steps", index], scope)),
    output: resolveOutput(tool.output, [...at, "output"]),
    rerank: resolveRerank(tool.rerank, [...at, "rerank"], scope),
    minRecall: tool.quality?.min_recall ?? null,
    deadlineS: tool.deadline_s ?? null,
  };
}

function parametersOf(tool: tds.Tool, at: Path, scope: Scope): readonly ResolvedParameter[] {
  return [...entriesOf(tool.parameters)].flatMap(([index, parameter]) => {
    const path = [...at, "parameters", index];
    return scope.isWhole(path) ? [resolveParameter(parameter, path, scope)] : [];
  });
}

/** A collection that is no text is reported by the check; until then it has the empty name. */
function resolveTarget(target: tds.Target | null | undefined, at: Path): ResolvedTarget | null {
  if (target === undefined || target === null) return null;
  return { connection: target.connection, collection: typeof target.collection === "string" ? target.collection : "", at };
}

export function resolveQuery(query: tds.Query | null | undefined, at: Path, scope: Scope): ResolvedQuery | null {
  if (query === undefined || query === null) return null;
  return {
    at,
    param: query.param ?? "query",
    required: query.required ?? false,
    embedding: resolveEmbedding(query.embedding, at, scope.embedding, scope.interpolator),
    mode: query.mode ?? "dense",
    alpha: query.alpha ?? 0.5,
    minScore: query.min_score ?? null,
    ef: query.ef ?? null,
    expand: resolveExpand(query.expand, [...at, "expand"], scope),
  };
}

function resolveExpand(expand: tds.Expand | undefined, at: Path, scope: Scope): ResolvedQuery["expand"] {
  if (expand === undefined || expand === null) return null;
  const { name: provider, defaultModel } = expand.provider === undefined ? DEFAULT_EXPANDER : providerCalled(EXPANDERS, expand.provider) ?? DEFAULT_EXPANDER;
  return {
    enabled: expand.enabled ?? false,
    provider,
    model: expand.model ?? defaultModel,
    variants: expand.variants ?? 3,
    config: resolveConfig(expand.config, [...at, "config"], scope),
  };
}

function resolveRerank(rerank: tds.Rerank | undefined, at: Path, scope: Scope): ResolvedRerank | null {
  if (rerank === undefined || rerank === null || rerank.enabled !== true) return null;
  const { name: provider, defaultModel } = rerank.provider === undefined ? DEFAULT_RERANKER : providerCalled(RERANKERS, rerank.provider) ?? DEFAULT_RERANKER;
  return {
    at,
    provider,
    model: rerank.model ?? defaultModel,
    retrieveK: rerank.retrieve_k ?? 50,
    config: resolveConfig(rerank.config, [...at, "config"], scope),
  };
}

function resolveConfig(config: { readonly [key: string]: unknown } | undefined, at: Path, scope: Scope): { readonly [key: string]: Deferred } {
  return Object.fromEntries(Object.entries(config ?? {}).map(([key, value]) => [key, scope.interpolator.tree(value, [...at, key])]));
}

export function resolveParameter(parameter: tds.Parameter, at: Path, scope: Scope): ResolvedParameter {
  const dtype = parameter.dtype ?? "keyword";
  return {
    at,
    name: parameter.name,
    path: parameter.path ?? null,
    dtype,
    op: parameter.op ?? null,
    required: parameter.required ?? false,
    description: parameter.description ?? null,
    enum: parameter.enum?.map((member, index) => scalarAsText(member, dtype, [...at, "enum", index], scope)) ?? null,
    default: typeof parameter.default === "boolean" ? scalarAsText(parameter.default, dtype, [...at, "default"], scope) : parameter.default,
    max: parameter.max ?? null,
    maxLength: parameter.max_length ?? null,
    resolve: resolveDirectory(parameter.resolve, [...at, "resolve"]),
  };
}

/** YAML reads `on` as a boolean, but a keyword is text: the text as written is what a caller can give. */
function scalarAsText(member: string | number | boolean, dtype: ResolvedParameter["dtype"], at: Path, scope: Scope): Scalar {
  if (typeof member !== "boolean" || (dtype !== "keyword" && dtype !== "keyword[]")) return member;
  const text = scope.sourceText(at) ?? String(member);
  scope.reporter.report("TS0111", { got: text, text }, { path: at });
  return text;
}

function resolveDirectory(resolve: tds.Resolve | null | undefined, at: Path): ResolvedParameter["resolve"] {
  if (resolve === undefined || resolve === null) return null;
  return {
    kind: resolve.kind ?? "enum",
    connection: resolve.connection ?? null,
    collection: resolve.collection ?? null,
    field: resolve.field ?? "name",
    minConfidence: resolve.min_confidence ?? 0.72,
    maxCandidates: resolve.max_candidates ?? 5000,
    cacheTtlS: resolve.cache_ttl_s ?? 600,
    dates: [],
    staticFilters: resolveStaticFilters(resolve.static_filters, [...at, "static_filters"], null),
  };
}

export function resolveOutput(output: tds.Output | null | undefined, at: Path, limits = { default: 10, max: 50 }): ResolvedOutput {
  return {
    at,
    fields: output?.fields?.filter((field) => field !== null) ?? null,
    limitDefault: output?.limit_default ?? limits.default,
    limitDefaultOrigin: output?.limit_default === undefined ? "default" : "stated",
    limitMax: output?.limit_max ?? limits.max,
    includeScore: output?.include_score ?? true,
    includeId: output?.include_id ?? true,
    maxFieldLength: output?.max_field_length ?? null,
    truncateSuffix: output?.truncate_suffix ?? "…",
    redact: Array.from(entriesOf(output?.redact), ([index, entry]) => ({
      path: entry.path,
      mode: entry.mode ?? "omit",
      patterns: Array.from(entriesOf(entry.patterns), ([, { regex, replacement }]) => ({ regex, replacement: replacement ?? "[redacted]" })),
      at: [...at, "redact", index],
    })),
  };
}

function resolveStep(step: tds.Step, at: Path, scope: Scope): readonly ResolvedStep[] {
  const { retrieve, post_filter, group_by, sort, project } = step;
  if (retrieve !== undefined) {
    const inner = [...at, "retrieve"];
    const target = resolveTarget(retrieve.target, [...inner, "target"]);
    if (target === null) return [];
    return [{
      kind: "retrieve",
      at: inner,
      target,
      query: resolveQuery(retrieve.query, [...inner, "query"], scope),
      filter: resolveFilterTree(retrieve.filter, [...inner, "filter"], scope.reporter),
      kParam: retrieve.fetch?.k_param ?? "limit",
      overfetchFactor: retrieve.fetch?.overfetch_factor ?? 10,
      maxCandidates: retrieve.fetch?.max_candidates ?? 2000,
    }];
  }
  if (post_filter !== undefined) return [{ kind: "post_filter", at: [...at, "post_filter"], expr: post_filter.expr }];
  if (group_by !== undefined) {
    const group = group_by.per_group;
    const perGroup = group === undefined || group === null ? null : { sortBy: group.sort_by, desc: group.desc ?? true, take: group.take ?? 3 };
    return [{ kind: "group_by", at: [...at, "group_by"], keys: group_by.keys, perGroup }];
  }
  if (sort !== undefined) return [{ kind: "sort", at: [...at, "sort"], by: sort.by, desc: sort.desc ?? true, nulls: sort.nulls ?? "last" }];
  return project === undefined ? [] : [{ kind: "project", at: [...at, "project"], fields: project.fields }];
}
