/**
 * What adding a draft may not change: anything but the one tool, and nothing that keeps callers apart. A tool that reads
 * a collection which no tool read before is for the approver to decide; one that reads more of a collection than the
 * tools that are there is refused.
 */
import type { QueryPlan, ToolPlan } from "../../runtime/abi/plan.js";
import type { CodeArgs } from "../../runtime/abi/codes.js";
import type { Compiled } from "../compile.js";
import { same, type Change } from "../diff/change.js";
import type { ResolvedEmbedding, ResolvedTool } from "../ir.js";

/** A change that a draft may not make. */
export type Beyond =
  | { readonly code: "TS0602"; readonly args: CodeArgs<"TS0602">; readonly path: string | null }
  | { readonly code: "TS0604"; readonly args: CodeArgs<"TS0604">; readonly path: null };

/**
 * Whether the approver decides about a change that weakens isolation: rows where all callers had only their number. Where
 * roles are checked the same change may undo a denial, so there none is.
 */
function isDecided({ subject }: Change, { plans }: Compiled): boolean {
  return subject === "reach" && plans.settings.security?.rbac === undefined;
}

/** Everything that the catalog with the tool `name` has beyond the one without it, and may not. */
export function changesBeyond({ compiled }: { readonly compiled: Compiled }, after: Compiled, name: string, changes: readonly Change[]): readonly Beyond[] {
  const weaker = changes.filter((change) => change.class === "isolation-weakening" && !isDecided(change, compiled));
  return [
    ...weaker.map(({ subject, message }): Beyond => ({ code: "TS0604", args: { subject, detail: message }, path: null })),
    ...changedElsewhere(compiled, after, name),
    ...newServices(compiled, after, name),
  ];
}

function changedElsewhere({ plans: old }: Compiled, { plans: next }: Compiled, name: string): readonly Beyond[] {
  const changed = (what: string): Beyond => ({ code: "TS0604", args: { subject: what, detail: `adding the tool would change ${what}` }, path: null });
  const definitions = next.definitions.filter((definition) => definition.name !== name);
  return [
    ...(same(old.connections, next.connections) ? [] : [changed("the connections")]),
    ...(same(old.settings, next.settings) ? [] : [changed("the settings")]),
    ...(same(old.definitions, definitions) ? [] : [changed("what is advertised of other tools")]),
    ...[...new Set([...Object.keys(old.tools), ...Object.keys(next.tools)])].filter((tool) => tool !== name && !same(old.tools[tool], next.tools[tool])).map((tool) => changed(`the tool '${tool}'`)),
  ];
}

/** A service that no tool of the catalog asks would learn what callers search for. */
function newServices({ plans: old, checked: before }: Compiled, { plans: next, checked: after }: Compiled, name: string): readonly Beyond[] {
  const plan = next.tools[name];
  const tool = after.tools.find((each) => each.origin === "user" && each.name === name);
  if (plan === undefined || tool === undefined) return [];
  const asks = (path: string, what: string): Beyond => ({ code: "TS0602", args: { where: path, what: `asks ${what}, which no tool of the catalog asks` }, path });
  const known = before.tools.flatMap(embeddingsOf);
  const plans = Object.values(old.tools);
  const [expand, rerank] = [queryOf(plan)?.expand, rerankOf(plan)];
  return [
    ...embeddingsOf(tool).filter((one) => one.origin === "stated" && !known.some((other) => isSameEmbedding(one, other))).map(({ provider, model }) => asks("query.embedding", `${provider}/${model}`)),
    ...(expand === undefined || plans.some((other) => queryOf(other)?.expand?.provider === expand.provider) ? [] : [asks("query.expand", `the provider ${expand.provider}`)]),
    ...(rerank === undefined || plans.some((other) => rerankOf(other)?.provider === rerank.provider) ? [] : [asks("rerank", `the provider ${rerank.provider}`)]),
  ];
}

function embeddingsOf(tool: ResolvedTool): readonly ResolvedEmbedding[] {
  const queries = [tool.query, ...tool.steps.map((step) => (step.kind === "retrieve" ? step.query : null))];
  return queries.flatMap((query) => (query === null ? [] : [query.embedding]));
}

function isSameEmbedding(a: ResolvedEmbedding, b: ResolvedEmbedding): boolean {
  return a.provider === b.provider && a.model === b.model && a.dims === b.dims && same(a.config, b.config);
}

function queryOf(plan: ToolPlan): QueryPlan | undefined {
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  return "query" in read ? read.query : undefined;
}

function rerankOf(plan: ToolPlan): { readonly provider: string } | undefined {
  return "rerank" in plan ? plan.rerank : undefined;
}
