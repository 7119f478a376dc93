/** approve: what a draft would change, and the two files it changes. Decides; the command prints. */
import { DraftsProblem, pendingOf, withChange, type DraftsFile } from "./drafts-file.js";
import { examine, type Base, type ExaminedCatalog } from "./examine.js";
import { targetOf, withGuardrails } from "./guardrails.js";
import { draftHash, hasErrors, nameOf, PLACEHOLDER, stamp, type DraftRecord, type Issue, type JsonMap } from "./record.js";

/** Who approves, and when. */
export interface Approver {
  readonly name: string;
  readonly nowMs: number;
}

/** A draft that was examined for its approval. */
export interface Approval {
  readonly index: number;
  readonly record: DraftRecord;
  /** The tool as it would be added: that of the draft, with static filters that its connection has got since. */
  readonly tool: JsonMap;
  readonly issues: readonly Issue[];
  /** Null when there is an error among the issues. */
  readonly result: ExaminedCatalog | null;
  /** The catalog has this tool already: an approval was interrupted before the draft was marked. */
  readonly isDone: boolean;
}

/** Examines the pending draft of this name. @throws DraftsProblem when there is none, or it is not what was proposed */
export function examineApproval(file: DraftsFile, name: string, base: Base): Approval {
  const { index, record } = pendingOf(file, name);
  checkUnedited(record, name);
  const { issues, result, tool } = examine(base, record.tool);
  if (isIn(base.stock, withGuardrails(record.tool, base.stock))) return { index, record, tool: record.tool, issues: [], result: null, isDone: true };
  // Of a proposal that was no tool only its issues are left.
  const original = name === PLACEHOLDER["name"] ? record.issues : [];
  return { index, record, tool, issues: [...original, ...issues], result: hasErrors(original) ? null : result, isDone: false };
}

/** A draft with a provenance says what it was when it was saved. Existing files have drafts without one. */
function checkUnedited({ tool, hash, provenance }: DraftRecord, name: string): void {
  if (provenance === null) return;
  const expected = provenance["tool_hash"] ?? hash;
  if (expected !== draftHash(tool)) throw new DraftsProblem(`the draft '${name}' was edited after it was proposed: its hash is not that of its tool. Have it proposed again, or write the tool into the catalog by hand`);
}

function isIn({ tools }: JsonMap, tool: JsonMap): boolean {
  return Array.isArray(tools) && (tools as readonly unknown[]).some((other) => draftHash(other) === draftHash(tool));
}

/** The drafts file with the draft approved. */
export function withApproval(file: DraftsFile, { index, record }: Approval, by: Approver, version: string | null): string {
  const provenance = { ...record.provenance, ...(record.hash === null ? { hash: draftHash(record.tool) } : { hash: record.hash }), approved_by: by.name, approved_at: stamp(by.nowMs) };
  return withChange(file, index, { status: "approved", provenance, ...(version === null ? {} : { catalog_version: version }) });
}

/** Keys of a tool that have a line of their own in the summary; everything else is shown as it is written. */
const SHOWN_ABOVE: ReadonlySet<string> = new Set(["name", "description", "kind", "parameters", "static_filters"]);

/** What an approver decides on, in the order that it is printed. */
export function summaryOf({ record, tool, issues }: Approval, result: ExaminedCatalog): JsonMap {
  return {
    action: "approve_read_only_tool",
    tool: nameOf(record),
    description: tool["description"] ?? null,
    kind: tool["kind"] ?? "search",
    target: targetOf(tool),
    parameters: tool["parameters"] ?? [],
    guardrails: tool["static_filters"] ?? [],
    returns: fieldsOf(tool),
    settings: Object.fromEntries(Object.entries(tool).filter(([key]) => !SHOWN_ABOVE.has(key))),
    catalog_version: result.version,
    class: result.changes[0]?.class ?? "additive",
    changes: result.changes.map((change) => ({ class: change.class, subject: change.subject, message: change.message })),
    certificate: result.certificate,
    read_closely: issues.filter(({ severity }) => severity !== "info").map(({ code, path, message }) => ({ code, path, message })),
    provenance: { ...record.provenance, hash: record.hash, verified: record.provenance !== null },
  };
}

function fieldsOf(tool: JsonMap): unknown {
  if (tool["kind"] === "count") return "the number of records";
  const output = tool["output"];
  const fields = typeof output === "object" && output !== null && "fields" in output ? output.fields : null;
  return fields ?? "every field of the records";
}
