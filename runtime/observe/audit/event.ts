/**
 * Audit: one record for each named tool call, refused ones too. This room makes records of what observers see, queues
 * them, and gives them to a sink; with `chain` the file sink links them so that a change shows. It knows neither
 * transports nor calls: records come from the observer interface, and a sink that is away never delays a call.
 */
import type { ServePlan } from "../../abi/call.js";
import type { CallEvidence, ObservedCall } from "../../abi/observer.js";
import type { ToolPlan } from "../../abi/plan.js";
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
  const timeOf = timeWriter();
  const targets = new Map<ToolPlan, string>();
  return (call) => {
    const { plan, outcome } = call;
    if (outcome === null || isSilent(call)) return null;
    const kept = rules.keep(call.tool, plan, call.args);
    if (kept === null) return null;
    const tool = clip(call.tool, MAX_TOOL);
    const isOk = outcome.kind === "ok";
    let target = plan === null ? NOWHERE : targets.get(plan);
    if (plan !== null && target === undefined) targets.set(plan, (target = targetOf(plan)));
    let body =
      `{"audit_version":"${AUDIT_VERSION}","timestamp":"${timeOf(call)}","request_id":${JSON.stringify(call.requestId)},"principal":${call.principal === null ? "null" : JSON.stringify(clip(call.principal, MAX_PRINCIPAL))}` +
      `,"tool":${JSON.stringify(tool)},${target},"status":"${isOk ? "ok" : "error"}","error_code":${isOk ? "null" : JSON.stringify(outcome.code)}`;
    if (include.args) body += `,"args":${JSON.stringify(kept.args)}`;
    if (include.latency_ms) body += `,"latency_ms":${Math.max(0, Math.round(call.endedMs - call.startedMs))}`;
    if (isOk && include.result_count) body += `,"result_count":${outcome.count},"truncated":${outcome.truncated}`;
    // Tools that no plan describes search nothing.
    if (isOk && include.search_mode && plan !== null) body += `,"search_mode":"${outcome.searchMode}"`;
    if (isOk && include.warnings && plan !== null) body += `,"warnings":${JSON.stringify(outcome.warnings)}`;
    if (evidence !== null) body += evidenceText(evidence, call);
    return { body, tool, requestId: call.requestId, trace: call.trace, rowIds: evidence === null ? null : isOk ? (call.evidence?.rowIds ?? []) : [] };
  };
}

/** Meta tools: what run_tool names is recorded under its own name, and a list of tools reads no store. */
function isSilent({ tool, plan, outcome }: ObservedCall): boolean {
  return plan === null && (tool === "list_available_tools" || (tool === "run_tool" && outcome?.kind === "ok"));
}

const NOWHERE = '"connection":null,"collection":null';

function targetOf(plan: ToolPlan): string {
  if (plan.kind === "meta") return `"connection":${JSON.stringify(plan.connection)},"collection":"*"`;
  const { connection, collection } = plan.kind === "pipeline" ? plan.retrieve : plan;
  return `"connection":${JSON.stringify(connection)},"collection":${typeof collection === "string" ? JSON.stringify(collection) : '"__param__"'}`;
}

function evidenceText({ catalog, certificates }: EvidenceOf, { tool, evidence }: ObservedCall): string {
  const certificate = Object.hasOwn(certificates, tool) ? JSON.stringify(certificates[tool]) : "null";
  return `,"catalog":${JSON.stringify(catalog)},"certificate":${certificate},"queries":${JSON.stringify(evidence?.reads ?? [])}`;
}

/** UTC in whole seconds; the text of the second is kept, because most calls share it. */
function timeWriter(): (call: ObservedCall) => string {
  let second = Number.NaN;
  let text = "";
  return ({ startedAt, startedMs, endedMs }) => {
    const current = Math.floor((startedAt + (endedMs - startedMs)) / 1000);
    if (current !== second) {
      second = current;
      text = timestampOf(current * 1000);
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
