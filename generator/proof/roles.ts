/**
 * Who may call what: security.rbac and security.auth as written against the settings as they will be served. Shares no
 * code with the planner, nor with the runtime's own decision.
 */
import { isRecord } from "../../runtime/base/paths.js";
import type { Problem } from "./certify.js";
import { reportLimits } from "./limits.js";
import { same, sameAsWritten } from "./same.js";
import type { Json } from "./written.js";

/** Tool → the roles that may call it, in the order of the catalog; `null` where roles are not checked. */
export type Callers = ReadonlyMap<string, readonly string[]> | null;

const rec = (value: unknown): Json => (isRecord(value) ? value : {});
const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** Reports each role, allowance or denial that the settings do not hold. */
export function certifyRoles(settings: Json, catalog: Json, tools: readonly string[], lost: (problem: Problem) => void): Callers {
  const [written, planned] = [rec(catalog["security"]), rec(settings["security"])];
  reportSections(rec(catalog["profiles"]), written, settings, planned, lost);
  const missing = (guard: string): void => lost({ tool: null, at: ["security", "rbac"], branch: "security.rbac", guard });
  const [rbac, held] = [rec(written["rbac"]), rec(planned["rbac"])];
  if (rbac["enabled"] !== true) {
    if (planned["rbac"] !== undefined) missing("that everybody may call every tool");
    return null;
  }
  const { role_claim: claim = "roles", default_role: fallback = "viewer" } = rbac;
  if (held["role_claim"] !== claim) missing(`the claim '${String(claim)}'`);
  if (held["default_role"] !== fallback) missing(`the role '${String(fallback)}' of callers without one`);
  const denied = texts(rbac["deny_tools"]);
  if (!same(held["deny_tools"], denied)) missing(`that exactly ${JSON.stringify(denied)} are denied to everyone`);
  const [roles, heldRoles] = [rec(rbac["roles"]), rec(held["roles"])];
  for (const role of new Set([...Object.keys(roles), ...Object.keys(heldRoles)])) {
    const allowed = texts(rec(roles[role])["allow"]);
    if (!Object.hasOwn(roles, role) || !same(rec(heldRoles[role])["allow"], allowed)) missing(`that role '${role}' may call exactly ${JSON.stringify(allowed)}`);
  }
  return new Map(tools.map((tool) => [tool, denied.includes(tool) ? [] : Object.keys(roles).filter((role) => mayCall(rec(roles[role])["allow"], tool))]));
}

function mayCall(allow: unknown, tool: string): boolean {
  return texts(allow).some((entry) => entry === "*" || entry === tool);
}

/** Sections that protect are there when the catalog switches them on, and callers are authenticated as written. */
function reportSections(profiles: Json, written: Json, settings: Json, planned: Json, lost: (problem: Problem) => void): void {
  const missing = (section: string, guard: string): void => lost({ tool: null, at: ["security"], branch: section, guard });
  const [auth, held] = [rec(written["auth"]), rec(planned["auth"])];
  if ((held["mode"] ?? null) !== (auth["mode"] ?? null)) missing("security.auth", `the mode ${JSON.stringify(auth["mode"] ?? null)}`);
  for (const way of ["jwt", "api_key"]) {
    for (const [key, value] of Object.entries(rec(auth[way]))) {
      if (value !== null && !sameAsWritten(rec(held[way])[key], value)) missing(`security.auth.${way}`, `the written '${key}'`);
    }
  }
  reportLimits(rec(written["rate_limit"]), planned["rate_limit"], missing);
  if (("enterprise" in profiles) !== (settings["hardening"] !== undefined)) missing("profiles.enterprise", "the hardening profile");
}
