/**
 * What of a tool's plan decides which rows its search finds: the part that is measured, and whose digest a certificate
 * keeps. Pure.
 */
import { fingerprint } from "../../runtime/abi/fingerprint.js";
import type { Plans } from "../ir.js";
import type { PipelineRetrieve, QueryPlan, ReadPlan, ToolPlan } from "../../runtime/abi/plan.js";

/** The search of a tool, as a call without a limit asks it. */
export interface Search {
  readonly read: ReadPlan & Partial<Pick<PipelineRetrieve, "filter">>;
  readonly query: QueryPlan;
  /** Rows that the store is asked for. */
  readonly k: number;
}

/** The search of a plan; null for tools that do not search by text. */
export function searchOf(plan: ToolPlan): Search | null {
  if (plan.kind === "meta" || plan.kind === "count" || plan.kind === "lookup") return null;
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  if (read.query === undefined) return null;
  const wanted = plan.kind === "pipeline" ? Math.min(plan.limit.default * plan.retrieve.overfetch_factor, plan.retrieve.max_candidates) : plan.limit.default;
  return { read, query: read.query, k: Math.max(wanted, plan.rerank?.retrieve_k ?? 0) };
}

/**
 * Digest of what a measurement depends on: store, collection, guard, tenancy, embedding with its locked space, effort of
 * the index, and k. Another wording, another threshold or another argument leaves a certificate valid.
 */
export function searchDigest(search: Search, { connections, embeddings }: Pick<Plans, "connections" | "embeddings">): string {
  const { read: { connection, collection, guard, tenant, document_acl, route, filter }, query: { embedding, mode, alpha, ef }, k } = search;
  const store = connections[connection];
  return fingerprint({ store: { backend: store?.backend, settings: store?.settings }, collection, guard, tenant, document_acl, route, filter, embedding: embeddings[embedding], mode, alpha, ef, k });
}
