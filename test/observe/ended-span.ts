/** Our spans in the form of OpenTelemetry's SDK, for its serializer, whose bytes ours are compared with. */
import type * as Api from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { SpanOrigin } from "../../runtime/observe/spans/origin.js";
import type { Span } from "../../runtime/observe/spans/span.js";

const SAMPLED = 1;

export class EndedSpan implements ReadableSpan {
  readonly ended = true;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly parentSpanContext?: Api.SpanContext;

  constructor(
    readonly span: Span,
    private readonly origin: SpanOrigin,
  ) {
    const { traceId, parentId, isRemote } = span;
    if (parentId !== null) this.parentSpanContext = { traceId, spanId: parentId, traceFlags: SAMPLED, isRemote };
  }

  get name(): string {
    return this.span.name;
  }

  get kind(): Api.SpanKind {
    return this.span.kind;
  }

  get resource(): Resource {
    return this.origin.resource;
  }

  get instrumentationScope(): SpanOrigin["scope"] {
    return this.origin.scope;
  }

  get attributes(): Api.Attributes {
    return { ...this.span.shared, ...this.span.own };
  }

  get startTime(): Api.HrTime {
    return hrTime(this.span.startMs);
  }

  get endTime(): Api.HrTime {
    return hrTime(this.span.endMs);
  }

  get duration(): Api.HrTime {
    return hrTime(this.span.endMs - this.span.startMs);
  }

  get status(): Api.SpanStatus {
    const { code } = this.span;
    return code === null ? { code: 0 } : { code: 2, message: code };
  }

  get links(): Api.Link[] {
    return [];
  }

  get events(): ReadableSpan["events"] {
    return [];
  }

  spanContext(): Api.SpanContext {
    const { traceId, spanId } = this.span;
    return { traceId, spanId, traceFlags: SAMPLED };
  }
}

function hrTime(ms: number): Api.HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
