/** Our spans in the form of OpenTelemetry's SDK. */
import type { HrTime } from "@opentelemetry/api";
import { resourceFromAttributes, type Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { SpanIds } from "../../runtime/observe/spans/ids.js";
import { SCHEMA_URL } from "../../runtime/observe/spans/names.js";
import type { Span } from "../../runtime/observe/spans/span.js";

const SAMPLED = 1;
const NO_RESOURCE = resourceFromAttributes({});

export function readable(span: Span, ids: SpanIds, resource: Resource = NO_RESOURCE, scope: ReadableSpan["instrumentationScope"] = { name: "toolsrv", version: "1.2.3", schemaUrl: SCHEMA_URL }): ReadableSpan {
  const { name, kind, startMs, endMs, code, parentId, isRemote } = span;
  const own = { traceId: span.traceId ?? ids.traceId(), spanId: span.spanId ?? ids.spanId(), traceFlags: SAMPLED };
  return {
    name, kind, attributes: { ...span.shared, ...span.own },
    spanContext: () => own,
    ...(parentId === null ? {} : { parentSpanContext: { traceId: own.traceId, spanId: parentId, traceFlags: SAMPLED, isRemote } }),
    startTime: hrTime(startMs), endTime: hrTime(endMs), duration: hrTime(endMs - startMs),
    status: code === null ? { code: 0 } : { code: 2, message: code },
    links: [], events: [], ended: true, droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0, resource, instrumentationScope: scope,
  };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
