/** What every plan that reads a store has: where, what isolates it, and what leaves it. */
import type { ConnectionPlan, OutputPlan, ReadPlan } from "../../runtime/abi/plan.js";
import { CompilerBug } from "../bug.js";
import type { Resolved, ResolvedOutput, ResolvedTarget, ResolvedTool } from "../ir.js";
import { compact, unlessEmpty } from "./compact.js";
import type { EmbeddingNames } from "./connections.js";
import { bindingsOf, guardOf } from "./filters.js";
import { collectionOf, documentAclOf, routeOf, tenantOf } from "./routes.js";

/** What planning one tool needs to know of the rest of the catalog. */
export interface PlanScope {
  readonly resolved: Resolved;
  readonly connections: { readonly [name: string]: ConnectionPlan };
  readonly embeddings: EmbeddingNames;
}

/** Projection, redaction and cuts; the suffix is printed only where something is cut by it. */
export function outputPlan(output: ResolvedOutput): OutputPlan {
  return compact<OutputPlan>({
    fields: output.fields ?? undefined,
    id: output.includeId,
    score: output.includeScore,
    redact: unlessEmpty(output.redact.map(({ path, mode, patterns }) => ({ path, mode, ...(mode === "pattern" ? { patterns } : {}) }))),
    max_field_length: output.maxFieldLength ?? undefined,
    truncate_suffix: output.maxFieldLength !== null && output.truncateSuffix !== "…" ? output.truncateSuffix : undefined,
  });
}

/** Everything that isolates a read, and what the caller may add to it. */
export function readPlan(tool: ResolvedTool, target: ResolvedTarget | null, scope: PlanScope): ReadPlan {
  if (target === null) throw new CompilerBug(`${tool.kind} tool '${tool.name}' has no target`);
  const connection = scope.connections[target.connection];
  if (connection === undefined) throw new CompilerBug(`tool '${tool.name}' reads unknown connection '${target.connection}'`);
  const tenant = tenantOf(scope.resolved.tenancy);
  const acl = documentAclOf(scope.resolved.documentAcl);
  return compact<ReadPlan>({
    connection: target.connection,
    collection: collectionOf(target),
    guard: guardOf(tool.staticFilters, tool.dates),
    tenant,
    document_acl: acl,
    route: routeOf(connection),
    bind: bindingsOf({ parameters: tool.parameters, target, staticFilters: tool.staticFilters, dates: tool.dates, tenant, acl, connections: scope.connections }),
  });
}
