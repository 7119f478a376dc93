/** Pipelines: one retrieve, then steps that run in this process. */
import type { LimitPlan, PipelinePlan, PipelineRetrieve, PipelineStep } from "../../runtime/abi/plan.js";
import { CompilerBug, unreachable } from "../bug.js";
import { instantParams, withInstants } from "../dates.js";
import { parseExpression } from "../expression.js";
import type { ResolvedStep, ResolvedTool } from "../ir.js";
import { compact } from "./compact.js";
import { withDtypes } from "./filters.js";
import { queryBlockOf, queryPlan, rerankPlan } from "./query.js";
import { outputPlan, readPlan, type PlanScope } from "./read.js";

function retrievePlan(tool: ResolvedTool, step: ResolvedStep & { kind: "retrieve" }, scope: PlanScope): PipelineRetrieve {
  const { connection, collection, ...rest } = readPlan(tool, step.target, scope);
  const query = queryBlockOf(tool);
  return compact<PipelineRetrieve>({
    connection,
    collection,
    query: query === null ? undefined : queryPlan(query, tool.minRecall, scope.embeddings),
    ...rest,
    filter: step.filter === null ? undefined : withDtypes(step.filter, tool.parameters, tool.dates),
    overfetch_factor: step.overfetchFactor,
    max_candidates: step.maxCandidates,
  });
}

/** `take: 3` or `take: params.per_director`. */
function takeOf(take: number | string): number | { readonly param: string } {
  return typeof take === "number" ? take : { param: take.replace(/^params\s*\.\s*/, "") };
}

function stepPlan(step: ResolvedStep, { dates, parameters }: ResolvedTool): PipelineStep {
  const dtypeOf = (path: string): "datetime" | undefined => (dates.includes(path) ? "datetime" : undefined);
  switch (step.kind) {
    case "post_filter": {
      const parsed = parseExpression(step.expr);
      if ("error" in parsed) throw new CompilerBug(`expression '${step.expr}' passed the check: ${parsed.error}`);
      return { kind: "post_filter", text: step.expr, expr: withInstants(parsed.expr, { fields: dates, params: instantParams(parameters) }) };
    }
    case "group_by": {
      if (step.perGroup === null) return { kind: "group_by", keys: step.keys };
      const { sortBy, desc, take } = step.perGroup;
      return { kind: "group_by", keys: step.keys, per_group: compact({ sort_by: sortBy, desc, dtype: dtypeOf(sortBy), take: takeOf(take) }) };
    }
    case "sort":
      return compact({ kind: "sort" as const, by: step.by, desc: step.desc, nulls: step.nulls, dtype: dtypeOf(step.by) });
    case "project":
      return { kind: "project", fields: step.fields };
    case "retrieve":
      throw new CompilerBug("a second retrieve step passed the check");
    default:
      return unreachable(step);
  }
}

/** The query of the retrieve step is the one the tool advertises. */
export function pipelinePlan(tool: ResolvedTool, limit: LimitPlan, scope: PlanScope): PipelinePlan {
  const [first, ...others] = tool.steps;
  if (first?.kind !== "retrieve") throw new CompilerBug(`pipeline '${tool.name}' does not start with retrieve`);
  return compact<PipelinePlan>({
    kind: "pipeline",
    retrieve: retrievePlan(tool, first, scope),
    steps: others.map((step) => stepPlan(step, tool)),
    rerank: queryBlockOf(tool) === null ? undefined : rerankPlan(tool.rerank),
    limit,
    output: outputPlan(tool.output),
  });
}
