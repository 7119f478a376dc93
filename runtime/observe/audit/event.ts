/**
 * Audit: one record for each named tool call, refused ones too. This room makes records of what observers see, queues
 * them, and gives them to a sink; with `chain` the file sink links them so that a change shows. It knows neither
 * transports nor calls: records come from the observer interface, and a sink that is away never delays a call.
 */
import type { ServePlan } from "../../abi/call.js";
import type { CallEvidence, CallOutcome, ObservedCall } from "../../abi/observer.js";
import type { ToolPlan } from "../../abi/plan.js";
import { quoted } from "../../base/json-text.js";
import { type JsonBytes, jsonBytes, JsonWriter } from "../../base/json-writer.js";
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
  // One for all records: a record is complete before the next one begins.
  const record = new JsonWriter();
  return (call) => {
    const { plan, outcome, principal, requestId, trace } = call;
    if (outcome === null || isSilent(call) || !rules.keeps(call.tool)) return null;
    const tool = clip(call.tool, MAX_TOOL);
    record.clear();
    record.known(startOf(call));
    record.quoted(requestId);
    if (principal === null) record.known(NOBODY);
    else {
      record.known(PRINCIPAL);
      record.quoted(clip(principal, MAX_PRINCIPAL));
    }
    record.known(targetOf(tool, plan));
    if (outcome.kind === "ok") record.known(SUCCEEDED);
    else record.json(`,"status":"error","error_code":${quoted(outcome.code)}`);
    if (include.args) {
      record.known(ARGS);
      rules.write(plan, call.args, record);
    }
    addOutcome(record, call, outcome, include);
    if (evidence !== null) record.json(evidenceText(evidence, call));
    return { body: record.text(), tool, requestId, trace, rowIds: evidence === null ? null : outcome.kind === "ok" ? (call.evidence?.rowIds ?? []) : [] };
  };
}

function addOutcome(record: JsonWriter, { plan, startedMs, endedMs }: ObservedCall, outcome: CallOutcome, include: AuditInclude): void {
  if (include.latency_ms) {
    record.known(LATENCY);
    record.json(String(Math.max(0, Math.round(endedMs - startedMs))));
  }
  if (outcome.kind === "error") return;
  if (include.result_count) {
    record.known(COUNT);
    record.json(String(outcome.count));
    record.known(outcome.truncated ? CUT : WHOLE);
  }
  // Tools that no plan describes search nothing.
  if (plan === null) return;
  if (include.search_mode) record.known(SEARCH_MODES[outcome.searchMode]);
  if (include.warnings) {
    if (outcome.warnings.length === 0) record.known(NO_WARNINGS);
    else record.json(`,"warnings":${JSON.stringify(outcome.warnings)}`);
  }
}

// What most records have, written once.
const PRINCIPAL = jsonBytes(',"principal":');
const NOBODY = jsonBytes(',"principal":null');
const SUCCEEDED = jsonBytes(',"status":"ok","error_code":null');
const ARGS = jsonBytes(',"args":');
const LATENCY = jsonBytes(',"latency_ms":');
const COUNT = jsonBytes(',"result_count":');
const WHOLE = jsonBytes(',"truncated":false');
const CUT = jsonBytes(',"truncated":true');
const NO_WARNINGS = jsonBytes(',"warnings":[]');
const SEARCH_MODES = { dense: jsonBytes(',"search_mode":"dense"'), hybrid: jsonBytes(',"search_mode":"hybrid"'), none: jsonBytes(',"search_mode":"none"') } as const;

/** Meta tools: what run_tool names is recorded under its own name, and a list of tools reads no store. */
function isSilent({ tool, plan, outcome }: ObservedCall): boolean {
  return plan === null && (tool === "list_available_tools" || (tool === "run_tool" && outcome?.kind === "ok"));
}

/** The tool and what it reads, as bytes. They are the same for all calls of a tool; names that are no tool are not kept. */
function targetWriter(): (tool: string, plan: ToolPlan | null) => JsonBytes {
  const written = new Map<string, JsonBytes>();
  return (tool, plan) => {
    if (plan === null) return jsonBytes(`,"tool":${quoted(tool)},"connection":null,"collection":null`);
    const before = written.get(tool);
    if (before !== undefined) return before;
    const made = jsonBytes(`,"tool":${quoted(tool)},${placeOf(plan)}`);
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

/** The beginning up to the request id, as bytes. The time is UTC in whole seconds, so most calls share it with the one before. */
function startWriter(): (call: ObservedCall) => JsonBytes {
  let second = Number.NaN;
  let bytes = jsonBytes("");
  return ({ startedAt, startedMs, endedMs }) => {
    const current = Math.floor((startedAt + (endedMs - startedMs)) / 1000);
    if (current !== second) {
      second = current;
      bytes = jsonBytes(`{"audit_version":"${AUDIT_VERSION}","timestamp":"${timestampOf(current * 1000)}","request_id":`);
    }
    return bytes;
  };
}

/** `2026-01-31T12:00:00Z`. */
export function timestampOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
