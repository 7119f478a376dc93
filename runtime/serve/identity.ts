/** Who sent a request: the one place that makes the principal of an HTTP call. */
import type { Principal, Program } from "../abi/call.js";
import type { HttpRequest } from "../transport/types.js";

/** How a server knows its callers. */
export interface Identity {
  /** Request headers that `of` reads, lower-case. */
  readonly headers: readonly string[];
  of(request: HttpRequest): Principal;
}

const NOBODY: Principal = { id: null, claims: {}, headers: {} };

/** Nobody is authenticated: no claims, so the default role; tenancy may still name a header. */
export function anonymous(programs: readonly Program[]): Identity {
  const headers = tenantHeaders(programs);
  if (headers.length === 0) return { headers, of: () => NOBODY };
  return { headers, of: (request) => ({ ...NOBODY, headers: Object.fromEntries(headers.map((name) => [name, request.header(name)])) }) };
}

/** Names of the request headers from which tenancy takes its value, lower-case. */
function tenantHeaders(programs: readonly Program[]): readonly string[] {
  const names = new Set<string>();
  for (const plan of programs.flatMap(({ plans }) => Object.values(plans))) {
    const tenant = "retrieve" in plan ? plan.retrieve.tenant : plan.tenant;
    if (tenant?.from === "header") names.add(tenant.name.toLowerCase());
  }
  return [...names];
}
