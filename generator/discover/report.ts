/** The discovery report: a pending draft for each collection, checked by the compiler together with the catalog. Pure. */
import { stringify } from "yaml";
import { CAPABILITIES } from "../../runtime/adapters/capabilities.js";
import { compile } from "../compile.js";
import { locateAll } from "../diagnostics.js";
import { withGuardrails } from "../drafts/guardrails.js";
import { draftHash, type Issue, type JsonMap } from "../drafts/record.js";
import type { LocatedDiagnostic, Resolved, ResolvedConnection } from "../ir.js";
import type { SchemaExport } from "../schema/export.js";
import { proposeTool, tenantCandidates } from "./propose.js";

interface DiscoveredDraft {
  readonly status: "pending";
  readonly hash: string;
  readonly provenance: JsonMap;
  readonly tool: JsonMap;
  readonly issues: readonly Issue[];
}

/** The file that `discover` writes; keys in this order. */
export interface DiscoveryReport {
  readonly experimental: true;
  readonly source: { readonly connection: string; readonly backend: string; readonly redacted: true };
  /** By collection; every collection has an entry. */
  readonly tenant_field_candidates: { readonly [collection: string]: readonly string[] };
  readonly drafts: readonly DiscoveredDraft[];
}

/** What a draft is checked with. */
export interface DiscoverySource {
  readonly catalog: Resolved;
  readonly connection: ResolvedConnection;
  readonly env: ReadonlyMap<string, string>;
}

export function discoveryReport(schema: SchemaExport, source: DiscoverySource): DiscoveryReport {
  const { catalog, connection } = source;
  const value = catalog.parsed.value as JsonMap;
  const taken = new Set(catalog.tools.map(({ name }) => name));
  const hidden = hiddenPaths(catalog, connection);
  const tools = schema.collections.map((collection): JsonMap => {
    const proposed = proposeTool(connection.name, collection, CAPABILITIES[connection.backend], taken, hidden);
    taken.add(proposed.name);
    return withGuardrails({ ...proposed, ...redactionOf(catalog, connection.name, collection.name) }, value);
  });
  const issues = issuesOf(tools, value, source);
  return {
    experimental: true,
    source: { connection: connection.name, backend: connection.backend, redacted: true },
    tenant_field_candidates: Object.fromEntries(schema.collections.map((collection) => [collection.name, tenantCandidates(collection)])),
    drafts: tools.map((tool): DiscoveredDraft => {
      const hash = draftHash(tool);
      const { name, backend } = connection;
      const provenance = { created_by: "toolsrv discover", connection: name, collection: (tool["target"] as JsonMap)["collection"], backend, hash };
      return { status: "pending", hash, provenance, tool, issues: issues.get(String(tool["name"])) ?? [] };
    }),
  };
}

/** Fields that decide who sees a row of any tool. */
export function guardedPaths(catalog: Resolved, connection: ResolvedConnection): ReadonlySet<string> {
  const { must, mustNot } = connection.builtinDefaults.staticFilters;
  const tenant = catalog.tenancy.mode === "claim" || catalog.tenancy.mode === "header" ? [catalog.tenancy.path] : [];
  const acl = (catalog.documentAcl?.rules ?? []).map(({ field }) => field);
  return new Set([...must, ...mustNot].map(({ path }) => path).concat(tenant, acl));
}

/** Fields that take no argument: those that guard, where it could only confuse, and those that some tool redacts. */
function hiddenPaths(catalog: Resolved, connection: ResolvedConnection): ReadonlySet<string> {
  const redacted = catalog.tools.filter(({ target }) => target?.connection === connection.name).flatMap(({ output }) => output.redact.map(({ path }) => path));
  return new Set([...guardedPaths(catalog, connection), ...redacted]);
}

/** What tools of the catalog redact in a collection, the draft redacts too: the first rule of each path. */
function redactionOf({ tools }: Resolved, connection: string, collection: string): { readonly output?: JsonMap } {
  const rules = new Map<string, JsonMap>();
  for (const { target, steps, output } of tools) {
    const places = [target, ...steps.map((step) => (step.kind === "retrieve" ? step.target : null))];
    const reads = places.some((place) => place?.connection === connection && (typeof place.collection === "string" ? place.collection === collection : place.collection.allowed?.includes(collection) !== false));
    for (const { path, mode, patterns } of reads ? output.redact : []) if (!rules.has(path)) rules.set(path, { path, mode, ...(patterns.length === 0 ? {} : { patterns }) });
  }
  return rules.size === 0 ? {} : { output: { redact: [...rules.values()] } };
}

/** Every draft is compiled with the catalog: all in one run, each report given to the tool that it names. */
function issuesOf(tools: readonly JsonMap[], catalog: JsonMap, { env }: DiscoverySource): ReadonlyMap<string, readonly Issue[]> {
  const own = Array.isArray(catalog["tools"]) ? (catalog["tools"] as readonly unknown[]) : [];
  const { diagnostics, source } = compile({ path: "drafts", text: JSON.stringify({ ...catalog, tools: [...own, ...tools] }) }, { target: "describe", env });
  const names = new Set(tools.map((tool) => tool["name"]));
  const found = new Map<string, Issue[]>();
  for (const { severity, code, message, tool, path } of locateAll(diagnostics, source) as readonly LocatedDiagnostic[]) {
    if (tool === null || !names.has(tool)) continue;
    found.set(tool, [...(found.get(tool) ?? []), { severity, code, message, tool, path: path === null ? null : path.replace(/^tools\[\d+\]\.?/, "") || null, line: null }]);
  }
  return found;
}

/** The report as YAML. */
export function discoveryText(report: DiscoveryReport): string {
  return stringify(report, { lineWidth: 0, aliasDuplicateObjects: false });
}
