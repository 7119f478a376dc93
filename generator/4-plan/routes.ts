/** Where a tool reads and for whom: the collection, isolation by address, the request's tenant, and document access. */
import type { CollectionPlan, ConnectionPlan, DocumentAclPlan, RoutePlan, TenantPlan } from "../../runtime/abi/plan.js";
import { CompilerBug } from "../bug.js";
import type { Resolved, ResolvedTarget } from "../ir.js";
import { compact, unlessEmpty } from "./compact.js";

/** A fixed name, or the argument that carries it with the names it may take. */
export function collectionOf(target: ResolvedTarget): CollectionPlan {
  const { collection } = target;
  if (typeof collection === "string") return collection;
  return compact<{ arg: string; allowed?: readonly string[] }>({ arg: collection.arg, allowed: collection.allowed ?? undefined });
}

/**
 * Isolation that the store enforces by addressing: the connection's own namespace or tenant.
 * @returns `undefined` when the connection fixes neither.
 */
export function routeOf(connection: ConnectionPlan): RoutePlan | undefined {
  const { namespace, tenant } = connection.settings;
  return unlessEmpty(compact<RoutePlan>({ namespace: namespace ?? undefined, tenant: tenant ?? undefined }));
}

/** The condition that the caller's identity adds; `undefined` where tenancy takes nothing from the request. */
export function tenantOf(tenancy: Resolved["tenancy"]): TenantPlan | undefined {
  const { mode, path, enforce } = tenancy;
  if (mode === "none" || mode === "static") return undefined;
  const name = mode === "claim" ? tenancy.claim : tenancy.header;
  if (name === null) throw new CompilerBug("claim tenancy without a claim passed the check");
  const encoding = mode === "header" ? tenancy.encoding : null;
  return { from: mode, name, ...(encoding === null ? {} : { encoding }), path, enforce };
}

/** The rows that the caller's claims admit; `undefined` where the catalog has no document access. */
export function documentAclOf(acl: Resolved["documentAcl"]): DocumentAclPlan | undefined {
  if (acl === null) return undefined;
  if (acl.rules.length === 0) throw new CompilerBug("document access without rules passed the check");
  return { combine: acl.combine, rules: acl.rules.map(({ match, claim, field }) => ({ match, claim, field })) };
}
