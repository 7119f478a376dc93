/** Static filters become the guard; parameters with a path or an operator become bindings. */
import { comparesInstants, type ComparisonOp, type FilterTemplate, type Op } from "../../runtime/abi/filter.js";
import type { Binding, ConnectionPlan, DocumentAclPlan, Guard, GuardCondition, ResolvePlan, TenantPlan } from "../../runtime/abi/plan.js";
import { CompilerBug } from "../bug.js";
import { conditionDtype } from "../dates.js";
import type { ResolvedCondition, ResolvedParameter, ResolvedStaticFilters, ResolvedTarget } from "../ir.js";
import { compact, unlessEmpty } from "./compact.js";
import { routeOf } from "./routes.js";

/**
 * What `must_not` means: each entry is turned into its opposite and ANDed.
 * A record without the field therefore passes `ne` and `nin` but none of the ordered comparisons.
 */
const OPPOSITE: { readonly [op in ComparisonOp]: ComparisonOp } = {
  eq: "ne", ne: "eq", gt: "lte", gte: "lt", lt: "gte", lte: "gt", in: "nin", nin: "in",
};

function opposite(op: Op): ComparisonOp {
  if (!(op in OPPOSITE)) throw new CompilerBug(`must_not with operator '${op}' passed the check`);
  return OPPOSITE[op as ComparisonOp];
}

function condition({ path, op, value }: ResolvedCondition, dates: readonly string[]): GuardCondition {
  const dtype = conditionDtype({ path, op, value }, dates);
  return dtype === undefined ? { path, op, value } : { path, op, value, dtype };
}

/**
 * The guard of a tool: `dates` are the fields that are points in time. Every `must` entry, then every inverted `must_not` entry, ANDed in catalog order.
 * A single entry is still an `and`, so that adding a second one is a one-line diff.
 * @returns `undefined` when the tool has no static filters.
 */
export function guardOf(filters: ResolvedStaticFilters, dates: readonly string[]): Guard | undefined {
  const and = [
    ...filters.must.map((entry) => condition(entry, dates)),
    ...filters.mustNot.map((entry) => condition({ ...entry, op: opposite(entry.op) }, dates)),
  ];
  return and.length > 0 ? { and } : undefined;
}

function bothOf(a: ResolvedStaticFilters, b: ResolvedStaticFilters): ResolvedStaticFilters {
  return { must: [...a.must, ...b.must], mustNot: [...a.mustNot, ...b.mustNot] };
}

/** What a binding's directory has to know of the tool it belongs to. */
export interface BindingScope {
  readonly parameters: readonly ResolvedParameter[];
  readonly target: ResolvedTarget | null;
  readonly staticFilters: ResolvedStaticFilters;
  readonly dates: readonly string[];
  readonly tenant: TenantPlan | undefined;
  readonly acl: DocumentAclPlan | undefined;
  readonly connections: { readonly [name: string]: ConnectionPlan };
}

/** One binding for each parameter that filters, in catalog order; a parameter without path and operator is a plain argument. */
export function bindingsOf(scope: BindingScope): readonly Binding[] {
  return scope.parameters
    .filter((parameter) => parameter.path !== null || parameter.op !== null)
    .map((parameter) =>
      compact<Binding>({
        arg: parameter.name,
        path: parameter.path ?? parameter.name,
        op: parameter.op ?? "eq",
        dtype: dtypeOf(parameter, parameter.op ?? "eq"),
        resolve: resolveOf(parameter, scope),
      }),
    );
}

/** `datetime` where the operator compares instants. */
function dtypeOf({ dtype }: ResolvedParameter, op: Op): "datetime" | undefined {
  return dtype === "datetime" && comparesInstants({ path: "", op, value: null, dtype }) ? dtype : undefined;
}

/** A written filter whose arguments of dtype datetime, and literals for fields that are points in time, are compared as instants. */
export function withDtypes(filter: FilterTemplate, parameters: readonly ResolvedParameter[], dates: readonly string[]): FilterTemplate {
  if ("and" in filter) return { and: filter.and.map((part) => withDtypes(part, parameters, dates)) };
  if ("or" in filter) return { or: filter.or.map((part) => withDtypes(part, parameters, dates)) };
  const parameter = "param" in filter ? parameters.find(({ name }) => name === filter.param) : undefined;
  const dtype = parameter !== undefined ? dtypeOf(parameter, filter.op) : "value" in filter ? conditionDtype(filter, dates) : undefined;
  return dtype === undefined ? filter : { ...filter, dtype };
}

/** A directory has its own guard and, in the tool's own collection, the tool's too: a caller is never offered a name of a record they cannot read. */
function resolveOf(parameter: ResolvedParameter, { target, staticFilters, tenant, acl, connections }: BindingScope): ResolvePlan | undefined {
  const resolve = parameter.resolve;
  if (resolve === null || resolve.kind !== "directory") return undefined;
  const own = typeof target?.collection === "string" ? target.collection : undefined;
  const connection = resolve.connection ?? target?.connection;
  const collection = resolve.collection ?? own;
  if (connection === undefined || collection === undefined) {
    throw new CompilerBug(`directory of parameter '${parameter.name}' has no connection or collection`);
  }
  const plan = connections[connection];
  const isOwn = connection === target?.connection && collection === own;
  return compact<ResolvePlan>({
    connection,
    collection,
    field: resolve.field,
    min_confidence: resolve.minConfidence,
    max_candidates: resolve.maxCandidates,
    cache_ttl_s: resolve.cacheTtlS,
    known: unlessEmpty(parameter.enum ?? []),
    guard: guardOf(isOwn ? bothOf(staticFilters, resolve.staticFilters) : resolve.staticFilters, resolve.dates),
    tenant,
    document_acl: acl,
    route: plan === undefined ? undefined : routeOf(plan),
  });
}
