/** Resolved catalogs made by hand, so that planning and emission are tested apart from the front end. */
import { LineCounter, parseDocument } from "yaml";
import type {
  Checked, Resolved, ResolvedConnection, ResolvedEmbedding, ResolvedOutput, ResolvedParameter, ResolvedQuery, ResolvedTool,
} from "../../generator/ir.js";

export const HASHING: ResolvedEmbedding = { provider: "local", model: "hashing-512", dims: 512, config: {}, space: null, origin: "default", at: ["defaults", "embedding"] };

export function output(over: Partial<ResolvedOutput> = {}): ResolvedOutput {
  return {
    at: [], fields: null, limitDefault: 10, limitDefaultOrigin: "default", limitMax: 50, includeScore: true, includeId: true, maxFieldLength: null, truncateSuffix: "…",
    redact: [], ...over,
  };
}

export function query(over: Partial<ResolvedQuery> = {}): ResolvedQuery {
  return { at: [], param: "query", required: false, embedding: HASHING, mode: "dense", alpha: 0.5, minScore: null, ef: null, expand: null, ...over };
}

export function parameter(name: string, over: Partial<ResolvedParameter> = {}): ResolvedParameter {
  return {
    at: [], name, path: null, dtype: "keyword", op: null, required: false, description: null, enum: null, default: undefined, max: null, maxLength: null,
    resolve: null, ...over,
  };
}

export function connection(name: string, over: Partial<ResolvedConnection> = {}): ResolvedConnection {
  return {
    name, at: ["connections", name], backend: "sqlite", settings: { path: `./${name}.db` }, credentials: { provider: "env", fields: {} },
    builtins: { semantic_search: false, get_by_id: false, count: false, list_collections: false },
    builtinDefaults: { collections: null, staticFilters: { must: [], mustNot: [] }, output: null, descriptions: {}, dtypes: {} },
    ...over,
  };
}

export function tool(name: string, over: Partial<ResolvedTool> = {}): ResolvedTool {
  return {
    at: [], origin: "user", name, kind: "search", description: `Find things with ${name}. Use when things are needed.`,
    target: { connection: "main", collection: "things", at: [] }, query: null, parameters: [],
    staticFilters: { must: [], mustNot: [] }, dtypes: {}, dates: [], steps: [], output: output(), rerank: null, minRecall: null, deadlineS: null, ...over,
  };
}

/** A catalog of these tools; tool n stands on line 2n + 1 of its text. */
export function checked(tools: readonly ResolvedTool[], over: Partial<Resolved> = {}): Checked {
  const lines = new LineCounter();
  const text = `# a catalog\ntools:\n${tools.map((each) => `  - name: ${JSON.stringify(each.name)}\n    kind: ${each.kind}\n`).join("")}`;
  const doc = parseDocument(text, { lineCounter: lines });
  const resolved: Resolved = {
    parsed: { file: { path: "some/folder/tools.yaml", text }, doc, lines, value: { connections: {} }, broken: [] },
    tdsVersion: "2", catalogVersion: "3", connections: [connection("main")],
    tools: tools.map((each, index) => ({ ...each, at: ["tools", index] })),
    tenancy: { mode: "none", claim: null, header: "X-Tenant-Id", encoding: null, path: "tenant_id", enforce: "strict", at: [] },
    documentAcl: null,
    settings: {}, ...over,
  };
  return resolved as Checked;
}
