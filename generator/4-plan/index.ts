/**
 * Phase 4: a checked catalog → plans. Pure and total: everything a user could get wrong was found by the check,
 * so whatever does not fit here is a CompilerBug. Plans are plain JSON: tools in catalog order, keys in one fixed
 * order, optional keys left out, no secrets where references are left open.
 */
import { createLocator } from "../diagnostics.js";
import type { Checked, Plans, ResolvedTool } from "../ir.js";
import { compact } from "./compact.js";
import { connectionPlans, embeddingNames } from "./connections.js";
import { fingerprint } from "../../runtime/abi/fingerprint.js";
import { definitionOf, inputOf } from "./params.js";
import type { PlanScope } from "./read.js";
import { rowsOf, statedTypes } from "./rows.js";
import { limitOf, toolPlan } from "./tools.js";

function byName<T>(tools: readonly ResolvedTool[], make: (tool: ResolvedTool) => T): { readonly [tool: string]: T } {
  return Object.fromEntries(tools.map((tool) => [tool.name, make(tool)]));
}

/** The catalog's file name without folders, whichever separator the path uses. */
function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

/** Plans of every tool, with the tables they refer to and what identifies the whole. */
export function plan(checked: Checked): Plans {
  const scope: PlanScope = { resolved: checked, connections: connectionPlans(checked), embeddings: embeddingNames(checked.tools) };
  const locate = createLocator(checked.parsed);
  const tools = byName(checked.tools, (tool) => toolPlan(tool, scope));
  const inputs = byName(checked.tools, (tool) => inputOf(tool, limitOf(tool)));
  // A list, because the order of tools/list is part of what is served.
  const content = {
    connections: scope.connections, embeddings: scope.embeddings.table, settings: checked.settings, tools, inputs: Object.values(inputs),
  };
  const stated = statedTypes(checked.tools);
  return {
    catalog: compact<Plans["catalog"]>({
      file: fileName(checked.parsed.file.path),
      version: checked.catalogVersion ?? undefined,
      hash: fingerprint(content),
    }),
    settings: checked.settings,
    connections: scope.connections,
    embeddings: scope.embeddings.table,
    tools,
    inputs,
    definitions: Object.values(inputs).map(definitionOf),
    rows: byName(checked.tools, (tool) => rowsOf(tool, stated)),
    origins: byName(checked.tools, (tool) => ({ line: locate({ path: tool.at })?.line ?? 1 })),
  };
}
