/** Settings that concern serving: tenancy and document access for the plans, everything else as the server reads it. Off means absent. */
import type { ServePlan } from "../../runtime/abi/call.js";
import { ACL_MATCHES, type Json, type RateLimitPlan, type RateWindows, type RbacPlan } from "../../runtime/abi/plan.js";
import type { Path, Resolved, tds } from "../ir.js";
import type { Interpolator } from "./interpolate.js";

type Section = { readonly [key: string]: Json };

export function resolveTenancy(tenancy: tds.Tenancy | undefined): Resolved["tenancy"] {
  return {
    mode: tenancy?.mode ?? "none",
    claim: tenancy?.claim ?? null,
    header: tenancy?.header ?? "X-Tenant-Id",
    encoding: tenancy?.header_encoding ?? null,
    path: tenancy?.path ?? "tenant_id",
    enforce: tenancy?.enforce ?? "strict",
    at: ["security", "tenancy"],
  };
}

export function resolveDocumentAcl(acl: tds.DocumentAcl | undefined): Resolved["documentAcl"] {
  if (acl === undefined) return null;
  const at = ["security", "document_acl"];
  // An entry whose shape was refused is null; such a catalog is not planned.
  const entries: readonly (tds.DocumentAclRule | null)[] = acl.rules;
  const rules = entries.flatMap((written, index) =>
    ACL_MATCHES.flatMap((match) => {
      const pair = written?.[match];
      return pair === undefined ? [] : [{ match, claim: pair.claim, field: pair.field, at: [...at, "rules", index, match] }];
    }));
  return { combine: acl.combine ?? "all", rules, at };
}

/** Serving settings with defaults filled in; a section that is off is left out. */
export function resolveSettings(catalog: tds.Catalog, interpolator: Interpolator): ServePlan {
  const security: ServePlan["security"] = present({
    auth: authOf(catalog.security?.auth, interpolator),
    rbac: rbacOf(catalog.security?.rbac),
    rate_limit: rateLimitOf(catalog.security?.rate_limit, interpolator),
  });
  const observability = present({
    audit: auditOf(catalog.observability?.audit, interpolator),
    tracing: tracingOf(catalog.observability?.tracing, interpolator),
    metrics: metricsOf(catalog.observability?.metrics),
  });
  const enterprise = catalog.profiles !== undefined && "enterprise" in catalog.profiles;
  return {
    ...(catalog.deadline_s === undefined ? {} : { deadline_s: catalog.deadline_s }),
    ...(security === undefined ? {} : { security }),
    ...(observability === undefined ? {} : { observability }),
    ...(catalog.authoring?.define_tool === true ? { authoring: { define_tool: true } } : {}),
    ...(catalog.skill === undefined ? {} : { skill: { name: catalog.skill.name } }),
    ...(enterprise ? { hardening: hardeningOf(catalog.profiles?.enterprise?.security?.hardening) } : {}),
  };
}

/** The members that say something; undefined when none does. */
function present<T extends { readonly [key: string]: Section | undefined }>(members: T): { readonly [K in keyof T]?: NonNullable<T[K]> } | undefined {
  const kept = Object.entries(members).filter(([, section]) => section !== undefined);
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as { readonly [K in keyof T]?: NonNullable<T[K]> });
}

/** A section with its references open; nulls left out. */
function sectionOf(section: { readonly [key: string]: unknown }, at: Path, interpolator: Interpolator): Section {
  const kept = Object.entries(section).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept.map(([key, value]) => [key, interpolator.tree(value, [...at, key]) as Json]));
}

function authOf(auth: tds.Auth | undefined, interpolator: Interpolator): Section | undefined {
  const at = ["security", "auth"];
  const mode = auth?.mode ?? null;
  const idJag = auth?.builtin?.id_jag;
  const ways = present({
    builtin: idJag === undefined ? undefined : { id_jag: sectionOf({ algorithms: ["RS256", "ES256"], principal_claim: "sub", claims_prefix: "", ...idJag }, [...at, "builtin", "id_jag"], interpolator) },
    jwt: auth?.jwt === undefined ? undefined : sectionOf({ algorithms: ["RS256", "ES256"], principal_claim: "sub", claims_prefix: "", ...auth.jwt }, [...at, "jwt"], interpolator),
    api_key: auth?.api_key === undefined ? undefined : sectionOf({ header: "Authorization", scheme: "Bearer", ...auth.api_key }, [...at, "api_key"], interpolator),
  });
  return mode === null ? ways : { mode, ...ways };
}

function rbacOf(rbac: tds.Rbac | undefined): RbacPlan | undefined {
  if (rbac?.enabled !== true) return undefined;
  const roles = Object.fromEntries(Object.entries(rbac.roles ?? {}).map(([role, { allow }]) => [role, { allow: allow ?? [] }]));
  return { default_role: rbac.default_role ?? "viewer", role_claim: rbac.role_claim ?? "roles", roles, deny_tools: rbac.deny_tools ?? [] };
}

function rateLimitOf(limit: tds.RateLimit | undefined, interpolator: Interpolator): RateLimitPlan | undefined {
  if (limit?.enabled !== true) return undefined;
  const { store = "memory", redis_url, on_store_error = "closed", per_principal, per_tool = {} } = limit;
  return {
    store,
    ...(typeof redis_url === "string" ? { redis_url: interpolator.tree(redis_url, ["security", "rate_limit", "redis_url"]) as Json } : {}),
    on_store_error, global: windows(limit.global ?? limit.global_limits), per_principal: windows(per_principal), per_tool,
  };
}

function windows(written: tds.Windows | undefined): RateWindows {
  return Object.fromEntries(Object.entries(written ?? {}).filter((entry): entry is [string, number] => typeof entry[1] === "number"));
}

function auditOf(audit: tds.Audit | undefined, interpolator: Interpolator): Section | undefined {
  if (audit?.enabled !== true) return undefined;
  const { path, url, include, exclude_tools = [], redact } = audit;
  // A path alone says where records go.
  const { sink = typeof path === "string" ? "file" : "stdout" } = audit;
  return sectionOf(
    {
      sink, path, url, exclude_tools,
      ...(audit.chain === true ? { chain: true } : {}),
      include: { args: true, result_count: true, latency_ms: true, search_mode: true, warnings: true, ...include },
      redact: { arg_fields: redact?.arg_fields ?? ["password", "token", "secret"] },
    },
    ["observability", "audit"], interpolator,
  );
}

function tracingOf(tracing: tds.Tracing | undefined, interpolator: Interpolator): Section | undefined {
  if (tracing?.enabled !== true) return undefined;
  const { exporter = "otlp", endpoint = "http://localhost:4318", service_name = "toolsrv", semconv = false } = tracing;
  return sectionOf({ exporter, endpoint, service_name, semconv }, ["observability", "tracing"], interpolator);
}

function metricsOf(metrics: tds.Metrics | undefined): Section | undefined {
  if (metrics?.enabled !== true) return undefined;
  return { enabled: true, ...(metrics.require_auth === true ? { require_auth: true } : {}) };
}

function hardeningOf(hardening: tds.Hardening | undefined): Section {
  return {
    disable_authoring: hardening?.disable_authoring ?? true,
    disable_meta_tools: hardening?.disable_meta_tools ?? true,
    require_tenancy: hardening?.require_tenancy ?? true,
    max_limit_max: hardening?.max_limit_max ?? 100,
    allowed_backends: hardening?.allowed_backends ?? null,
  };
}
