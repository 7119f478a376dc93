/** Rules about tenancy, roles and rates. */
import { nearestName } from "../../../runtime/base/nearest.js";
import type { Rule } from "../rule.js";

/** Names a role may allow although no tool of the catalog has them. */
const SERVER_TOOLS: ReadonlySet<string> = new Set([
  "*", "ping", "define_tool", "describe_collection", "list_available_tools", "run_tool", "list_my_connections", "get_started",
]);

/** Blocks that protect, with the key that switches each on. */
const SWITCHES = [
  { at: ["security", "tenancy"], key: "mode", on: "claim, header or static", off: "none" },
  { at: ["security", "rbac"], key: "enabled", on: "true", off: "false" },
  { at: ["security", "rate_limit"], key: "enabled", on: "true", off: "false" },
  { at: ["observability", "audit"], key: "enabled", on: "true", off: "false" },
] as const;

/** A block with settings and without its switch does nothing, although its author meant it to. */
export const switches: Rule = ({ catalog: { parsed } }, reporter) => {
  for (const { at: [section, name], key, on, off } of SWITCHES) {
    const block: { readonly [key: string]: unknown } | undefined = (parsed.value[section] as { readonly [name: string]: { readonly [key: string]: unknown } } | undefined)?.[name];
    const isBroken = parsed.broken.some((path) => path[0] === section && path[1] === name && path[2] === key);
    if (block === undefined || isBroken || block[key] !== undefined || Object.keys(block).length === 0) continue;
    reporter.report("TS0221", { where: `${section}.${name}`, key, on, off }, { path: [section, name], on: "key" });
  }
};

/**
 * How a header is written says that the tenant comes from one. The names of claim and header may stay in any mode, for a
 * catalog that switches between them.
 */
export const tenancyKeys: Rule = ({ catalog: { parsed, tenancy } }, reporter) => {
  const written = parsed.value.security?.tenancy;
  // Without a mode, `switches` reports the whole block.
  if (written?.header_encoding === undefined || written.mode === undefined || tenancy.mode === "header") return;
  reporter.report("TS0229", { key: "header_encoding", wanted: "header", mode: tenancy.mode }, { path: [...tenancy.at, "header_encoding"], on: "key" });
};

export const staticTenancy: Rule = ({ catalog }, reporter) => {
  if (catalog.tenancy.mode !== "static") return;
  for (const { name, at, kind, origin, staticFilters } of catalog.tools) {
    // A list of collections returns no records, so no filter applies to it.
    if (kind === "meta" || staticFilters.must.length > 0) continue;
    reporter.report("TS0222", { name }, { path: at, ...(origin === "user" ? {} : { on: "key" as const }) }, { tool: name });
  }
};

export const tenancy: Rule = ({ catalog }, reporter) => {
  const { mode, claim, path, at } = catalog.tenancy;
  if (mode === "claim" && (claim === null || claim === "")) reporter.report("VB4011", {}, { path: [...at, "mode"] });
  if (mode === "header" && catalog.tenancy.header === "") reporter.report("TS0217", { mode }, { path: [...at, "header"] });
  if (mode !== "claim" && mode !== "header") return;
  for (const tool of catalog.tools) {
    for (const parameter of tool.parameters) {
      if (parameter.path !== path && parameter.name !== path) continue;
      const key = parameter.path === path ? "path" : "name";
      reporter.report("VB4012", { name: parameter.name, path }, { path: [...parameter.at, key] }, { tool: tool.name });
    }
  }
};

export const roles: Rule = ({ catalog }, reporter) => {
  const rbac = catalog.parsed.value.security?.rbac;
  if (rbac?.enabled !== true) return;
  const at = ["security", "rbac"];
  const entries = Object.entries(rbac.roles ?? {});
  if (entries.length === 0) reporter.report("VB4013", {}, { path: [...at, "enabled"] });
  const names = new Set(catalog.tools.map((tool) => tool.name));
  const meant = (name: string): { readonly help?: string } => {
    const guess = nearestName(name, names);
    return guess === null ? {} : { help: `did you mean '${guess}'?` };
  };
  for (const [role, { allow }] of entries) {
    for (const [index, name] of (allow ?? []).entries()) {
      if (SERVER_TOOLS.has(name) || names.has(name)) continue;
      reporter.report("VB4014", { role, name }, { path: [...at, "roles", role, "allow", index] }, { tool: name, ...meant(name) });
    }
  }
  // A misspelt denial denies nothing, and neither does a pattern. A name that is like no tool is what a removed tool left behind.
  const deniable = new Set([...names, ...SERVER_TOOLS].filter((name) => name !== "*"));
  for (const [index, name] of (rbac.deny_tools ?? []).entries()) {
    if (deniable.has(name)) continue;
    const guess = nearestName(name, deniable);
    const help = guess !== null ? `did you mean '${guess}'? That tool would not be denied` : /\W/.test(name) ? "nothing is denied by it: write one tool name per entry; patterns are not read" : null;
    reporter.report("TS0218", { name }, { path: [...at, "deny_tools", index] }, help === null ? { severity: "warning" } : { severity: "error", help });
  }
  const role = rbac.default_role;
  if (role !== undefined && entries.length > 0 && !Object.hasOwn(rbac.roles ?? {}, role)) reporter.report("TS0219", { role }, { path: [...at, "default_role"] });
};
