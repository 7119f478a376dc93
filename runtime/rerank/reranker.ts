/** Puts documents in a better order for a query. One reranker per `rerank` of a plan. */
import type { Json, RerankPlan } from "../abi/plan.js";

export interface Reranker {
  /**
   * Indexes of documents, best first; each at most once, and those that are left out do not fit the query.
   * @throws BackendError when the provider fails, or answers what is no order.
   */
  order(query: string, documents: readonly string[], signal: AbortSignal): Promise<readonly number[]>;
}

/** A reranker with the references of its `config` filled in. */
export type FilledRerank = Omit<RerankPlan, "config"> & { readonly config: { readonly [key: string]: Json } };

export interface OpenReranker {
  /** Absolute folder against which relative paths in the plan are resolved. */
  readonly base: string;
}

export interface RerankerModule {
  /** @throws BackendError setup for settings that cannot be used. */
  open(plan: FilledRerank, options: OpenReranker): Promise<Reranker>;
}
