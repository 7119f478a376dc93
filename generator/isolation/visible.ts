/**
 * `toolsrv test --isolation`: rows of two tenants and two document-access groups in a temporary store, and calls that
 * try to cross. What a caller may see is decided here, from the catalog as the stock YAML library reads it; what they
 * do see comes from the compiled program on the call path of a server. The room shares no code with the planner or
 * with the steps that bind a guard, so that a mistake there is a difference here.
 */
import type { Principal } from "../../runtime/abi/call.js";
import { evaluate, type Condition, type Row } from "../../runtime/abi/filter.js";
import { readPath } from "../../runtime/base/paths.js";
import type { AccessDemand, ReadDemand, WrittenCondition } from "../proof/written.js";

/** Whether the catalog lets a caller read a row in this place. */
export function mayRead({ conditions, tenant, access }: ReadDemand, principal: Principal, row: Row): boolean {
  return conditions.every((condition) => evaluate(conditionOf(condition), row))
    && (tenant === null || isOfTenant(tenant, principal, row))
    && (access === null || isAdmitted(access, principal, row));
}

/** A condition of the catalog as the filter language has it; its meaning there is the reference for every store. */
export function conditionOf({ path, op, value, dtype }: WrittenCondition): Condition {
  return { path, op, value, ...(dtype === undefined ? {} : { dtype }) } as Condition;
}

function isOfTenant({ from, name, path }: { readonly [key: string]: unknown }, { claims, headers }: Principal, row: Row): boolean {
  const own = from === "header" ? headers[String(name).toLowerCase()] : claims[String(name)];
  return typeof own === "string" && own !== "" && readPath(row, String(path)) === own;
}

function isAdmitted({ combine, rules }: AccessDemand, { claims }: Principal, row: Row): boolean {
  const meets = rules.map(({ match, claim, field }) => {
    const [own, stored] = [claims[claim], readPath(row, field)];
    if (match === "any_of") return listOf(own).every(isUsable) && listOf(stored).some((one) => isUsable(one) && listOf(own).includes(one));
    if (match === "equals") return (typeof own === "string" || typeof own === "number") && own !== "" && stored === own;
    return match === "at_most" && typeof own === "number" && typeof stored === "number" && stored <= own;
  });
  return combine === "all" ? !meets.includes(false) : meets.includes(true);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [value];
}

function isUsable(one: unknown): boolean {
  return (typeof one === "string" && one !== "") || typeof one === "number";
}
