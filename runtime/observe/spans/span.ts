/** The spans of a call in the form that OpenTelemetry's processors take. */
import type { HrTime, SpanContext } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { CallTrace, SpanSubject, StepTrace } from "./call-trace.js";
import type { SpanIds } from "./ids.js";
import { callFacts, callSpanKind, callSpanName, outcomeAttributes, SCHEMA_URL, stepAttributes, stepSpanKind, stepSpanName } from "./names.js";

/** What all spans of an exporter share. */
export interface SpanOrigin {
  readonly resource: Resource;
  /** Version of toolsrv. */
  readonly version: string;
}

/** TraceFlags and SpanStatusCode of the API. */
const SAMPLED = 1;
const UNSET = 0;
const ERROR = 2;

/** The steps in their order, then the call they belong to. */
export function spansOf(trace: CallTrace, subject: SpanSubject, origin: SpanOrigin, ids: SpanIds): readonly ReadableSpan[] {
  const own: SpanContext = { traceId: trace.traceId ?? ids.traceId(), spanId: trace.spanId ?? ids.spanId(), traceFlags: SAMPLED };
  const steps = trace.steps.map((step) => stepSpan(step, subject, origin, own, ids.spanId()));
  return [...steps, callSpan(trace, subject, origin, own)];
}

function callSpan(trace: CallTrace, { tool, attributes, semconv, transport }: SpanSubject, origin: SpanOrigin, own: SpanContext): ReadableSpan {
  const { called, principal, requestId, parentId } = trace;
  const { traceId } = own;
  return {
    ...ended(trace, origin, own, parentId === null ? null : { traceId, spanId: parentId, traceFlags: SAMPLED, isRemote: true }),
    name: callSpanName(tool, semconv, transport),
    kind: callSpanKind(transport),
    attributes: {
      ...(called === null ? {} : callFacts(called, transport)),
      ...attributes,
      ...(principal === null ? {} : { principal }),
      "toolsrv.request.id": requestId,
      ...outcomeAttributes(trace),
    },
  };
}

function stepSpan(step: StepTrace, { semconv }: SpanSubject, origin: SpanOrigin, parent: SpanContext, spanId: string): ReadableSpan {
  return {
    ...ended(step, origin, { ...parent, spanId }, parent),
    name: stepSpanName(step, semconv),
    kind: stepSpanKind(step),
    attributes: stepAttributes(step),
  };
}

/** A failure's message is its code, one of a table. */
function ended({ startMs, endMs, code }: CallTrace | StepTrace, { resource, version }: SpanOrigin, own: SpanContext, parent: SpanContext | null) {
  return {
    spanContext: () => own,
    ...(parent === null ? {} : { parentSpanContext: parent }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(Math.max(0, endMs - startMs)),
    status: code === null ? { code: UNSET } : { code: ERROR, message: code },
    links: [], events: [], ended: true, droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0,
    resource,
    instrumentationScope: { name: "toolsrv", version, schemaUrl: SCHEMA_URL },
  };
}

/** Seconds and nanoseconds of milliseconds, which may have a fraction. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
