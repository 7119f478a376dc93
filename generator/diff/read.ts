/** The part of any plan that reads a store. */
import type { FilterTemplate } from "../../runtime/abi/filter.js";
import type { Binding, CollectionPlan, MetaPlan, OutputPlan, PipelineRetrieve, QueryPlan, ReadPlan, ToolPlan } from "../../runtime/abi/plan.js";

/** Keys that all kinds share, where present. */
export interface Read {
  readonly connection: string;
  /** `null` for tools that list collections. */
  readonly collection: CollectionPlan | null;
  /** Names that a collection argument, or a list of collections, is restricted to. */
  readonly allowed: readonly string[] | null;
  readonly guard: ReadPlan["guard"];
  readonly tenant: ReadPlan["tenant"];
  readonly documentAcl: ReadPlan["document_acl"];
  readonly route: ReadPlan["route"];
  readonly bind: readonly Binding[];
  readonly query: QueryPlan | undefined;
  readonly filter: FilterTemplate | undefined;
}

export function readOf(plan: ToolPlan): Read {
  if (plan.kind === "meta") return metaRead(plan);
  const read: ReadPlan & Partial<Pick<PipelineRetrieve, "query" | "filter">> = plan.kind === "pipeline" ? plan.retrieve : plan;
  const { connection, collection, guard, tenant, document_acl: documentAcl, route, bind, query, filter } = read;
  const allowed = typeof collection === "string" ? [collection] : (collection.allowed ?? null);
  return { connection, collection, allowed, guard, tenant, documentAcl, route, bind, query, filter };
}

function metaRead({ connection, allowed, guard, tenant, document_acl: documentAcl, route }: MetaPlan): Read {
  return { connection, collection: null, allowed: allowed ?? null, guard, tenant, documentAcl, route, bind: [], query: undefined, filter: undefined };
}

export function outputOf(plan: ToolPlan): OutputPlan | undefined {
  return "output" in plan ? plan.output : undefined;
}
