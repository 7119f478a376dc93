/** One resolved tool → one plan. Keys of every plan are in the order the reader of generated code expects. */
import type { CountPlan, LimitPlan, LookupPlan, MetaPlan, ScrollPlan, SearchPlan, ToolPlan } from "../../runtime/abi/plan.js";
import { CompilerBug, unreachable } from "../bug.js";
import type { ResolvedTool } from "../ir.js";
import { compact } from "./compact.js";
import { guardOf } from "./filters.js";
import { pipelinePlan } from "./pipeline.js";
import { queryPlan, rerankPlan } from "./query.js";
import { outputPlan, readPlan, type PlanScope } from "./read.js";
import { documentAclOf, routeOf, tenantOf } from "./routes.js";

/** How many rows a call may ask for; `null` for the kinds that advertise no limit. */
export function limitOf(tool: ResolvedTool): LimitPlan | null {
  const first = tool.steps[0];
  const limit = { default: Math.min(tool.output.limitDefault, tool.output.limitMax), max: tool.output.limitMax };
  switch (tool.kind) {
    case "search":
    case "scroll":
      return { arg: "limit", ...limit };
    case "pipeline":
      return { arg: first?.kind === "retrieve" ? first.kParam : "limit", ...limit };
    case "lookup":
    case "count":
    case "meta":
      return null;
    default:
      return unreachable(tool.kind);
  }
}

function requiredLimit(tool: ResolvedTool): LimitPlan {
  const limit = limitOf(tool);
  if (limit === null) throw new CompilerBug(`${tool.kind} tool '${tool.name}' has no limit`);
  return limit;
}

function searchPlan<K extends "search" | "scroll">(kind: K, tool: ResolvedTool, scope: PlanScope): SearchPlan | ScrollPlan {
  const { connection, collection, ...rest } = readPlan(tool, tool.target, scope);
  return compact<SearchPlan | ScrollPlan>({
    kind,
    connection,
    collection,
    query: tool.query === null ? undefined : queryPlan(tool.query, tool.minRecall, scope.embeddings),
    ...rest,
    rerank: tool.query === null ? undefined : rerankPlan(tool.rerank),
    limit: requiredLimit(tool),
    output: outputPlan(tool.output),
  });
}

function lookupPlan(tool: ResolvedTool, scope: PlanScope): LookupPlan {
  const rows = Math.min(tool.output.limitDefault, tool.output.limitMax);
  return { kind: "lookup", ...readPlan(tool, tool.target, scope), rows, output: outputPlan(tool.output) };
}

function countPlan(tool: ResolvedTool, scope: PlanScope): CountPlan {
  return { kind: "count", ...readPlan(tool, tool.target, scope) };
}

function metaPlan(tool: ResolvedTool, scope: PlanScope): MetaPlan {
  const target = tool.target;
  const connection = scope.resolved.connections.find(({ name }) => name === target?.connection);
  if (connection === undefined) throw new CompilerBug(`meta tool '${tool.name}' has no connection`);
  const plan = scope.connections[connection.name];
  return compact<MetaPlan>({
    kind: "meta",
    connection: connection.name,
    allowed: connection.builtinDefaults.collections ?? undefined,
    guard: guardOf(connection.builtinDefaults.staticFilters, tool.dates),
    tenant: tenantOf(scope.resolved.tenancy),
    document_acl: documentAclOf(scope.resolved.documentAcl),
    route: plan === undefined ? undefined : routeOf(plan),
  });
}

/** The plan of one tool. @throws CompilerBug when the catalog was not checked. */
export function toolPlan(tool: ResolvedTool, scope: PlanScope): ToolPlan {
  const made = planOfKind(tool, scope);
  return tool.deadlineS === null ? made : { ...made, deadline_s: tool.deadlineS };
}

function planOfKind(tool: ResolvedTool, scope: PlanScope): ToolPlan {
  switch (tool.kind) {
    case "search":
    case "scroll":
      return searchPlan(tool.kind, tool, scope);
    case "lookup":
      return lookupPlan(tool, scope);
    case "count":
      return countPlan(tool, scope);
    case "pipeline":
      return pipelinePlan(tool, requiredLimit(tool), scope);
    case "meta":
      return metaPlan(tool, scope);
    default:
      return unreachable(tool.kind);
  }
}
