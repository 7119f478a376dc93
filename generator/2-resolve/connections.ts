/** Connections: backend settings with their defaults, credentials, and the settings of their built-in tools. */
import type { Deferred } from "../../runtime/abi/plan.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { DEFAULT_SECRET_SOURCE, SECRET_SOURCES } from "../../runtime/secrets/descriptors.js";
import type { Path, ResolvedConnection, tds } from "../ir.js";
import { resolveStaticFilters } from "./filters.js";
import { resolveOutput, type Scope } from "./tools.js";

/** Keys of a connection that every backend has; all others are the backend's own settings. */
const COMMON = new Set(["backend", "builtin_tools", "builtin_defaults", "credentials"]);

export function resolveConnection(name: string, connection: tds.Connection, scope: Scope): ResolvedConnection {
  const at: Path = ["connections", name];
  const defaults = connection.builtin_defaults;
  const inner = [...at, "builtin_defaults"];
  return {
    name,
    at,
    backend: connection.backend,
    settings: settingsOf(connection, at, scope),
    credentials: credentialsOf(connection.credentials, [...at, "credentials"], scope),
    builtins: {
      semantic_search: connection.builtin_tools?.semantic_search ?? false,
      get_by_id: connection.builtin_tools?.get_by_id ?? false,
      count: connection.builtin_tools?.count ?? false,
      list_collections: connection.builtin_tools?.list_collections ?? false,
    },
    builtinDefaults: {
      collections: defaults?.collections ?? null,
      staticFilters: resolveStaticFilters(defaults?.static_filters, [...inner, "static_filters"], scope.interpolator),
      output: defaults?.output === undefined || defaults.output === null ? null : resolveOutput(defaults.output, [...inner, "output"]),
      descriptions: defaults?.descriptions ?? {},
      dtypes: defaults?.dtypes ?? {},
    },
  };
}

function settingsOf(connection: tds.Connection, at: Path, scope: Scope): { readonly [key: string]: Deferred } {
  const written: { readonly [key: string]: unknown } = { ...connection };
  const settings: [string, Deferred][] = [];
  for (const [key, { default: fallback }] of Object.entries(DESCRIPTORS[connection.backend].settings)) {
    if (COMMON.has(key)) continue;
    // An explicit null only says something where there is a default to take away.
    const value = written[key] === undefined ? fallback : written[key];
    if (value === null && (fallback === null || written[key] === undefined)) continue;
    settings.push([key, typeof value === "string" ? scope.interpolator.text(value, [...at, key]) : (value as Deferred)]);
  }
  return Object.fromEntries(settings);
}

/** Fields of the chosen provider's own block; those of other providers say nothing. */
function credentialsOf(credentials: tds.Credentials | undefined, at: Path, scope: Scope): ResolvedConnection["credentials"] {
  const provider = credentials?.provider ?? DEFAULT_SECRET_SOURCE.name;
  const blocks: { readonly [provider: string]: unknown } = { ...credentials };
  const block = SECRET_SOURCES[provider].load === null ? undefined : blocks[provider];
  const written = Object.entries(block ?? {}).filter(([, value]) => value !== null);
  return { provider, fields: Object.fromEntries(written.map(([key, value]) => [key, scope.interpolator.tree(value, [...at, provider, key])])) };
}
