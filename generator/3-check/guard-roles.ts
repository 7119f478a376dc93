/**
 * The guard checker's word on roles: it reads security.rbac as written and the settings as they will be served, and
 * decides for every tool who may call it. Like guard.ts it shares no code with the planner, nor with the runtime's
 * own decision, so that one mistake cannot hide in both.
 */
import type { ServePlan } from "../../runtime/abi/call.js";
import { createReporter } from "../diagnostics.js";
import type { Pass, Resolved } from "../ir.js";

/** Tool → the roles that may call it, in the order of the catalog; `null` where roles are not checked. */
export type Callers = ReadonlyMap<string, readonly string[]> | null;

/** Who may call each tool. A role, an allowance or a denial that the plan does not hold is a TS0401. */
export function certifyRoles(settings: ServePlan, catalog: Resolved): Pass<Callers> & { readonly value: Callers } {
  const reporter = createReporter(catalog.parsed.file.path);
  const written = catalog.parsed.value.security?.rbac;
  const planned = settings.security?.rbac;
  const missing = (guard: string): void => reporter.report("TS0401", { branch: "security.rbac", guard }, { path: ["security", "rbac"] });
  if (written?.enabled !== true) {
    if (planned !== undefined) missing("that everybody may call every tool");
    return { value: null, diagnostics: reporter.diagnostics };
  }
  if ((planned?.role_claim ?? null) !== (written.role_claim ?? "roles")) missing(`the claim '${written.role_claim ?? "roles"}'`);
  if ((planned?.default_role ?? null) !== (written.default_role ?? "viewer")) missing(`the role '${written.default_role ?? "viewer"}' of callers without one`);
  for (const tool of written.deny_tools ?? []) if (planned?.deny_tools.includes(tool) !== true) missing(`that '${tool}' is denied to everyone`);
  const callers = new Map<string, readonly string[]>();
  for (const { name } of catalog.tools) {
    const open = (written.deny_tools ?? []).indexOf(name) < 0;
    const roles = open ? Object.keys(written.roles ?? {}).filter((role) => allows(written.roles?.[role]?.allow ?? [], name)) : [];
    const held = open ? Object.keys(planned?.roles ?? {}).filter((role) => allows(planned?.roles[role]?.allow ?? [], name)) : [];
    for (const role of held) if (!roles.includes(role)) missing(`that role '${role}' may not call '${name}'`);
    for (const role of roles) if (!held.includes(role)) missing(`that role '${role}' may call '${name}'`);
    callers.set(name, roles);
  }
  return { value: callers, diagnostics: reporter.diagnostics };
}

function allows(list: readonly string[], tool: string): boolean {
  return list.some((entry) => entry === "*" || entry === tool);
}
