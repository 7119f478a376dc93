/**
 * What is kept of a call for its spans: numbers and short texts, so that a server does little for it while it serves.
 * Spans are made of it where they are exported, which may be another thread.
 */
import type { ObservedCall, ObservedStep } from "../../abi/observer.js";
import type { Attributes, SpanTransport } from "./names.js";

/** What all calls of one tool have in common; calls name it by its number. */
export interface SpanSubject {
  /** `null` for calls of names that are no tool. */
  readonly tool: string | null;
  readonly attributes: Readonly<Attributes>;
  /** Names of the conventions instead of those of the specification. */
  readonly semconv: boolean;
  readonly transport: SpanTransport;
}

/** A call that has ended. Times in milliseconds since the epoch, with a fraction. */
export interface CallTrace {
  readonly subject: number;
  /** `null` where nobody has asked for the id yet: then it is made with the span. */
  readonly traceId: string | null;
  readonly spanId: string | null;
  /** The span of the caller. */
  readonly parentId: string | null;
  /** As called, where it is no tool. */
  readonly called: string | null;
  readonly requestId: string;
  readonly principal: string | null;
  readonly startMs: number;
  readonly endMs: number;
  /** What it failed with. */
  readonly code: string | null;
  readonly count: number;
  readonly truncated: boolean;
  readonly steps: readonly StepTrace[];
}

/** A step of a call; one that had not ended with its call ends with it. */
export interface StepTrace {
  readonly kind: ObservedStep["kind"];
  readonly operation: string;
  readonly target: string;
  readonly attributes: ObservedStep["attributes"];
  readonly startMs: number;
  readonly endMs: number;
  readonly code: string | null;
  readonly count: number | null;
}

/** Longer names are cut: a caller chooses the name of a tool that does not exist. */
const MAX_NAME = 200;
const NO_STEPS: readonly StepTrace[] = [];

export function callTrace(call: ObservedCall, subject: number, ids: Pick<CallTrace, "traceId" | "spanId">): CallTrace {
  const { outcome, startedAt, startedMs, endedMs, principal, requestId, trace, steps } = call;
  const isOk = outcome !== null && outcome.kind === "ok";
  return {
    subject,
    traceId: ids.traceId,
    spanId: ids.spanId,
    parentId: trace === null ? null : trace.spanId,
    called: call.plan === null ? clip(call.tool) : null,
    requestId: clip(requestId),
    principal: principal === null ? null : clip(principal),
    startMs: startedAt,
    endMs: startedAt + (endedMs - startedMs),
    code: outcome !== null && outcome.kind === "error" ? outcome.code : null,
    count: isOk ? outcome.count : 0,
    truncated: isOk && outcome.truncated,
    steps: steps.length === 0 ? NO_STEPS : steps.map((step) => stepTrace(call, step)),
  };
}

function stepTrace({ startedAt, startedMs, endedMs, outcome }: ObservedCall, step: ObservedStep): StepTrace {
  const { kind, operation, target, attributes } = step;
  const isOpen = step.endedMs === 0;
  const end = isOpen ? endedMs : step.endedMs;
  return {
    kind, operation, target, attributes, startMs: startedAt + (step.startedMs - startedMs), endMs: startedAt + (end - startedMs),
    code: isOpen ? (outcome?.kind === "error" ? outcome.code : null) : step.failure, count: isOpen ? null : step.count,
  };
}

function clip(text: string): string {
  return text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME)}…`;
}
