/**
 * Request tenancy: which tenant a call belongs to comes from the caller's identity, never from the model.
 * Every way of not knowing the tenant refuses the call.
 */
import type { CallArgs, CallContext, Principal } from "../../abi/call.js";
import { ToolError, toolError } from "../../abi/errors.js";
import type { Condition, Operand, Scalar } from "../../abi/filter.js";
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
  return typeof raw === "number" || typeof raw === "boolean" ? String(raw) : null;
}

/**
 * What becomes of an argument that names another tenant: strict refuses the call, override and warn drop the
 * argument (the tenant condition replaces it), warn says so in the envelope.
 * @throws ToolError VB4010 in strict mode.
 */
export function withoutConflicts(plan: TenantPlan, tenant: Condition, bind: readonly Binding[], args: CallArgs, call: CallContext): readonly Binding[] {
  const allowed = ([] as readonly Scalar[]).concat(tenant.value);
  const conflicts = bind.filter((binding) => {
    const given = args[binding.arg] as Operand | undefined;
    if (given === undefined || given === null || (binding.path !== plan.path && binding.arg !== plan.path)) return false;
    return !([] as readonly Scalar[]).concat(given).every((one) => allowed.includes(String(one)));
  });
  if (conflicts.length === 0) return bind;
  if (plan.enforce === "strict") {
    throw toolError("VB4010", { name: conflicts[0]?.arg ?? plan.path });
  }
  if (plan.enforce === "warn") call.warnings.push(TENANT_CONFLICT);
  return bind.filter((binding) => !conflicts.includes(binding));
}
