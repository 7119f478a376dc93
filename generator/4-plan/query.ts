/** Query, expansion and reranking. */
import type { ExpandPlan, QueryPlan, RerankPlan } from "../../runtime/abi/plan.js";
import { EXPANDERS } from "../../runtime/expand/descriptors.js";
import type { ResolvedQuery, ResolvedRerank, ResolvedTool } from "../ir.js";
import { compact, unlessEmpty } from "./compact.js";
import type { EmbeddingNames } from "./connections.js";

export type QueryBlock = ResolvedQuery;

/**
 * The query block that a tool advertises and runs. A pipeline may declare it on the tool, in its retrieve step, or in
 * both: then the tool's says how the argument looks, and the step's what the search does with it.
 */
export function queryBlockOf(tool: ResolvedTool): QueryBlock | null {
  const first = tool.steps[0];
  const inner = first?.kind === "retrieve" ? first.query : null;
  if (inner === null) return tool.query;
  if (tool.query === null) return inner;
  const { param, required, mode, alpha } = tool.query;
  // An embedding that was merely inherited does not overrule one that the tool states.
  return {
    ...inner,
    param,
    required,
    mode,
    alpha,
    embedding: inner.embedding.origin === "stated" ? inner.embedding : tool.query.embedding,
    minScore: inner.minScore ?? tool.query.minScore,
    ef: inner.ef ?? tool.query.ef,
    expand: inner.expand ?? tool.query.expand,
  };
}

function expandPlan(expand: ResolvedQuery["expand"]): ExpandPlan | undefined {
  if (expand === null || !expand.enabled || !EXPANDERS[expand.provider].expands) return undefined;
  const { provider, model, variants, config } = expand;
  return compact<ExpandPlan>({ provider, model: model ?? undefined, variants, config: unlessEmpty(config) });
}

/** The query part of a plan; `alpha` is printed only where it has a meaning. */
export function queryPlan(query: QueryBlock, minRecall: number | null, embeddings: EmbeddingNames): QueryPlan {
  return compact<QueryPlan>({
    arg: query.param,
    required: query.required,
    embedding: embeddings.nameOf(query.embedding),
    mode: query.mode,
    alpha: query.mode === "hybrid" ? query.alpha : undefined,
    min_score: query.minScore ?? undefined,
    min_recall: minRecall ?? undefined,
    ef: query.ef ?? undefined,
    expand: expandPlan(query.expand),
  });
}

/** The reranker; only tools with a query can use one. */
export function rerankPlan(rerank: ResolvedRerank | null): RerankPlan | undefined {
  if (rerank === null) return undefined;
  const { provider, model, retrieveK, config } = rerank;
  return compact<RerankPlan>({ provider, model, retrieve_k: retrieveK, config: unlessEmpty(config) });
}
