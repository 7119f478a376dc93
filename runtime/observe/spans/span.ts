/** The spans of a call that has ended, as plain data. */
import type { CallOutcome, ObservedCall, ObservedStep } from "../../abi/observer.js";
import type { SpanIds } from "./ids.js";
import { addOutcome, type Attributes, callFacts, callSpanKind, callSpanName, type SpanKindCode, type SpanTransport, stepAttributes, stepSpanKind, stepSpanName } from "./names.js";

/** What all calls of one tool have in common. */
export interface SpanSubject {
  /** `null` for calls of names that are no tool. */
  readonly tool: string | null;
  readonly attributes: Readonly<Attributes>;
  /** Names of the conventions instead of those of the specification. */
  readonly semconv: boolean;
  readonly transport: SpanTransport;
}

/** Times in milliseconds since the epoch, with a fraction. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  /** The parent is a span of the caller. */
  readonly isRemote: boolean;
  readonly name: string;
  readonly kind: SpanKindCode;
  readonly startMs: number;
  readonly endMs: number;
  /** What it failed with, one of a table: the description of its status. */
  readonly code: string | null;
  /** Attributes of all calls of the tool, one object for all of them. */
  readonly shared: Readonly<Attributes>;
  /** Its further attributes. */
  readonly own: Readonly<Attributes>;
}

/** The trace of a call and its span in it. */
export type OwnIds = Pick<Span, "traceId" | "spanId">;

/** Longer names are cut: a caller chooses the name of a tool that does not exist. */
const MAX_NAME = 200;
const NOTHING: Readonly<Attributes> = {};

/** The steps in their order, then the call they belong to. A step that had not ended with its call ends with it. */
export function spansOf(call: ObservedCall, subject: SpanSubject, own: OwnIds, ids: SpanIds): readonly Span[] {
  const { steps } = call;
  return [...steps.map((step) => stepSpan(call, step, subject, { ...own, id: ids.spanId() })), callSpan(call, subject, own)];
}

function callSpan(call: ObservedCall, subject: SpanSubject, { traceId, spanId }: OwnIds): Span {
  const { trace, outcome, startedAt, startedMs, endedMs } = call;
  const { tool, semconv, transport } = subject;
  return {
    traceId, spanId, parentId: trace === null ? null : trace.spanId, isRemote: trace !== null,
    name: callSpanName(tool, semconv, transport), kind: callSpanKind(transport),
    startMs: startedAt, endMs: startedAt + Math.max(0, endedMs - startedMs), code: codeOf(outcome),
    shared: subject.attributes, own: callAttributes(call, transport),
  };
}

/** Member by member: spread objects take several times as long, and this is done for every call. */
function callAttributes({ plan, tool, principal, requestId, outcome }: ObservedCall, transport: SpanTransport): Attributes {
  const attributes: Attributes = plan === null ? callFacts(clip(tool), transport) : {};
  if (principal !== null) attributes["principal"] = clip(principal);
  attributes["toolsrv.request.id"] = clip(requestId);
  addOutcome(attributes, outcome);
  return attributes;
}

interface StepIds {
  readonly traceId: string;
  /** Of the call's span. */
  readonly spanId: string;
  readonly id: string;
}

function stepSpan({ startedAt, startedMs, endedMs, outcome }: ObservedCall, step: ObservedStep, { semconv }: SpanSubject, { traceId, spanId, id }: StepIds): Span {
  const isOpen = step.endedMs === 0;
  const code = isOpen ? codeOf(outcome) : step.failure;
  const count = isOpen ? null : step.count;
  const startMs = startedAt + (step.startedMs - startedMs);
  return {
    traceId, spanId: id, parentId: spanId, isRemote: false, name: stepSpanName(step, semconv), kind: stepSpanKind(step),
    startMs, endMs: Math.max(startMs, startedAt + ((isOpen ? endedMs : step.endedMs) - startedMs)), code, shared: NOTHING, own: stepAttributes(step, count, code),
  };
}

function codeOf(outcome: CallOutcome | null): string | null {
  return outcome !== null && outcome.kind === "error" ? outcome.code : null;
}

function clip(text: string): string {
  return text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME)}…`;
}
