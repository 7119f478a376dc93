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
  const middleOf = middleWriter(include);
  const outcomeOf = outcomeWriter(include);
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
    record.known(middleOf(tool, plan, outcome));
    if (include.args) rules.write(plan, call.args, record);
    if (include.latency_ms) {
      record.known(LATENCY);
      record.json(String(Math.max(0, Math.round(call.endedMs - call.startedMs))));
    }
    record.known(outcomeOf(plan, outcome));
    if (evidence !== null) record.json(evidenceText(evidence, call));
    return { body: record.text(), tool, requestId, trace, rowIds: evidence === null ? null : outcome.kind === "ok" ? (call.evidence?.rowIds ?? []) : [] };
  };
}

/** What a call that succeeded returned. The usual outcomes are few, and are kept as bytes. */
function outcomeWriter(include: AuditInclude): (plan: ToolPlan | null, outcome: CallOutcome) => JsonBytes {
  const written = new Map<number, JsonBytes>();
  return (plan, outcome) => {
    if (outcome.kind === "error") return NOTHING;
    const { count, truncated, searchMode, warnings } = outcome;
    const key = (count * MODES.length + MODES.indexOf(searchMode)) * 2 + (truncated ? 1 : 0);
    const isUsual = plan !== null && warnings.length === 0 && count <= MAX_USUAL_COUNT;
    const before = isUsual ? written.get(key) : undefined;
    if (before !== undefined) return before;
    let text = include.result_count ? `,"result_count":${count},"truncated":${truncated}` : "";
    // Tools that no plan describes search nothing.
    if (plan !== null && include.search_mode) text += `,"search_mode":"${searchMode}"`;
    if (plan !== null && include.warnings) text += `,"warnings":${JSON.stringify(warnings)}`;
    const made = jsonBytes(text);
    if (isUsual) written.set(key, made);
    return made;
  };
}

// What most records have, written once.
const PRINCIPAL = jsonBytes(',"principal":');
const NOBODY = jsonBytes(',"principal":null');
const LATENCY = jsonBytes(',"latency_ms":');
const NOTHING = jsonBytes("");
const MODES: readonly Extract<CallOutcome, { readonly kind: "ok" }>["searchMode"][] = ["dense", "hybrid", "none"];
const MAX_USUAL_COUNT = 200;

/** Meta tools: what run_tool names is recorded under its own name, and a list of tools reads no store. */
function isSilent({ tool, plan, outcome }: ObservedCall): boolean {
  return plan === null && (tool === "list_available_tools" || (tool === "run_tool" && outcome?.kind === "ok"));
}

/** The tool, what it reads and how it ended, up to the arguments, as bytes. They are the same for all calls of a tool that succeed; others, and names that are no tool, are not kept. */
function middleWriter(include: AuditInclude): (tool: string, plan: ToolPlan | null, outcome: CallOutcome) => JsonBytes {
  const written = new Map<string, JsonBytes>();
  const args = include.args ? ',"args":' : "";
  const make = (tool: string, plan: ToolPlan | null, code: string | null): JsonBytes => {
    const place = plan === null ? '"connection":null,"collection":null' : placeOf(plan);
    return jsonBytes(`,"tool":${quoted(tool)},${place},"status":"${code === null ? "ok" : "error"}","error_code":${code === null ? "null" : quoted(code)}${args}`);
  };
  return (tool, plan, outcome) => {
    if (plan === null || outcome.kind === "error") return make(tool, plan, outcome.kind === "error" ? outcome.code : null);
    const before = written.get(tool);
    if (before !== undefined) return before;
    const made = make(tool, plan, null);
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
