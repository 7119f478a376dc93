/**
 * Keys that protect: what they say restricts callers, rows or fields, or what a build must be shown first. An unknown key is ignored with a warning, but one
 * that was probably meant to be one of these is refused, because what it should restrict would stay open.
 */
import { editDistance } from "../../runtime/base/nearest.js";

/** Each key and where it belongs. */
const PLACES: { readonly [key: string]: string } = {
  security: "at the top of the catalog",
  tenancy: "in security",
  document_acl: "in security",
  rbac: "in security",
  rate_limit: "in security",
  deny_tools: "in security.rbac",
  profiles: "at the top of the catalog",
  enterprise: "in profiles",
  hardening: "in profiles.enterprise.security",
  static_filters: "in a tool, in a connection's builtin_defaults or in a parameter's resolve",
  must_not: "in static_filters",
  builtin_defaults: "in a connection",
  redact: "in output",
  chain: "in observability.audit",
  require_auth: "in observability.metrics",
  post_filter: "in a pipeline's steps",
  quality: "in a tool",
  min_recall: "in a tool's quality",
};
/** Keys that isolate by address; only some connections have them. */
const ROUTES: ReadonlySet<string> = new Set(["namespace", "tenant"]);
/** Beginnings that mean one of the keys whatever follows: `redacted_fields`, `rbac_roles`. */
const STEMS: { readonly [stem: string]: string } = { redact: "redact", staticfilter: "static_filters", tenanc: "tenancy", documentacl: "document_acl", documentaccess: "document_acl", rbac: "rbac", ratelimit: "rate_limit", builtindefault: "builtin_defaults", requireauth: "require_auth" };
const NAMES: readonly (readonly [plain: string, key: string])[] = Object.keys(PLACES).map((key) => [plain(key), key]);

/** Whether the key restricts something where it is known. */
export function isProtecting(key: string): boolean {
  return Object.hasOwn(PLACES, key) || ROUTES.has(key);
}

/** The advice for a key that is, or nearly is, a protecting one; null for any other. Keys that begin with `x-` or `.` are the author's own. */
export function misplacedHelp(key: string): string | null {
  if (key.startsWith("x-") || key.startsWith(".")) return null;
  const word = plain(key);
  const exact = NAMES.find(([name]) => name === word)?.[1];
  if (exact !== undefined) return exact === key ? `'${key}' belongs ${PLACES[key] ?? ""}` : `did you mean '${exact}'? It belongs ${PLACES[exact] ?? ""}`;
  const meant = Object.entries(STEMS).find(([stem]) => word.startsWith(stem))?.[1] ?? nearest(word);
  return meant === null ? null : `did you mean '${meant}'? It belongs ${PLACES[meant] ?? ""}`;
}

/** One edit in words of up to six letters, two in longer ones. */
function nearest(word: string): string | null {
  if (word.length > 24) return null;
  const near = NAMES.find(([name]) => {
    const limit = Math.min(name.length, word.length) <= 6 ? 1 : 2;
    return Math.abs(name.length - word.length) <= 2 && editDistance(word, name, limit) <= limit;
  });
  return near?.[1] ?? null;
}

/** Case, hyphens and underscores aside: `staticFilters` and `static-filters` are `static_filters`. */
function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
