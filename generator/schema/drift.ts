/** The drift report: changes of a schema, and the tools that they reach. Pure. */
import { visible } from "../drafts/untrusted.js";
import { affectedTools, type AffectedTool, type Effect } from "./affected.js";
import { compareSchemas, hasDrift, type SchemaChanges } from "./compare.js";
import type { SchemaExport } from "./export.js";
import type { ToolUse } from "./uses.js";

export interface DriftReport extends SchemaChanges {
  readonly experimental: true;
  /** The file that was compared, as the user wrote it. */
  readonly checked_schema: string;
  readonly connection: string;
  readonly has_drift: boolean;
  readonly affected_tools: readonly AffectedTool[];
  readonly recommendation: string;
}

export function driftReport(before: SchemaExport, after: SchemaExport, uses: readonly ToolUse[], checkedSchema: string): DriftReport {
  const changes = compareSchemas(before, after);
  const affected = affectedTools(changes, uses, after.connection);
  const drifted = hasDrift(changes);
  return { experimental: true, checked_schema: checkedSchema, connection: after.connection, has_drift: drifted, ...changes, affected_tools: affected, recommendation: recommendation(drifted, affected) };
}

function recommendation(drifted: boolean, affected: readonly AffectedTool[]): string {
  if (!drifted) return "No drift. Nothing to do.";
  const names = affected.map(({ tool }) => tool);
  const review = names.length === 0 ? "No tool of the catalog uses what changed" : `Review ${names.join(", ")}`;
  return `${review}; then run the evals again and write a new schema export.`;
}

const ORDER: readonly Effect[] = ["fails", "changes", "slower"];

/** For people: what changed, then each tool with the reasons. Names come from the store: nothing of them controls the terminal. */
export function driftText(report: DriftReport): string {
  const { added, removed, type_changed: retyped, index_lost: lost, vector_changed: vectors, collections_added: moreCollections, collections_removed: fewerCollections } = report;
  const gone = new Set([...moreCollections, ...fewerCollections]);
  const fields = (list: readonly { readonly collection: string; readonly path: string; readonly dtype: string }[], sign: string): readonly string[] =>
    list.filter(({ collection }) => !gone.has(collection)).map(({ collection, path, dtype }) => `${sign} ${collection}.${path} (${dtype})`);
  const changes = [
    ...moreCollections.map((name) => `+ collection ${name}`),
    ...fewerCollections.map((name) => `- collection ${name}`),
    ...fields(added, "+"), ...fields(removed, "-"),
    ...retyped.map(({ collection, path, before, after }) => `~ ${collection}.${path}: ${before} → ${after}`),
    ...lost.map(({ collection, path }) => `~ ${collection}.${path}: index lost`),
    ...vectors.map(({ collection, what, before, after }) => `~ ${collection}, vectors: ${what} ${String(before)} → ${String(after)}`),
  ];
  const tools = report.affected_tools.map(({ tool, effects }) => {
    const sorted = [...effects].sort((a, b) => ORDER.indexOf(a.effect) - ORDER.indexOf(b.effect));
    return [`  ${tool}`, ...sorted.map(({ effect, reason }) => `    ${effect}: ${visible(reason)}`)].join("\n");
  });
  const lines = [...changes.map(visible), ...(tools.length === 0 ? [] : ["affected tools:", ...tools]), report.recommendation];
  return `${lines.join("\n")}\n`;
}
