/** The official OpenTelemetry packages: optional, loaded for a catalog that asks for spans and for no other. */
import type * as Api from "@opentelemetry/api";
import type * as Otlp from "@opentelemetry/exporter-trace-otlp-proto";
import type * as Resources from "@opentelemetry/resources";
import type * as Sdk from "@opentelemetry/sdk-trace-base";
import { SPAN_PACKAGES, type SpanExporterName } from "../../abi/tracing.js";
import { loadOptionalPackage, type FindPackage } from "../../base/optional-package.js";

export interface ExporterParts {
  readonly kind: SpanExporterName;
  /** Address of an OTLP collector, with or without /v1/traces. */
  readonly endpoint: string;
  readonly serviceName: string;
  readonly version: string;
  /** Folder of the catalog, where packages may lie too. */
  readonly base: string;
  /** Takes a line for each span of exporter console. */
  readonly write: (line: string) => void;
  readonly find?: FindPackage;
}

export interface LoadedExporter {
  readonly exporter: Sdk.SpanExporter;
  readonly resource: Resources.Resource;
  readonly BatchSpanProcessor: typeof Sdk.BatchSpanProcessor;
}

/** Resources come from the variables of OpenTelemetry too, so that a deployment can add its own. @throws PackageError */
export async function loadExporter(parts: ExporterParts): Promise<LoadedExporter> {
  const { kind, endpoint, serviceName, version, base, write, find } = parts;
  const load = <T>(name: (typeof SPAN_PACKAGES)["otlp"][number]): Promise<T> => loadOptionalPackage<T>(name, base, find);
  await load<typeof Api>("@opentelemetry/api");
  const { BatchSpanProcessor } = await load<typeof Sdk>("@opentelemetry/sdk-trace-base");
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await load<typeof Resources>("@opentelemetry/resources");
  const resource = defaultResource().merge(detectResources({ detectors: [envDetector] })).merge(resourceFromAttributes({ "service.name": serviceName, "service.version": version }));
  if (kind === "console") return { exporter: consoleExporter(write), resource, BatchSpanProcessor };
  const { OTLPTraceExporter } = await load<typeof Otlp>("@opentelemetry/exporter-trace-otlp-proto");
  return { exporter: new OTLPTraceExporter({ url: tracesUrl(endpoint) }), resource, BatchSpanProcessor };
}

/** Where spans are posted. */
export function tracesUrl(endpoint: string): string {
  const base = endpoint.replace(/\/+$/, "");
  return base.endsWith("/v1/traces") ? base : `${base}/v1/traces`;
}

/** One JSON object a line. The package's own console exporter writes to standard output, which is the protocol's on stdio. */
function consoleExporter(write: (line: string) => void): Sdk.SpanExporter {
  return {
    export(spans, done) {
      for (const span of spans) write(`${JSON.stringify(lineOf(span))}\n`);
      done({ code: 0 });
    },
    shutdown: async () => undefined,
  };
}

function lineOf(span: Sdk.ReadableSpan): { readonly [field: string]: unknown } {
  const { traceId, spanId } = span.spanContext();
  const ms = ([seconds, nanoseconds]: Api.HrTime): number => seconds * 1000 + nanoseconds / 1e6;
  return {
    span: span.name, trace_id: traceId, span_id: spanId, parent_span_id: span.parentSpanContext?.spanId ?? null,
    ts: new Date(ms(span.startTime)).toISOString(), duration_ms: Math.round(ms(span.duration) * 1000) / 1000,
    status: span.status.message ?? "ok", attributes: span.attributes,
  };
}
