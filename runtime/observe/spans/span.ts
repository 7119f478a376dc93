/** The spans of a call in the form that OpenTelemetry's processors take. */
import type { HrTime, SpanContext, SpanKind } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { CallTrace, SpanSubject, StepTrace } from "./call-trace.js";
import type { SpanIds } from "./ids.js";
import { type Attributes, callFacts, callSpanKind, callSpanName, outcomeAttributes, SCHEMA_URL, stepAttributes, stepSpanKind, stepSpanName } from "./names.js";

/** What all spans of an exporter share. */
export interface SpanOrigin {
  readonly resource: Resource;
  /** Version of toolsrv. */
  readonly version: string;
}

/** TraceFlags and SpanStatusCode of the API. */
const SAMPLED = 1;
const ERROR = 2;
const SUCCEEDED = { code: 0 };
const NONE: never[] = [];

/** Makes the spans of a call: the steps in their order, then the call they belong to. */
export function createSpanMaker(origin: SpanOrigin, ids: SpanIds): (trace: CallTrace, subject: SpanSubject) => readonly ReadableSpan[] {
  const scope = { name: "toolsrv", version: origin.version, schemaUrl: SCHEMA_URL };
  const attributesOf = callAttributes();
  const span = ({ startMs, endMs, code }: CallTrace | StepTrace, own: SpanContext, name: string, kind: SpanKind, attributes: Attributes): ReadableSpan => ({
    name, kind, attributes,
    spanContext: () => own,
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(Math.max(0, endMs - startMs)),
    // A failure's message is its code, one of a table.
    status: code === null ? SUCCEEDED : { code: ERROR, message: code },
    links: NONE, events: NONE, ended: true, droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0,
    resource: origin.resource,
    instrumentationScope: scope,
  });
  return (trace, subject) => {
    const { semconv, transport, tool } = subject;
    const own: SpanContext = { traceId: trace.traceId ?? ids.traceId(), spanId: trace.spanId ?? ids.spanId(), traceFlags: SAMPLED };
    const call = span(trace, own, callSpanName(tool, semconv, transport), callSpanKind(transport), attributesOf(trace, subject));
    const caller = trace.parentId === null ? null : { traceId: own.traceId, spanId: trace.parentId, traceFlags: SAMPLED, isRemote: true };
    const steps = trace.steps.map((step) => ({ ...span(step, { ...own, spanId: ids.spanId() }, stepSpanName(step, semconv), stepSpanKind(step), stepAttributes(step)), parentSpanContext: own }));
    return [...steps, caller === null ? call : { ...call, parentSpanContext: caller }];
  };
}

/**
 * Attributes of calls. Those of calls that have the same ones are copies of one object with their own values put in: an
 * object that grows member by member takes the exporter's thread longer than everything else about a span.
 */
function callAttributes(): (trace: CallTrace, subject: SpanSubject) => Attributes {
  const templates = new Map<SpanSubject, Attributes[]>();
  return (trace, subject) => {
    const ofSubject = templates.get(subject) ?? [];
    if (ofSubject.length === 0) templates.set(subject, ofSubject);
    const which = (trace.principal === null ? 0 : 1) + (trace.code === null ? 0 : 2);
    ofSubject[which] ??= filled({ ...subject.attributes }, trace, subject);
    return filled({ ...ofSubject[which] }, trace, subject);
  };
}

function filled(attributes: Attributes, trace: CallTrace, { transport }: SpanSubject): Attributes {
  if (trace.called !== null) Object.assign(attributes, callFacts(trace.called, transport));
  if (trace.principal !== null) attributes["principal"] = trace.principal;
  attributes["toolsrv.request.id"] = trace.requestId;
  return Object.assign(attributes, outcomeAttributes(trace));
}

/** Seconds and nanoseconds of milliseconds, which may have a fraction. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
