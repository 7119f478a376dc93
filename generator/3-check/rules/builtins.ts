/** Rules about built-in tools. */
import { CAPABILITIES } from "../../../runtime/adapters/capabilities.js";
import type { Rule } from "../rule.js";

const SHORT = 20;

/** A built-in must not answer more than its filters allow. */
export const escapes: Rule = ({ catalog }, reporter) => {
  for (const { name, at, backend, builtins, builtinDefaults: { staticFilters } } of catalog.connections) {
    const can = CAPABILITIES[backend];
    const filtered = staticFilters.must.length + staticFilters.mustNot.length > 0 || catalog.tenancy.mode === "claim" || catalog.tenancy.mode === "header" || catalog.documentAcl !== null;
    const where = (builtin: string): { readonly path: readonly string[]; readonly on: "key" } => ({ path: [...(at as readonly string[]), "builtin_tools", builtin], on: "key" });
    if (builtins.get_by_id && !can.idLookup) {
      reporter.report("VB2025", { backend, builtin: "get_by_id", connection: name }, where("get_by_id"), { tool: `get_${name}_by_id` });
    }
    if (builtins.count && filtered && !can.countWithFilter) {
      reporter.report("VB2025", { backend, builtin: "count", connection: name }, where("count"), { tool: `count_${name}` });
    }
  }
};

export const advice: Rule = ({ catalog }, reporter) => {
  const searches = catalog.tools.filter((tool) => tool.origin === "user" && tool.kind === "search").length;
  for (const { name, at, builtins, builtinDefaults: { staticFilters, collections, descriptions } } of catalog.connections) {
    if (!builtins.semantic_search) continue;
    const where = { path: [...at, "builtin_tools", "semantic_search"], on: "key" } as const;
    const tool = `search_${name}`;
    if (searches > 0) reporter.report("VB3003", { connection: name, count: searches }, where, { tool });
    if (staticFilters.must.length + staticFilters.mustNot.length === 0 && collections?.length !== 1) {
      const what = collections === null ? "any collection without a filter" : `${collections.length} collections without a filter`;
      reporter.report("VB3004", { connection: name, what }, where, { tool });
    }
    for (const [builtin, text] of Object.entries(descriptions)) {
      const length = [...text].length;
      const enabled = Object.hasOwn(builtins, builtin) && builtins[builtin as keyof typeof builtins];
      // A short description of a built-in that is on was refused already: the tool could not exist.
      if (length < SHORT && !enabled) reporter.report("VB3005", { builtin, length }, { path: [...at, "builtin_defaults", "descriptions", builtin] }, { tool: `${builtin}_${name}` });
    }
  }
};
