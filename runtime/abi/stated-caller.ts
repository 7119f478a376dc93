/** The caller of one call as an embedding application states it, after it has authenticated the caller itself. */
import type { Principal } from "./call.js";
import type { TenantPlan, ToolPlan } from "./plan.js";

/** Who calls, in the words of an application that knows neither the tool's tenancy nor the claim of the roles. */
export interface StatedCaller {
  readonly principal?: string;
  readonly claims?: { readonly [claim: string]: unknown };
  /** The value of the claim that the catalog's security.rbac reads roles from, unless the claims have one. */
  readonly roles?: readonly string[];
  /** The caller's tenant, under whatever claim or header the tool's tenancy names. */
  readonly tenant?: string;
}

/** The tenancy of a tool; undefined where it has none. */
export function tenancyOf(plan: ToolPlan): TenantPlan | undefined {
  return plan.kind === "pipeline" ? plan.retrieve.tenant : plan.tenant;
}

/** The principal of a call to a tool with this tenancy. A stated tenant wins over one that a claim happens to hold. */
export function statedPrincipal({ principal, claims = {}, roles, tenant }: StatedCaller, tenancy: TenantPlan | undefined, roleClaim = "roles"): Principal {
  const stated = tenant === undefined || tenancy === undefined ? null : tenancy;
  return {
    id: principal ?? null,
    claims: { ...(roles === undefined ? {} : { [roleClaim]: roles }), ...claims, ...(stated?.from === "claim" ? { [stated.name]: tenant } : {}) },
    headers: stated?.from === "header" ? { [stated.name.toLowerCase()]: tenant as string } : {},
  };
}

/** Form of an id that a program gives a call. It is written to logs and records, where a line end or a megabyte of text would be a nuisance. */
export const REQUEST_ID_FORM = "1 to 128 characters of ASCII without spaces";

export function isRequestId(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,128}$/.test(value);
}
