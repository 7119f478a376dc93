/**
 * Ended spans in the form that OpenTelemetry's processors take. What a span says is put together when it is exported:
 * while a call runs nothing is made but what must be kept of it, and a span that is dropped costs no more than that.
 */
import type { HrTime, SpanContext, SpanStatus } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { ObservedCall, ObservedStep } from "../../abi/observer.js";
import {
  callFacts, callSpanKind, callSpanName, outcomeAttributes, SCHEMA_URL, stepAttributes, stepSpanKind, stepSpanName, type Attributes, type SpanKindCode, type SpanTransport, type ToolFacts,
} from "./names.js";

/** What all spans of one catalog share. */
export interface SpanSettings {
  /** Names of the conventions instead of those of the specification. */
  readonly semconv: boolean;
  readonly transport: SpanTransport;
  /** Version of toolsrv. */
  readonly version: string;
  /** Where the spans go; its resource is there before anything is exported. */
  readonly destination: { readonly resource: Resource | null };
}

/** Longer names are cut: a caller chooses the name of a tool that does not exist. */
const MAX_NAME = 200;
/** TraceFlags of the API. */
const SAMPLED = 1;
const UNSET = 0;
const ERROR = 2;
const NOTHING: never[] = [];

interface Ids {
  readonly traceId: string;
  readonly spanId: string;
}

abstract class EndedSpan implements ReadableSpan {
  abstract readonly name: string;
  abstract readonly kind: SpanKindCode;
  abstract readonly attributes: Attributes;
  /** Absent for the first span of a trace. */
  declare readonly parentSpanContext?: SpanContext;
  readonly links = NOTHING;
  readonly events = NOTHING;
  readonly ended = true;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;

  constructor(
    protected readonly settings: SpanSettings,
    protected readonly ids: Ids,
    private readonly startMs: number,
    private readonly endMs: number,
    private readonly failure: string | null,
    parent: SpanContext | null,
  ) {
    if (parent !== null) this.parentSpanContext = parent;
  }

  spanContext(): SpanContext {
    return { traceId: this.ids.traceId, spanId: this.ids.spanId, traceFlags: SAMPLED };
  }

  get startTime(): HrTime {
    return hrTime(this.startMs);
  }

  get endTime(): HrTime {
    return hrTime(this.endMs);
  }

  get duration(): HrTime {
    return hrTime(Math.max(0, this.endMs - this.startMs));
  }

  /** The message is the code, one of a table. */
  get status(): SpanStatus {
    return this.failure === null ? { code: UNSET } : { code: ERROR, message: this.failure };
  }

  get resource(): Resource {
    const { resource } = this.settings.destination;
    if (resource === null) throw new TypeError("a span is exported before there is an exporter");
    return resource;
  }

  get instrumentationScope(): ReadableSpan["instrumentationScope"] {
    return { name: "toolsrv", version: this.settings.version, schemaUrl: SCHEMA_URL };
  }
}

/** A call. It keeps none of its arguments, which may be large. */
export class CallSpan extends EndedSpan {
  private readonly tool: string;
  private readonly requestId: string;
  private readonly principal: string | null;
  private readonly result: Attributes;

  constructor(settings: SpanSettings, ids: Ids, call: ObservedCall, private readonly facts: ToolFacts | null, parentId: string | null) {
    const { outcome, startedAt, startedMs, endedMs, tool, principal, requestId } = call;
    const parent = parentId === null ? null : { traceId: ids.traceId, spanId: parentId, traceFlags: SAMPLED, isRemote: true };
    super(settings, ids, startedAt, startedAt + (endedMs - startedMs), outcome === null || outcome.kind === "ok" ? null : outcome.code, parent);
    this.tool = clip(tool);
    this.requestId = clip(requestId);
    this.principal = principal === null ? null : clip(principal);
    this.result = outcome === null ? {} : outcomeAttributes(outcome);
  }

  get name(): string {
    return callSpanName(this.facts?.name ?? null, this.settings.semconv, this.settings.transport);
  }

  get kind(): SpanKindCode {
    return callSpanKind(this.settings.transport);
  }

  get attributes(): Attributes {
    return {
      ...(this.facts?.attributes ?? callFacts(this.tool, this.settings.transport)),
      ...(this.principal === null ? {} : { principal: this.principal }),
      "toolsrv.request.id": this.requestId,
      ...this.result,
    };
  }
}

/** A step of a call; one that had not ended with its call ends with it. */
export class StepSpan extends EndedSpan {
  private readonly count: number | null;
  private readonly code: string | null;

  constructor(settings: SpanSettings, ids: Ids, call: ObservedCall, private readonly step: ObservedStep, parentId: string) {
    const { startedAt, startedMs } = call;
    const isOpen = step.endedMs === 0;
    const code = isOpen ? (call.outcome?.kind === "error" ? call.outcome.code : null) : step.failure;
    super(settings, ids, startedAt + (step.startedMs - startedMs), startedAt + ((isOpen ? call.endedMs : step.endedMs) - startedMs), code, { traceId: ids.traceId, spanId: parentId, traceFlags: SAMPLED });
    this.count = isOpen ? null : step.count;
    this.code = code;
  }

  get name(): string {
    return stepSpanName(this.step, this.settings.semconv);
  }

  get kind(): SpanKindCode {
    return stepSpanKind(this.step);
  }

  get attributes(): Attributes {
    return stepAttributes(this.step, this.count, this.code);
  }
}

function clip(text: string): string {
  return text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME)}…`;
}

/** Seconds and nanoseconds of milliseconds, which may have a fraction. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
