/** define_tool: a proposal becomes a pending draft, or is refused with what is wrong. Nothing but the drafts file is written. */
import { basename } from "node:path";
import type { Host } from "../host.js";
import { withRecord } from "./drafts-file.js";
import { examine, issueOf, type Base, type Examination } from "./examine.js";
import { approveCommand, draftHash, DRAFTS_FILE, MAX_PENDING, nameOf, stamp, type DraftRecord, type Issue, type JsonMap } from "./record.js";
import { changeDrafts, expired } from "./store.js";

/** What a caller of define_tool proposes. */
export interface Proposal {
  readonly name: string;
  readonly description: string;
  readonly spec: JsonMap;
  /** Who called; null where nobody was authenticated. */
  readonly principal: string | null;
}

/** The result as callers of define_tool get it. */
export type DefineResult =
  | { readonly rows: readonly Issue[]; readonly count: number; readonly message: string }
  | { readonly rows: readonly []; readonly count: 0; readonly warnings: readonly string[]; readonly message: string };

/** The tool of a proposal: name and description of the call fill in what the spec does not say. */
export function proposedTool({ name, description, spec }: Proposal): JsonMap {
  return { ...(Object.hasOwn(spec, "name") ? {} : { name }), ...(Object.hasOwn(spec, "description") ? {} : { description }), ...spec };
}

/** A pending draft of an examined proposal. */
export function recordOf(proposed: JsonMap, { tool, issues }: Examination, provenance: JsonMap, nowMs: number): DraftRecord {
  const [hash, toolHash] = [draftHash(proposed), draftHash(tool)];
  const created = stamp(nowMs);
  return {
    status: "pending", created_at: created, hash,
    // The guardrails of the connection are part of the tool, so it may have a digest of its own.
    provenance: { ...provenance, created_at: created, hash, ...(toolHash === hash ? {} : { tool_hash: toolHash }) },
    tool, issues, catalog_version: null,
  };
}

/** Proposes a tool. @throws DraftsProblem; NodeJS.ErrnoException when the drafts file cannot be written */
export async function defineTool(host: Host, cwd: string, base: Base, proposal: Proposal): Promise<DefineResult> {
  const proposed = proposedTool(proposal);
  const examination = examine(base, proposed);
  const errors = examination.issues.filter(({ severity }) => severity === "error");
  if (errors.length > 0) return refused(errors);
  return changeDrafts<DefineResult>(host, cwd, (found) => {
    const file = found === null ? null : expired(found, host.now());
    const kept = file !== null && file !== found ? file.text : null;
    const pending = (file?.records ?? []).filter(({ status }) => status === "pending");
    const name = nameOf(examination);
    if (pending.some((record) => nameOf(record) === name)) return { text: kept, result: refused([issueOf("TS0605", { name }, name, "name")]) };
    if (pending.length >= MAX_PENDING) return { text: kept, result: full() };
    const record = recordOf(proposed, examination, provenanceOf(proposal, proposed, base), host.now());
    return { text: withRecord(file, record), result: saved(name, base.source.path, examination.issues) };
  });
}

function provenanceOf({ principal }: Proposal, proposed: JsonMap, { source }: Base): JsonMap {
  return { created_by: "define_tool", ...(principal === null ? {} : { principal }), conversation_hint: proposed["description"], catalog: source.path };
}

function refused(errors: readonly Issue[]): DefineResult {
  return { rows: errors, count: errors.length, message: `The draft was not saved: ${errors.length} problem${errors.length === 1 ? "" : "s"}. Correct them and call define_tool again.` };
}

function full(): DefineResult {
  const message = `The cap of ${MAX_PENDING} pending drafts is reached; nothing was saved. A person approves or rejects drafts: toolsrv drafts list.`;
  return { rows: [], count: 0, warnings: [message], message };
}

function saved(name: string, catalog: string, issues: readonly Issue[]): DefineResult {
  const warnings = [...new Set(issues.filter(({ severity }) => severity === "warning").map(({ code }) => code))];
  return { rows: [], count: 0, warnings, message: `Draft '${name}' is pending in ${DRAFTS_FILE}. It can be called after a person has approved it: ${approveCommand(name, withoutFolder(catalog))}.` };
}

/** Where a catalog is on the machine is not for callers. */
function withoutFolder(path: string): string {
  const name = basename(path);
  return name === path ? path : `…/${name}`;
}
