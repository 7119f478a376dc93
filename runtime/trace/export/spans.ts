/**
 * A recorded run as OpenTelemetry spans: a start and its end are one span, under the names of the GenAI conventions.
 * Ids follow from the ids of the run, so that the same run gives the same spans, and a run that came in as spans goes
 * out under the ids it came with. Payloads are not sent.
 */
import { createHash } from "node:crypto";
import { type CallKind, eventKind, eventNumber, type RunExtended, type StepExtended } from "../model.js";
import { parseTime } from "../time.js";

export type AttributeValue = string | number | boolean | readonly string[];

export interface ExportedSpan {
  /** 32 and 16 digits of lower-case hex; `parentId` is empty for a root. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly name: string;
  /** 1 is internal, 3 a client. */
  readonly kind: 1 | 3;
  /** Microseconds since the epoch. */
  readonly startUs: number;
  readonly endUs: number;
  readonly attributes: { readonly [name: string]: AttributeValue };
  readonly events: readonly { readonly name: string; readonly atUs: number; readonly text: string }[];
  /** 1 is ok, 2 an error. */
  readonly status: 0 | 1 | 2;
  readonly message: string;
}

/** A call while the steps are read. */
interface Call {
  readonly runId: string;
  readonly kind: CallKind;
  readonly spanId: string;
  readonly parentId: string;
  readonly start: StepExtended | null;
  readonly startUs: number;
  end: StepExtended | null;
  readonly notes: StepExtended[];
}

/** Attributes that are not sent: those by which received spans are stored, which have fields of their own, and the plan of a tool, which is for the pages. */
const KEPT = new Set(["trace_id", "span_id", "span_name", "scope", "resource", "toolsrv.plan"]);
const MAX_TEXT = 4000;

/** Turns the steps of one run, in the order of its journey, into spans. */
export class SpanBuilder {
  readonly #traceId: string;
  readonly #calls: Call[] = [];
  /** Calls of a run id, the last one last. */
  readonly #byRun = new Map<string, Call[]>();

  constructor(private readonly run: RunExtended) {
    this.#traceId = traceIdOf(run.run_id);
  }

  add(step: StepExtended): void {
    const kind = eventKind(eventNumber(step.event_type) ?? 0);
    const calls = this.#byRun.get(step.run_id) ?? [];
    if (kind.call === null) {
      if (kind.name !== "run_start" && kind.name !== "run_end") calls.at(-1)?.notes.push(step);
      return;
    }
    if (kind.side === "start") {
      this.#open(step, kind.call, calls, usOf(step));
      return;
    }
    const open = calls.findLast((call) => call.kind === kind.call && call.end === null) ?? this.#open(step, kind.call, calls, usOf(step) - (step.duration_ms ?? 0) * 1000);
    open.end = step;
  }

  /** A call nobody saw the end of ends with its run. */
  spans(): readonly ExportedSpan[] {
    const endUs = parseTime(this.run.completed_at) ?? 0;
    return this.#calls.map((call) => this.#span(call, endUs));
  }

  #open(step: StepExtended, kind: CallKind, calls: Call[], startUs: number): Call {
    const [first] = calls;
    // A further pair under one id is a call inside the first.
    const spanId = first === undefined ? spanIdOf(step.run_id) : spanIdOf(`${step.run_id}#${calls.length}`);
    const above = step.parent_run_id === null ? "" : spanIdOf(step.parent_run_id);
    const call: Call = { runId: step.run_id, kind, spanId, parentId: first?.spanId ?? above, start: step.event_type.endsWith("_start") ? step : null, startUs, end: null, notes: [] };
    calls.push(call);
    this.#byRun.set(step.run_id, calls);
    this.#calls.push(call);
    return call;
  }

  #span(call: Call, runEndUs: number): ExportedSpan {
    const { start, end, startUs } = call;
    const step = start ?? end;
    const failure = end === null ? (this.run.status === "failed" ? "no end was recorded" : null) : end.event_type.endsWith("_error") ? (end.error_message ?? "error") : null;
    const family = step === null ? { name: call.kind, kind: 1 as const, attributes: {} } : familyOf(call.kind, step);
    const original = start?.attributes?.["span_name"];
    return {
      traceId: this.#traceId, spanId: call.spanId, parentId: call.parentId,
      name: typeof original === "string" && original !== "" ? original : family.name, kind: family.kind, startUs,
      endUs: Math.max(startUs, end === null ? runEndUs : usOf(end)),
      attributes: {
        ...givenAttributes(start), ...family.attributes, ...usage(end), ...(call.parentId === "" ? identity(this.run) : {}), "toolsrv.run_id": call.runId,
        ...(failure === null ? {} : { "error.type": call.kind === "tool" ? "tool_error" : "_OTHER" }),
      },
      events: call.notes.map((note) => ({ name: note.event_type, atUs: usOf(note), text: note.summary.slice(0, MAX_TEXT) })),
      status: failure === null ? (end === null ? 0 : 1) : 2,
      message: failure === null ? "" : failure.slice(0, MAX_TEXT),
    };
  }
}

/** Name and attributes by the GenAI conventions. */
function familyOf(kind: CallKind, step: StepExtended): Pick<ExportedSpan, "name" | "kind" | "attributes"> {
  const name = step.tool_name ?? step.agent_name ?? kind;
  switch (kind) {
    case "llm": {
      const operation = step.event_type.startsWith("chat_model") ? "chat" : "text_completion";
      const model = step.model ?? name;
      return { name: `${operation} ${model}`, kind: 3, attributes: { "gen_ai.operation.name": operation, "gen_ai.request.model": model } };
    }
    case "tool":
      return {
        name: `execute_tool ${name}`, kind: 1,
        attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, ...(step.mcp_server === null ? {} : { "mcp.server.name": step.mcp_server }) },
      };
    case "retriever":
      return { name: `retrieval ${name}`, kind: 3, attributes: { "gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": name } };
    case "chain": {
      if (step.node?.startsWith("agent:") !== true) return { name, kind: 1, attributes: {} };
      return { name: `invoke_agent ${name}`, kind: 1, attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name } };
    }
    default:
      return kind satisfies never;
  }
}

function usage(end: StepExtended | null): ExportedSpan["attributes"] {
  return {
    ...(end?.token_input == null ? {} : { "gen_ai.usage.input_tokens": end.token_input }),
    ...(end?.token_output == null ? {} : { "gen_ai.usage.output_tokens": end.token_output }),
  };
}

function identity(run: RunExtended): ExportedSpan["attributes"] {
  return {
    ...(run.session_id === null ? {} : { "gen_ai.conversation.id": run.session_id }),
    ...(run.user_id === null ? {} : { "user.id": run.user_id }),
    ...(run.tags.length === 0 ? {} : { "tag.tags": run.tags }),
  };
}

/** What the sender said of the call, as far as a span can hold it. */
function givenAttributes(start: StepExtended | null): ExportedSpan["attributes"] {
  const given: { [name: string]: AttributeValue } = {};
  for (const [name, value] of Object.entries(start?.attributes ?? {})) {
    if (KEPT.has(name) || value === null || value === undefined) continue;
    if (typeof value === "string") given[name] = value.slice(0, MAX_TEXT);
    else if (typeof value === "number" || typeof value === "boolean") given[name] = value;
    else if (Array.isArray(value) && value.every((item) => typeof item === "string")) given[name] = value.slice(0, 100) as string[];
    else given[name] = JSON.stringify(value).slice(0, MAX_TEXT);
  }
  return given;
}

function usOf(step: StepExtended): number {
  return parseTime(step.timestamp) ?? 0;
}

const HEX_TRACE = /^(?!0{32})[0-9a-f]{32}$/;

/** A trace id as it is, a UUID without its dashes, of anything else the digest. */
export function traceIdOf(runId: string): string {
  const plain = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(runId) ? runId.replaceAll("-", "").toLowerCase() : runId;
  return HEX_TRACE.test(plain) ? plain : digest(runId, 32);
}

/** A span that was received keeps its id. */
export function spanIdOf(runId: string): string {
  return /^[0-9a-f]{32}-((?!0{16})[0-9a-f]{16})$/.exec(runId)?.[1] ?? digest(runId, 16);
}

function digest(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}
