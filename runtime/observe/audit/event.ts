/**
 * Audit: one record for each named tool call, refused ones too. This room makes records of what observers see, queues
 * them, and gives them to a sink; with `chain` the file sink links them so that a change shows. It knows neither
 * transports nor calls: records come from the observer interface, and a sink that is away never delays a call.
 */
import type { ServePlan } from "../../abi/call.js";
import type { CallEvidence, ObservedCall } from "../../abi/observer.js";
import type { ToolPlan } from "../../abi/plan.js";
import { quoted } from "../../base/json-text.js";
import type { TraceContext } from "../../base/traceparent.js";
import { argumentRules } from "../arguments.js";
import type { AuditInclude } from "./settings.js";

export const AUDIT_VERSION = "1";

/** Longest tool name and principal in a record: a client may call any name. */
const MAX_TOOL = 128;
const MAX_PRINCIPAL = 1024;

/** A record on its way to a sink. */
export interface AuditEvent {
  /** A JSON object without its closing brace, so that a chain can add its members. */
  readonly body: string;
  readonly tool: string;
  readonly requestId: string;
  readonly trace: TraceContext | null;
  /** Record ids of the returned rows, for digests; `null` without a chain. They are never written. */
  readonly rowIds: CallEvidence["rowIds"] | null;
}

/** What identifies the program in records of a chain. */
export interface EvidenceOf {
  /** `sha256:` and 64 hex digits. */
  readonly catalog: string;
  /** Tool → id of the certificate of its guards. */
  readonly certificates: { readonly [tool: string]: string };
}

/** Makes the record of a call that has ended; `null` for calls that are not recorded. */
export type EventWriter = (call: ObservedCall) => AuditEvent | null;

/** The records of one program. `evidence` is `null` without a chain. */
export function eventWriter(settings: ServePlan, include: AuditInclude, evidence: EvidenceOf | null): EventWriter {
  const rules = argumentRules(settings);
  const startOf = startWriter();
  const targetOf = targetWriter();
  return (call) => {
    const { plan, outcome, principal } = call;
    if (outcome === null || isSilent(call)) return null;
    const kept = rules.keep(call.tool, plan, call.args);
    if (kept === null) return null;
    const tool = clip(call.tool, MAX_TOOL);
    const isOk = outcome.kind === "ok";
    const parts = [startOf(call), quoted(call.requestId), ',"principal":', principal === null ? "null" : quoted(clip(principal, MAX_PRINCIPAL)), targetOf(tool, plan)];
    parts.push(isOk ? ',"status":"ok","error_code":null' : `,"status":"error","error_code":${quoted(outcome.code)}`);
    if (include.args) parts.push(',"args":', kept.json);
    if (include.latency_ms) parts.push(',"latency_ms":', String(Math.max(0, Math.round(call.endedMs - call.startedMs))));
    if (isOk && include.result_count) parts.push(',"result_count":', String(outcome.count), outcome.truncated ? ',"truncated":true' : ',"truncated":false');
    // Tools that no plan describes search nothing.
    if (isOk && include.search_mode && plan !== null) parts.push(SEARCH_MODES[outcome.searchMode]);
    if (isOk && include.warnings && plan !== null) parts.push(outcome.warnings.length === 0 ? ',"warnings":[]' : `,"warnings":${JSON.stringify(outcome.warnings)}`);
    if (evidence !== null) parts.push(evidenceText(evidence, call));
    // Joined, the text is one piece: pieces that wait for the sink cost the garbage collector more than this.
    return { body: parts.join(""), tool, requestId: call.requestId, trace: call.trace, rowIds: evidence === null ? null : isOk ? (call.evidence?.rowIds ?? []) : [] };
  };
}

const SEARCH_MODES = { dense: ',"search_mode":"dense"', hybrid: ',"search_mode":"hybrid"', none: ',"search_mode":"none"' } as const;

/** Meta tools: what run_tool names is recorded under its own name, and a list of tools reads no store. */
function isSilent({ tool, plan, outcome }: ObservedCall): boolean {
  return plan === null && (tool === "list_available_tools" || (tool === "run_tool" && outcome?.kind === "ok"));
}

/** Writes the tool and what it reads. It is the same for all calls of a tool; names that are no tool are not kept. */
function targetWriter(): (tool: string, plan: ToolPlan | null) => string {
  const written = new Map<string, string>();
  return (tool, plan) => {
    if (plan === null) return `,"tool":${quoted(tool)},"connection":null,"collection":null`;
    const before = written.get(tool);
    if (before !== undefined) return before;
    const made = `,"tool":${quoted(tool)},${placeOf(plan)}`;
    written.set(tool, made);
    return made;
  };
}

function placeOf(plan: ToolPlan): string {
  if (plan.kind === "meta") return `"connection":${quoted(plan.connection)},"collection":"*"`;
  const { connection, collection } = plan.kind === "pipeline" ? plan.retrieve : plan;
  return `"connection":${quoted(connection)},"collection":${typeof collection === "string" ? quoted(collection) : '"__param__"'}`;
}

function evidenceText({ catalog, certificates }: EvidenceOf, { tool, evidence }: ObservedCall): string {
  const certificate = Object.hasOwn(certificates, tool) ? JSON.stringify(certificates[tool]) : "null";
  return `,"catalog":${JSON.stringify(catalog)},"certificate":${certificate},"queries":${JSON.stringify(evidence?.reads ?? [])}`;
}

/** Writes the beginning up to the request id. The time is UTC in whole seconds, so most calls share it with the one before. */
function startWriter(): (call: ObservedCall) => string {
  let second = Number.NaN;
  let text = "";
  return ({ startedAt, startedMs, endedMs }) => {
    const current = Math.floor((startedAt + (endedMs - startedMs)) / 1000);
    if (current !== second) {
      second = current;
      text = `{"audit_version":"${AUDIT_VERSION}","timestamp":"${timestampOf(current * 1000)}","request_id":`;
    }
    return text;
  };
}

/** `2026-01-31T12:00:00Z`. */
export function timestampOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
