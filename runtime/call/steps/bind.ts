/**
 * Arguments into a plan: guard ∧ tenant ∧ document access ∧ one condition an argument, always in this order, one AND.
 * Nothing an argument holds can remove or change what comes before it.
 */
import type { BoundRead, CallArgs, CallContext } from "../../abi/call.js";
import { ToolError } from "../../abi/errors.js";
import { andAll, type Condition, type Filter, type FilterTemplate, type Op, type Operand } from "../../abi/filter.js";
import type { CollectionPlan, LimitPlan } from "../../abi/plan.js";
import { aclFilter } from "./document-acl.js";
import { tenantCondition, withoutConflicts } from "./tenant.js";

/**
 * The request of one call. Absent arguments add no condition.
 * @throws ToolError auth_error without a tenant or the claims of document access, VB4010 for an argument that names another one,
 *   invalid_arguments when a required query is empty or the collection is not among those allowed.
 */
export function bind(plan: BoundRead["plan"], args: CallArgs, call: CallContext): BoundRead {
  return {
    plan,
    collection: bindCollection(plan.collection, args),
    filter: bindFilter(plan, args, call),
    text: bindText(plan, args),
    limit: plan.limit === undefined ? (plan.rows ?? 1) : bindLimit(plan.limit, args),
  };
}

/** guard ∧ tenant ∧ document access ∧ arguments ∧ the step's own filter; `null` when there is nothing to select by. */
export function bindFilter(plan: Pick<BoundRead["plan"], "guard" | "tenant" | "document_acl" | "bind" | "filter">, args: CallArgs, call: CallContext): Filter | null {
  const parts: Filter[] = [];
  if (plan.guard !== undefined) parts.push(call.services.guard(plan.guard));
  let own: Pick<BoundRead["plan"], "bind" | "filter"> = plan;
  if (plan.tenant !== undefined) {
    const tenant = tenantCondition(plan.tenant, call.principal);
    parts.push(tenant);
    own = withoutConflicts(plan.tenant, tenant, plan, args, call);
  }
  if (plan.document_acl !== undefined) parts.push(aclFilter(plan.document_acl, call.principal));
  for (const { arg, path, op, dtype } of own.bind) {
    const value = args[arg];
    if (value !== undefined && value !== null) parts.push(condition(path, op, value as Operand, dtype));
  }
  parts.push(...(own.filter === undefined ? [] : [bindTemplate(own.filter, args)].filter((part) => part !== null)));
  return andAll(parts);
}

/** A written filter with its arguments filled in: what waits for an absent argument drops out, and so does what becomes empty. */
function bindTemplate(template: FilterTemplate, args: CallArgs): Filter | null {
  if ("and" in template) return andAll(template.and.map((part) => bindTemplate(part, args)));
  if ("or" in template) return orAll(template.or.map((part) => bindTemplate(part, args)));
  if (!("param" in template)) return template;
  const value = args[template.param];
  return value === undefined || value === null ? null : condition(template.path, template.op, value as Operand, template.dtype);
}

function condition(path: string, op: Op, value: Operand, dtype: Condition["dtype"]): Condition {
  return dtype === undefined ? { path, op, value } : { path, op, value, dtype };
}

function orAll(parts: readonly (Filter | null)[]): Filter | null {
  const present = parts.filter((part) => part !== null);
  return present.length > 1 ? { or: present } : (present[0] ?? null);
}

function bindText(plan: BoundRead["plan"], args: CallArgs): string | null {
  if (plan.query === undefined) return null;
  const text = args[plan.query.arg];
  if (typeof text === "string" && text !== "") return text;
  if (plan.query.required) throw new ToolError("invalid_arguments", `${plan.query.arg}: required, expected a non-empty string`);
  return null;
}

/** How many rows the caller wants: the argument within 1 and the maximum, or the default. */
export function bindLimit(plan: LimitPlan, args: CallArgs): number {
  const limit = args[plan.arg];
  return typeof limit === "number" ? Math.min(Math.max(1, Math.trunc(limit)), plan.max) : plan.default;
}

function bindCollection(plan: CollectionPlan, args: CallArgs): string {
  if (typeof plan === "string") return plan;
  const name = args[plan.arg];
  if (typeof name === "string" && name !== "" && (plan.allowed === undefined || plan.allowed.includes(name))) return name;
  const expected = plan.allowed === undefined ? "the name of a collection" : `one of ${plan.allowed.map((one) => `'${one}'`).join(", ")}`;
  throw new ToolError("invalid_arguments", `${plan.arg}: expected ${expected}`);
}
