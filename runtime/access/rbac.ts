/**
 * Roles: who may call which tool. Decisions only: the caller's claims come from authentication or from the embedding
 * application, the rules from the catalog's plan, and nothing here reads or waits. The room knows the abi.
 */
import type { Access, Principal } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import type { RbacPlan } from "../abi/plan.js";

/** Distinct sets of roles that are remembered; a caller brings any number of claims, a server keeps this many. */
const MAX_ROLE_SETS = 256;

/** Longest list of role names that a refusal repeats, in characters. */
const MAX_ROLES_SHOWN = 128;

/**
 * The roles of a caller, as the claims say, known to the catalog or not. A claim that is missing or "" makes the default
 * role; a text is one role and never split; an empty list is no role. Whatever is no name of a role is none.
 */
export function rolesOf(rbac: RbacPlan, claims: Principal["claims"]): readonly string[] {
  const raw = Object.hasOwn(claims, rbac.role_claim) ? claims[rbac.role_claim] : undefined;
  if (raw === undefined || raw === null || raw === "") return [rbac.default_role];
  return (Array.isArray(raw) ? raw : [raw]).flatMap((role: unknown) => roleName(role) ?? []);
}

function roleName(role: unknown): string | null {
  if (typeof role === "string") return role === "" ? null : role;
  // JSON has rounded a number beyond 53 bits: it may name another role.
  if (typeof role === "number") return Math.abs(role) <= Number.MAX_SAFE_INTEGER ? String(role) : null;
  return typeof role === "boolean" ? String(role) : null;
}

/** `denied`: to everyone, whatever a role allows. */
export type Verdict = "allowed" | "denied" | "not permitted";

/** Whether callers with these roles may call a tool. Roles that the catalog does not know allow nothing. */
export function decide(rbac: RbacPlan, roles: readonly string[], tool: string): Verdict {
  if (rbac.deny_tools.includes(tool)) return "denied";
  const allowed = roles.some((role) => {
    const allow = Object.hasOwn(rbac.roles, role) ? rbac.roles[role]?.allow : undefined;
    return allow !== undefined && (allow.includes("*") || allow.includes(tool));
  });
  return allowed ? "allowed" : "not permitted";
}

/** Everybody may call everything: the catalog checks no roles. */
const OPEN: Access = { restricted: false, audience: () => "", refusal: () => null, isDenied: () => false };

/** The rules of a catalog, ready to be asked for every call. */
export function createAccess(rbac: RbacPlan | undefined): Access {
  if (rbac === undefined) return OPEN;
  const known = new Map<string, RoleSet>();
  // A transport without authentication has one principal for everyone; it is looked at once.
  const seen = new WeakMap<Principal, RoleSet>();

  const roleSet = (principal: Principal): RoleSet => {
    const before = seen.get(principal);
    if (before !== undefined) return before;
    const roles = rolesOf(rbac, principal.claims).filter((role) => Object.hasOwn(rbac.roles, role));
    const key = JSON.stringify([...new Set(roles)].sort());
    const set = known.get(key) ?? new RoleSet(key, rbac, roles);
    if (known.size < MAX_ROLE_SETS) known.set(key, set);
    seen.set(principal, set);
    return set;
  };
  return {
    restricted: true,
    audience: (principal) => roleSet(principal).key,
    refusal(tool, principal) {
      const verdict = roleSet(principal).verdict(tool);
      return verdict === "allowed" ? null : new ToolError("auth_error", refusalText(verdict, tool, rolesOf(rbac, principal.claims)));
    },
    isDenied: (tool) => rbac.deny_tools.includes(tool),
  };
}

/** The verdicts of callers who have the same roles. */
class RoleSet {
  private readonly verdicts = new Map<string, Verdict>();

  constructor(
    readonly key: string,
    private readonly rbac: RbacPlan,
    private readonly roles: readonly string[],
  ) {}

  /** Only tools that exist are asked for, so what is remembered has an end. */
  verdict(tool: string): Verdict {
    const before = this.verdicts.get(tool);
    if (before !== undefined) return before;
    const verdict = decide(this.rbac, this.roles, tool);
    this.verdicts.set(tool, verdict);
    return verdict;
  }
}

function refusalText(verdict: Exclude<Verdict, "allowed">, tool: string, roles: readonly string[]): string {
  if (verdict === "denied") return `tool '${tool}' is denied`;
  if (roles.length === 0) return `tool '${tool}' is not permitted: the caller has no role`;
  const names = roles.join(", ");
  return `tool '${tool}' is not permitted for role ${names.length > MAX_ROLES_SHOWN ? `${names.slice(0, MAX_ROLES_SHOWN)}…` : names}`;
}
