/** Rules about searching by text: hybrid mode, thresholds, index effort, tables without vectors. */
import { DESCRIPTORS } from "../../../runtime/adapters/descriptors.js";
import type { ResolvedTool } from "../../ir.js";
import { readsOf, type Read, type Rule } from "../rule.js";

export const queries: Rule = (subject, reporter) => {
  for (const { tool, connection, can, query } of readsOf(subject)) {
    const { backend, name, settings } = connection;
    const isTable = DESCRIPTORS[backend].hasVectors?.(settings) === false;
    if (isTable && (tool.kind === "search" || query !== null)) {
      reporter.report("VB2016", { connection: name }, { path: query?.at ?? tool.at }, { tool: tool.name });
    }
    if (query === null || tool.origin !== "user") continue;
    if (query.minScore !== null && (query.minScore < 0 || query.minScore > 1)) {
      reporter.report("VB2022", { value: query.minScore }, { path: [...query.at, "min_score"] }, { tool: tool.name });
    } else if (query.minScore !== null && !can.scoreThreshold && !can.exact) {
      reporter.report("VB2004", { backend, connection: name, what: "a score threshold of its own" }, { path: [...query.at, "min_score"] }, {
        severity: "warning", tool: tool.name, help: "rows below min_score are left out after they were fetched",
      });
    }
    if (query.ef !== null && !can.hnswEf) reporter.report("VB2023", { backend, connection: name }, { path: [...query.at, "ef"], on: "key" }, { tool: tool.name });
    if (query.mode !== "hybrid") continue;
    const at = { path: [...query.at, "mode"] };
    if (!can.hybrid) reporter.report("VB2012", { backend, connection: name }, at, { tool: tool.name });
    else if (!can.exact) {
      reporter.report("VB2013", { detail: `whether the collection has what hybrid search needs is only known to the store` }, at, { severity: "warning", tool: tool.name });
    }
  }
};

/** A recall is asked for only where one can be measured; elsewhere it would be a promise without any check. */
export const recall: Rule = (subject, reporter) => {
  for (const tool of subject.catalog.tools.filter(({ minRecall }) => minRecall !== null)) {
    const [read] = readsOf(subject).filter((one) => one.tool === tool);
    const detail = unmeasured(tool, read, subject.catalog.documentAcl !== null);
    if (detail !== null) reporter.report("TS0290", { detail }, { path: [...tool.at, "quality", "min_recall"] }, { tool: tool.name });
  }
};

function unmeasured(tool: ResolvedTool, read: Read | undefined, hasDocumentAccess: boolean): string | null {
  // A tool without a connection was reported.
  if (read === undefined && (tool.target !== null || tool.steps.length > 0)) return null;
  if (read === undefined || read.query === null || tool.kind === "lookup" || tool.kind === "count") return `the ${tool.kind} tool '${tool.name}' does not search by text`;
  if (read.query.mode === "hybrid") return "a hybrid search has no one right order to compare with";
  return hasDocumentAccess ? "what a search finds under security.document_acl depends on the claims of real callers" : null;
}
