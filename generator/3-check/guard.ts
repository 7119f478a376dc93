/**
 * The guard checker. It reads the catalog as written and the plans as they will run, and decides for every tool and
 * every branch that can reach a store that each static filter and the caller's tenant are ANDed in, and that store and
 * collection are the written ones. It shares no code with the planner, so that one mistake cannot hide in both:
 * inversion, tenancy and the shapes of a plan are stated here a second time, on purpose.
 */
import type { CollectionPlan, Guard, GuardCondition, GuardOperand, MetaPlan, PipelinePlan, PlanTable, ReadPlan, ResolvePlan, TenantPlan, ToolPlan } from "../../runtime/abi/plan.js";
import { createReporter, type Reporter } from "../diagnostics.js";
import type { GuardCertificate, Pass, Resolved, ResolvedTool, tds } from "../ir.js";

type WrittenCollection = CollectionPlan | { readonly arg: string; readonly allowed: readonly string[] | null };

/** What the catalog demands of one place that reads a store. */
interface Demand {
  readonly connection: string;
  readonly collection: WrittenCollection | null;
  readonly conditions: readonly GuardCondition[];
  readonly tenant: TenantPlan | null;
  /** Settings of the connection that isolate by address. */
  readonly routes: ReadonlyMap<"namespace" | "tenant", unknown>;
}

/** One place of a plan that reads a store. */
interface Branch {
  readonly name: string;
  readonly connection: string;
  readonly collection: CollectionPlan | null;
  readonly guard: Guard | undefined;
  readonly tenant: TenantPlan | undefined;
  readonly route: ReadPlan["route"];
}

/** Certificates of all tools, in catalog order. Any guard that can't be shown is a TS0401 and leaves `value` null. */
export function certify(plans: PlanTable, catalog: Resolved): Pass<readonly GuardCertificate[]> {
  const reporter = createReporter(catalog.parsed.file.path);
  const certificates = catalog.tools.map((tool) => certifyTool(tool, plans[tool.name], catalog, reporter));
  const known = new Set(catalog.tools.map((tool) => tool.name));
  for (const name of Object.keys(plans)) {
    if (!known.has(name)) reporter.report("TS0401", { branch: "plans", guard: `tool '${name}' is in the catalog` }, null, { tool: name });
  }
  const { diagnostics } = reporter;
  return { value: diagnostics.length > 0 ? null : certificates, diagnostics };
}

function certifyTool(tool: ResolvedTool, plan: ToolPlan | undefined, catalog: Resolved, reporter: Reporter): GuardCertificate {
  const missing = (branch: string, guard: string): void => reporter.report("TS0401", { branch, guard }, { path: tool.at }, { tool: tool.name });
  if (plan === undefined || plan.kind !== tool.kind) {
    missing("plans", `tool '${tool.name}' has a plan of kind ${tool.kind}`);
    return { tool: tool.name, branches: [] };
  }
  const demand = demandOf(tool, catalog);
  const branches = [
    ...branchesOf(plan).map((branch) => showBranch(branch, demand, missing)),
    ...directoriesOf(plan).map(({ arg, branch }) => showBranch(branch, directoryDemand(arg, tool, demand), missing)),
  ];
  return { tool: tool.name, branches };
}

// ---- what the catalog demands -----------------------------------------------------------------------------------

function demandOf(tool: ResolvedTool, catalog: Resolved): Demand {
  const retrieve = tool.steps.find((step) => step.kind === "retrieve");
  const target = tool.kind === "pipeline" && retrieve?.kind === "retrieve" ? retrieve.target : tool.target;
  const connection = target?.connection ?? "";
  const written: { readonly [key: string]: unknown } = { ...catalog.parsed.value.connections[connection] };
  const settings = catalog.connections.find(({ name }) => name === connection)?.settings ?? {};
  const routes = new Map((["namespace", "tenant"] as const).filter((key) => typeof written[key] === "string").map((key) => [key, settings[key]]));
  return { connection, collection: target?.collection ?? null, conditions: conditionsOf(tool, connection, catalog), tenant: tenantOf(catalog), routes };
}

/** The conditions as written: a list or `must` as they stand, each `must_not` turned into its opposite. */
function conditionsOf(tool: ResolvedTool, connection: string, catalog: Resolved): readonly GuardCondition[] {
  const index = tool.at[1];
  const written = tool.origin === "user"
    ? typeof index === "number" ? catalog.parsed.value.tools?.[index]?.static_filters : undefined
    : catalog.parsed.value.connections[connection]?.builtin_defaults?.static_filters;
  const open = tool.origin === "user" ? null : catalog.connections.find(({ name }) => name === connection)?.builtinDefaults.staticFilters ?? null;
  const must = Array.isArray(written) ? written : written?.must ?? [];
  const mustNot = Array.isArray(written) || written === undefined || written === null ? [] : written.must_not ?? [];
  return [
    ...must.map((entry, at) => asWritten(entry, open?.must[at]?.value)),
    ...mustNot.map((entry, at) => negated(asWritten(entry, open?.mustNot[at]?.value))),
  ];
}

/** `open` is the value with its environment references as the plan has them; only built-ins can have any. */
function asWritten(entry: tds.StaticCondition, open: GuardOperand | undefined): GuardCondition {
  return { path: entry.path, op: entry.op ?? "eq", value: open ?? (entry.value as unknown as GuardOperand) };
}

function negated({ path, op, value }: GuardCondition): GuardCondition {
  switch (op) {
    case "eq":
      return { path, op: "ne", value };
    case "ne":
      return { path, op: "eq", value };
    case "in":
      return { path, op: "nin", value };
    case "nin":
      return { path, op: "in", value };
    case "lt":
      return { path, op: "gte", value };
    case "gte":
      return { path, op: "lt", value };
    case "gt":
      return { path, op: "lte", value };
    case "lte":
      return { path, op: "gt", value };
    default:
      // Refused by the check (VB2020); a plan can't satisfy it either.
      return { path: `not ${path}`, op, value };
  }
}

function tenantOf({ parsed }: Resolved): TenantPlan | null {
  const tenancy = parsed.value.security?.tenancy;
  const shared = { path: tenancy?.path ?? "tenant_id", enforce: tenancy?.enforce ?? "strict" } as const;
  if (tenancy?.mode === "claim") return { from: "claim", name: tenancy.claim ?? "", ...shared };
  return tenancy?.mode === "header" ? { from: "header", name: tenancy.header ?? "X-Tenant-Id", ...shared } : null;
}

/** A directory in another collection has other fields: there only the caller's tenant is demanded. */
function directoryDemand(arg: string, tool: ResolvedTool, demand: Demand): Demand {
  const written = tool.parameters.find(({ name }) => name === arg)?.resolve;
  const connection = written?.connection ?? demand.connection;
  const collection = written?.collection ?? demand.collection;
  if (connection === demand.connection && same(collection, demand.collection)) return demand;
  return { connection, collection, conditions: [], tenant: demand.tenant, routes: new Map() };
}

// ---- what the plan does -----------------------------------------------------------------------------------------

function branchesOf(plan: ToolPlan): readonly Branch[] {
  switch (plan.kind) {
    case "search":
      return queryBranches(plan, "filter-only");
    case "scroll":
      return queryBranches(plan, "scroll");
    case "lookup":
    case "count":
      return [branch(plan.kind, plan)];
    case "pipeline":
      return pipelineBranches(plan);
    case "meta":
      return [metaBranch(plan)];
    default:
      return plan satisfies never;
  }
}

/** A text makes a search; without one the same plan is a filter-only read. */
function queryBranches(plan: ReadPlan & { readonly query?: { readonly required: boolean } }, withoutText: string): readonly Branch[] {
  const branches = plan.query === undefined ? [] : [branch("search", plan)];
  return plan.query?.required === true ? branches : [...branches, branch(withoutText, plan)];
}

function pipelineBranches({ retrieve }: PipelinePlan): readonly Branch[] {
  return queryBranches(retrieve, "filter-only").map((read) => ({ ...read, name: `retrieve:${read.name}` }));
}

function branch(name: string, plan: ReadPlan): Branch {
  return { name, connection: plan.connection, collection: plan.collection, guard: plan.guard, tenant: plan.tenant, route: plan.route };
}

function metaBranch(plan: MetaPlan): Branch {
  const collection = plan.allowed === undefined ? null : plan.allowed.length === 1 ? plan.allowed[0] ?? null : { arg: "collection", allowed: plan.allowed };
  return { name: "count-each", connection: plan.connection, collection, guard: plan.guard, tenant: plan.tenant, route: undefined };
}

function directoriesOf(plan: ToolPlan): readonly { readonly arg: string; readonly branch: Branch }[] {
  if (plan.kind === "meta") return [];
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  return read.bind.flatMap(({ arg, resolve }) => (resolve === undefined ? [] : [{ arg, branch: directory(arg, resolve, read.route) }]));
}

function directory(arg: string, resolve: ResolvePlan, route: ReadPlan["route"]): Branch {
  return { name: `directory:${arg}`, connection: resolve.connection, collection: resolve.collection, guard: resolve.guard, tenant: resolve.tenant, route };
}

// ---- the comparison ---------------------------------------------------------------------------------------------

function showBranch(branch: Branch, demand: Demand, missing: (branch: string, guard: string) => void): GuardCertificate["branches"][number] {
  if (branch.connection !== demand.connection) missing(branch.name, `connection '${demand.connection}'`);
  if (!sameCollection(branch, demand)) missing(branch.name, `collection ${JSON.stringify(demand.collection)}`);
  const held = conjunctsOf(branch.guard);
  for (const condition of demand.conditions) {
    if (!held.some((conjunct) => same(conjunct, condition))) missing(branch.name, textOf(condition));
  }
  if (demand.tenant !== null && !same(branch.tenant, demand.tenant)) missing(branch.name, `the tenant of ${demand.tenant.from} '${demand.tenant.name}'`);
  // Counting names needs no address: the adapter's own connection fixes it.
  if (branch.name !== "count-each") {
    for (const [key, value] of demand.routes) if (!same(branch.route?.[key], value)) missing(branch.name, `the ${key} of the connection`);
  }
  return {
    branch: branch.name,
    guards: [...demand.conditions.map(textOf), ...[...demand.routes.keys()].map((key) => `${key} of the connection`)],
    tenancy: demand.tenant === null ? "none" : "filter",
  };
}

/** A meta tool that names no collections counts any, as its catalog says. */
function sameCollection(branch: Branch, demand: Demand): boolean {
  if (branch.name === "count-each" && typeof demand.collection !== "string" && demand.collection !== null) {
    return same(branch.collection, demand.collection.allowed === null || demand.collection.allowed === undefined ? null : demand.collection);
  }
  return same(branch.collection, demand.collection);
}

/** Conditions that hold for every row the filter lets through. Of an `or` only what all its branches share counts. */
function conjunctsOf(filter: Guard | undefined): readonly GuardCondition[] {
  if (filter === undefined) return [];
  if ("and" in filter) return filter.and.flatMap(conjunctsOf);
  if (!("or" in filter)) return [filter];
  const [first = [], ...others] = filter.or.map(conjunctsOf);
  return first.filter((condition) => others.every((branch) => branch.some((other) => same(other, condition))));
}

/** Equal as JSON: key order and absent keys do not matter, null and absent `allowed` mean the same. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === undefined ? b === null : b === undefined && a === null;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = a as { readonly [key: string]: unknown };
  const right = b as { readonly [key: string]: unknown };
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) => same(left[key], right[key]));
}

function textOf({ path, op, value }: GuardCondition): string {
  return `${path} ${op} ${JSON.stringify(value)}`;
}
