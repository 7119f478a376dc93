/** Built-in tools: what `builtin_tools` switches on, written out as ordinary tools. Their `at` is the switch. */
import type { Reporter } from "../diagnostics.js";
import type { ResolvedConnection, ResolvedEmbedding, ResolvedParameter, ResolvedTarget, ResolvedTool } from "../ir.js";
import { inheritEmbedding } from "./embedding.js";
import { NO_FILTERS } from "./filters.js";
import { resolveOutput } from "./tools.js";

type Builtin = keyof ResolvedConnection["builtins"];

/** Order in which a connection's built-ins are advertised. */
const BUILTINS: readonly Builtin[] = ["semantic_search", "get_by_id", "count", "list_collections"];
const TOOL_NAME = /^[a-z][a-z0-9_]{2,63}$/;

/** Name of a built-in tool. */
export function builtinName(builtin: Builtin, connection: string): string {
  switch (builtin) {
    case "semantic_search":
      return `search_${connection}`;
    case "get_by_id":
      return `get_${connection}_by_id`;
    case "count":
      return `count_${connection}`;
    case "list_collections":
      return `list_${connection}_collections`;
  }
}

/**
 * The built-ins of all connections, in connection order. One whose name a user tool has taken is left out
 * (the check reports VB2010 at that tool).
 */
export function synthesizeBuiltins(
  connections: readonly ResolvedConnection[], taken: ReadonlySet<string>, embedding: ResolvedEmbedding | null, reporter: Reporter,
): readonly ResolvedTool[] {
  return connections.flatMap((connection) =>
    BUILTINS.filter((builtin) => connection.builtins[builtin]).flatMap((builtin) => {
      const name = builtinName(builtin, connection.name);
      const at = [...connection.at, "builtin_tools", builtin];
      if (taken.has(name)) return [];
      if (!TOOL_NAME.test(name)) {
        reporter.report("TS0204", { builtin, connection: connection.name, name }, { path: at, on: "key" });
        return [];
      }
      const description = connection.builtinDefaults.descriptions[builtin];
      const length = description === undefined ? 20 : [...description].length;
      if (length < 20 || length > 1024) {
        reporter.report("TS0211", { builtin, got: length }, { path: [...connection.at, "builtin_defaults", "descriptions", builtin] }, { tool: name });
      }
      return [builtinTool(builtin, name, connection, embedding)];
    }),
  );
}

function builtinTool(builtin: Builtin, name: string, connection: ResolvedConnection, embedding: ResolvedEmbedding | null): ResolvedTool {
  const { builtinDefaults } = connection;
  const at = [...connection.at, "builtin_tools", builtin];
  const outputAt = [...connection.at, "builtin_defaults", "output"];
  const meta = builtin === "list_collections";
  const { target, parameters } = collectionOf(connection);
  return {
    at,
    origin: builtin,
    name,
    kind: builtin === "semantic_search" ? "search" : builtin === "get_by_id" ? "lookup" : meta ? "meta" : "count",
    description: builtinDefaults.descriptions[builtin] ?? defaultDescription(builtin, connection.name),
    target,
    query: builtin !== "semantic_search" ? null : { at, param: "query", required: true, embedding: inheritEmbedding(at, embedding), mode: "dense", alpha: 0.5, minScore: null, ef: null, expand: null },
    parameters: meta ? [] : builtin === "get_by_id" ? [...parameters, idParameter(at)] : parameters,
    // A meta tool lists names; its filters restrict the counts only, so it keeps them too.
    staticFilters: builtinDefaults.staticFilters ?? NO_FILTERS,
    dtypes: builtinDefaults.dtypes,
    dates: [],
    steps: [],
    output: builtinDefaults.output ?? resolveOutput(undefined, outputAt, builtin === "get_by_id" ? { default: 1, max: 1 } : undefined),
    rerank: null,
    minRecall: null,
    deadlineS: null,
  };
}

/** One declared collection is fixed; several become an enum argument; none declared, a free one. */
function collectionOf(connection: ResolvedConnection): { readonly target: ResolvedTarget; readonly parameters: readonly ResolvedParameter[] } {
  const allowed = connection.builtinDefaults.collections;
  const at = [...connection.at, "builtin_defaults", "collections"];
  const [only] = allowed ?? [];
  if (allowed !== null && only !== undefined && allowed.length === 1) {
    return { target: { connection: connection.name, collection: only, at }, parameters: [] };
  }
  const parameter: ResolvedParameter = {
    at, name: "collection", path: null, dtype: "keyword", op: null, required: true, description: "Collection to query", enum: allowed,
    default: undefined, max: null, maxLength: null, resolve: null,
  };
  return { target: { connection: connection.name, collection: { arg: "collection", allowed }, at }, parameters: [parameter] };
}

function idParameter(at: ResolvedParameter["at"]): ResolvedParameter {
  return {
    at, name: "id", path: "id", dtype: "keyword", op: "eq", required: true, description: "Record id", enum: null,
    default: undefined, max: null, maxLength: null, resolve: null,
  };
}

function defaultDescription(builtin: Builtin, connection: string): string {
  switch (builtin) {
    case "semantic_search":
      return `Search the records of ${connection} by meaning. Use when no more specific search tool fits the question.`;
    case "get_by_id":
      return `Get one record of ${connection} by its id. Use when an earlier result gave the id.`;
    case "count":
      return `Count the records of ${connection}. Use when only the number of records is asked for.`;
    case "list_collections":
      return `List the collections of ${connection} with approximate counts. Use to find out what can be searched.`;
  }
}
