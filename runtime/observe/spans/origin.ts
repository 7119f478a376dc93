/** What all spans of a process have in common, and the place of one in the queue of OpenTelemetry's batch processor. */
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { SCHEMA_URL } from "./names.js";

export interface SpanOrigin {
  readonly resource: Resource;
  readonly scope: { readonly name: string; readonly version: string; readonly schemaUrl: string };
}

/** `version` is toolsrv's. */
export function originOf(resource: Resource, version: string): SpanOrigin {
  return { resource, scope: { name: "toolsrv", version, schemaUrl: SCHEMA_URL } };
}

const SAMPLED = 1;
const NO_TIME: ReadableSpan["startTime"] = [0, 0];

/**
 * What waits in the processor in place of each span, one object for all of them: the span itself is bytes by then. Of
 * what waits, the processor reads whether it is sampled and whether its resource is complete.
 */
export function placeInQueue({ resource, scope }: SpanOrigin): ReadableSpan {
  const context = { traceId: "", spanId: "", traceFlags: SAMPLED };
  return {
    name: "", kind: 0, spanContext: () => context, startTime: NO_TIME, endTime: NO_TIME, duration: NO_TIME, status: { code: 0 }, attributes: {}, links: [], events: [], ended: true,
    resource, instrumentationScope: scope, droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0,
  };
}
