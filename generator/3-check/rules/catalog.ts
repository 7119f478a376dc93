/** Rules about the catalog as a whole: its version, names that must be unique, and names that are taken. */
import type { Rule } from "../rule.js";

/** Names of tools that the server itself may offer. */
const RESERVED: ReadonlySet<string> = new Set([
  "ping", "define_tool", "describe_collection", "list_available_tools", "run_tool", "list_my_connections", "get_started",
]);

export const version: Rule = ({ catalog }, reporter) => {
  if (catalog.tdsVersion !== "1") return;
  const at = catalog.parsed.value.tds_version === undefined ? [] : ["tds_version"];
  reporter.report("VB0002", {}, { path: at });
};

export const uniqueNames: Rule = ({ catalog }, reporter) => {
  const seen = new Set<string>();
  for (const tool of catalog.tools) {
    if (tool.origin !== "user") continue;
    if (seen.has(tool.name)) reporter.report("TS0202", { name: tool.name }, { path: [...tool.at, "name"] }, { tool: tool.name });
    seen.add(tool.name);
  }
};

export const takenNames: Rule = ({ catalog }, reporter) => {
  const builtins = new Map<string, string>();
  for (const { name, builtins: on } of catalog.connections) {
    if (on.semantic_search) builtins.set(`search_${name}`, name);
    if (on.get_by_id) builtins.set(`get_${name}_by_id`, name);
    if (on.count) builtins.set(`count_${name}`, name);
    if (on.list_collections) builtins.set(`list_${name}_collections`, name);
  }
  for (const { name, at, origin } of catalog.tools) {
    if (origin !== "user") continue;
    const owner = builtins.get(name);
    const why = RESERVED.has(name) ? "reserved for the server" : owner === undefined ? null : `the name of a built-in of connection '${owner}'`;
    if (why !== null) reporter.report("VB2010", { name, why }, { path: [...at, "name"] }, { tool: name });
  }
};
