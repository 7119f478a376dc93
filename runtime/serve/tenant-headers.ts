/** The request headers from which the tenancy of the served catalogs takes its value. */
import type { Program } from "../abi/call.js";
import type { TenantPlan, ToolPlan } from "../abi/plan.js";
import type { TenantHeader } from "../auth/tenant-header.js";
import { StartError } from "../config/exit.js";

/** @throws StartError when two catalogs read one header in different encodings. */
export function tenantHeaders(programs: readonly Program[]): readonly TenantHeader[] {
  const found = new Map<string, TenantHeader>();
  for (const tenant of programs.flatMap(tenantsOf)) {
    if (tenant.from !== "header") continue;
    const name = tenant.name.toLowerCase();
    const encoding = tenant.encoding ?? "plain";
    const before = found.get(name);
    if (before !== undefined && before.encoding !== encoding) throw new StartError(`the catalogs read the header ${name} in different encodings (security.tenancy.header_encoding): ${before.encoding} and ${encoding}`);
    found.set(name, { name, encoding });
  }
  return [...found.values()];
}

/** Tenancy of each tool of a program. */
export function tenantsOf({ plans }: Pick<Program, "plans">): readonly TenantPlan[] {
  return Object.values(plans).flatMap((plan: ToolPlan) => ("retrieve" in plan ? plan.retrieve.tenant : plan.tenant) ?? []);
}
