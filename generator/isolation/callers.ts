/** Who probes: two tenants with two document-access groups each, and callers whose claims are missing or malformed. */
import type { Principal } from "../../runtime/abi/call.js";
import type { RbacPlan } from "../../runtime/abi/plan.js";
import type { AccessDemand } from "../proof/written.js";

export interface ProbeCaller {
  /** As the report names it. */
  readonly name: string;
  readonly principal: Principal;
}

/** What distinguishes callers in a catalog. */
export interface CallerRules {
  readonly tenant: { readonly [key: string]: unknown } | null;
  readonly access: AccessDemand | null;
  readonly rbac: RbacPlan | undefined;
}

export const TENANTS = ["probe-tenant-a", "probe-tenant-b"] as const;
export type Tenant = (typeof TENANTS)[number];
export const GROUPS = ["p", "q"] as const;
export type Group = (typeof GROUPS)[number];

/** Numbers that the claims of the two groups hold; every number that is at most the smaller one is at most both. */
const CLEARANCE: { readonly [G in Group]: number } = { p: 10, q: 5 };
const LEVEL: { readonly [G in Group]: number } = { p: 8, q: 3 };

/** A claim of a group: a number where any rule compares it as one. */
export function claimValue({ rules }: AccessDemand, claim: string, group: Group): string | number {
  return isNumeric(rules, claim) ? CLEARANCE[group] : `probe-${claim}-${group}`;
}

/** What a row of the group has in the field of a rule. */
export function fieldValue({ rules }: AccessDemand, { match, claim }: AccessDemand["rules"][number], group: Group): unknown {
  if (match === "at_most") return LEVEL[group];
  const value = isNumeric(rules, claim) ? CLEARANCE[group] : `probe-${claim}-${group}`;
  return match === "any_of" ? [value] : value;
}

function isNumeric(rules: AccessDemand["rules"], claim: string): boolean {
  return rules.some((rule) => rule.match === "at_most" && rule.claim === claim);
}

/** Callers in the order in which they probe: neighbours differ in tenant and group, so that nothing kept for one fits the next. */
export function callersOf(rules: CallerRules): readonly ProbeCaller[] {
  const { tenant, access } = rules;
  if (tenant === null && access === null) return [{ name: "anyone", principal: principalOf(rules, null, null) }];
  const tenants = tenant === null ? [null] : TENANTS;
  const groups = access === null ? [null] : GROUPS;
  const pairs = groups.flatMap((group) => tenants.map((own) => ({ own, group })));
  const named = pairs.map(({ own, group }) => ({ name: [own ?? "", group === null ? "" : `group ${group}`].filter((part) => part !== "").join(", "), principal: principalOf(rules, own, group) }));
  return [...named, ...strangers(rules), ...named.slice(0, 1)];
}

/** Every caller has every role: roles decide which tool may be called, and here the rows are the question. */
function principalOf({ tenant, access, rbac }: CallerRules, own: Tenant | null, group: Group | null): Principal {
  const roles = rbac === undefined ? {} : { [rbac.role_claim]: Object.keys(rbac.roles) };
  const groups = access === null || group === null ? {} : Object.fromEntries(access.rules.map(({ match, claim }) => {
    const value = claimValue(access, claim, group);
    return [claim, claim === rbac?.role_claim && match === "any_of" ? [...Object.keys(rbac.roles), value] : value];
  }));
  const name = String(tenant?.["name"] ?? "");
  const fromClaim = own !== null && tenant?.["from"] === "claim" ? { [name]: own } : {};
  const headers = own !== null && tenant?.["from"] === "header" ? { [name.toLowerCase()]: own } : {};
  return { id: "probe", claims: { ...roles, ...groups, ...fromClaim }, headers };
}

/** Callers who lack one thing, or have it in a form that must not count, and who have everything else. */
function strangers(rules: CallerRules): readonly ProbeCaller[] {
  const { tenant, access, rbac } = rules;
  const [own] = tenant === null ? [null] : TENANTS;
  const [group] = access === null ? [null] : GROUPS;
  const whole = principalOf(rules, own, group);
  const replaced = (claim: string, value: unknown): Principal => ({ ...whole, claims: { ...whole.claims, [claim]: value } });
  const tenantless = tenant === null ? [] : [{ name: "a caller without a tenant", principal: principalOf(rules, null, group) }];
  const header = tenant?.["from"] === "header" ? String(tenant["name"]).toLowerCase() : null;
  const listed = tenant?.["from"] === "claim" ? replaced(String(tenant["name"]), [{ [String(tenant["name"])]: own }]) : header === null ? null : { ...whole, headers: { [header]: "" } };
  const claims = [...new Map((access?.rules ?? []).map((rule) => [rule.claim, rule])).values()].filter(({ claim }) => claim !== rbac?.role_claim && claim !== tenant?.["name"]);
  return [
    { name: "a caller without claims", principal: principalOf(rules, null, null) },
    ...tenantless,
    ...(listed === null ? [] : [{ name: "a caller with a malformed tenant", principal: listed }]),
    ...claims.flatMap(({ claim, match }) => [
      { name: `a caller without '${claim}'`, principal: replaced(claim, undefined) },
      { name: `a caller with a malformed '${claim}'`, principal: replaced(claim, malformed(match, whole.claims[claim])) },
    ]),
  ];
}

/** The value that would count, in a form that does not. */
function malformed(match: string, value: unknown): unknown {
  if (match === "any_of") return [value, { value }];
  return match === "at_most" ? String(value) : [value];
}
