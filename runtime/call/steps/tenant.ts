/**
 * Request tenancy: which tenant a call belongs to comes from the caller's identity, never from the model.
 * Every way of not knowing the tenant refuses the call.
 */
import type { CallArgs, CallContext, Principal } from "../../abi/call.js";
import { ToolError, toolError } from "../../abi/errors.js";
import type { Condition, FilterTemplate, Operand, Scalar } from "../../abi/filter.js";
import type { Binding, TenantPlan } from "../../abi/plan.js";

/** Result warning of `enforce: warn`, error code of `enforce: strict`. */
export const TENANT_CONFLICT = "VB4010";

/** Tenants that one caller may belong to; a longer list is no list of tenants, and would make every query slow. */
const MAX_TENANTS = 256;

/**
 * The condition that confines a call to its tenant. A claim that lists several tenants admits each of them.
 * @throws ToolError auth_error when the caller has no tenant.
 */
export function tenantCondition(plan: TenantPlan, principal: Principal): Condition {
  const value = tenantValue(plan, principal);
  if (value === null) throw new ToolError("auth_error", "tenancy value is required: the caller's identity names no tenant");
  return typeof value === "string" ? { path: plan.path, op: "eq", value } : { path: plan.path, op: "in", value };
}

function tenantValue(plan: TenantPlan, principal: Principal): string | readonly string[] | null {
  const [source, name] = plan.from === "claim" ? [principal.claims, plan.name] : [principal.headers, plan.name.toLowerCase()];
  const raw = Object.hasOwn(source, name) ? source[name] : undefined;
  if (Array.isArray(raw)) {
    if (raw.length > MAX_TENANTS) return null;
    const values = raw.map(scalarText);
    return values.length === 0 || values.includes(null) ? null : (values as string[]);
  }
  return scalarText(raw);
}

function scalarText(raw: unknown): string | null {
  if (typeof raw === "string") return raw === "" ? null : raw;
  // JSON has rounded a number beyond 53 bits: it may be the id of another tenant.
  if (typeof raw === "number") return Math.abs(raw) <= Number.MAX_SAFE_INTEGER ? String(raw) : null;
  return typeof raw === "boolean" ? String(raw) : null;
}

/** What arguments add to a call's filter. */
interface ArgumentFilter {
  readonly bind: readonly Binding[];
  readonly filter?: FilterTemplate;
}

/**
 * What becomes of an argument that names another tenant: strict refuses the call, override and warn drop the
 * argument (the tenant condition replaces it), warn says so in the envelope.
 * @throws ToolError VB4010 in strict mode.
 */
export function withoutConflicts(plan: TenantPlan, tenant: Condition, own: ArgumentFilter, args: CallArgs, call: CallContext): ArgumentFilter {
  const { bind, filter } = own;
  const allowed = ([] as readonly Scalar[]).concat(tenant.value);
  const isForeign = (arg: string): boolean => {
    const given = args[arg] as Operand | undefined;
    return given !== undefined && given !== null && !([] as readonly Scalar[]).concat(given).every((one) => allowed.includes(String(one)));
  };
  const isConflict = ({ arg, path }: Pick<Binding, "arg" | "path">): boolean => (path === plan.path || arg === plan.path) && isForeign(arg);
  const conflict = bind.find(isConflict)?.arg ?? (filter === undefined ? undefined : usesOf(filter).find(isConflict)?.arg);
  if (conflict === undefined) return own;
  if (plan.enforce === "strict") throw toolError("VB4010", { name: conflict });
  if (plan.enforce === "warn") call.warnings.push(TENANT_CONFLICT);
  const kept = filter === undefined ? null : withoutParams(filter, isConflict);
  return { bind: bind.filter((binding) => !isConflict(binding)), ...(kept === null ? {} : { filter: kept }) };
}

/** The arguments of a written filter, and what they are compared with. */
function usesOf(template: FilterTemplate): readonly Pick<Binding, "arg" | "path">[] {
  if ("and" in template) return template.and.flatMap(usesOf);
  if ("or" in template) return template.or.flatMap(usesOf);
  return "param" in template ? [{ arg: template.param, path: template.path }] : [];
}

/** The filter as if those arguments were absent. */
function withoutParams(template: FilterTemplate, isDropped: (use: Pick<Binding, "arg" | "path">) => boolean): FilterTemplate | null {
  const kept = (parts: readonly FilterTemplate[]): readonly FilterTemplate[] => parts.flatMap((part) => withoutParams(part, isDropped) ?? []);
  if ("and" in template) return { and: kept(template.and) };
  if ("or" in template) return { or: kept(template.or) };
  return "param" in template && isDropped({ arg: template.param, path: template.path }) ? null : template;
}
