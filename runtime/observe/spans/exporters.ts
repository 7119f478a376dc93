/**
 * The official OpenTelemetry packages: optional, loaded for a catalog that asks for spans and for no other. Batches go to
 * a collector by the transport of their own exporter, with its headers, certificates, compression and attempts
 * (`OTEL_EXPORTER_OTLP_*`), or as lines to a person.
 */
import { createRequire } from "node:module";
import type * as Api from "@opentelemetry/api";
import type * as Resources from "@opentelemetry/resources";
import type * as Sdk from "@opentelemetry/sdk-trace-base";
import { SPAN_PACKAGES, type SpanExporterName } from "../../abi/tracing.js";
import { type FindPackage, loadOptionalPackage, PackageError, placeOfPackage } from "../../base/optional-package.js";
import { originOf, type SpanOrigin } from "./origin.js";
import { OtlpSpans } from "./otlp.js";
import type { Span } from "./span.js";

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

/** Keeps ended spans in the form in which they are sent, until the SDK's batch processor asks for a batch. */
export interface SpanExporter {
  add(span: Span): void;
  /** Sends the `count` oldest spans. */
  send(count: number, done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
}

export interface ExportResult {
  /** 0 is success. */
  readonly code: number;
  readonly error?: Error;
}

export interface LoadedExporter {
  readonly exporter: SpanExporter;
  readonly origin: SpanOrigin;
  /** Whether the code that runs now was asked for no spans (OpenTelemetry's `suppressTracing`). */
  readonly isSuppressed: () => boolean;
  readonly BatchSpanProcessor: typeof Sdk.BatchSpanProcessor;
}

/** Resources come from the variables of OpenTelemetry too, so that a deployment can add its own. @throws PackageError */
export async function loadExporter(parts: ExporterParts): Promise<LoadedExporter> {
  const { kind, endpoint, serviceName, version, base, write, find } = parts;
  const load = <T>(name: (typeof SPAN_PACKAGES)["otlp"][number]): Promise<T> => loadOptionalPackage<T>(name, base, find);
  const { context } = await load<typeof Api>("@opentelemetry/api");
  const { BatchSpanProcessor } = await load<typeof Sdk>(SDK);
  const { isTracingSuppressed } = createRequire(placeOfPackage(SDK, base))("@opentelemetry/core") as CoreModule;
  const isSuppressed = (): boolean => isTracingSuppressed(context.active());
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await load<typeof Resources>("@opentelemetry/resources");
  const resource = defaultResource().merge(detectResources({ detectors: [envDetector] })).merge(resourceFromAttributes({ "service.name": serviceName, "service.version": version }));
  const origin = originOf(resource, version);
  const common = { origin, isSuppressed, BatchSpanProcessor };
  if (kind === "console") return { exporter: consoleExporter(write), ...common };
  await load(EXPORTER);
  return { exporter: otlpExporter(transportTo(tracesUrl(endpoint), base), origin), ...common };
}

/** Where spans are posted. */
export function tracesUrl(endpoint: string): string {
  const base = endpoint.replace(/\/+$/, "");
  return base.endsWith("/v1/traces") ? base : `${base}/v1/traces`;
}

/** What a batch is for the transport. */
interface Request {
  readonly body: Buffer;
  readonly count: number;
}

/** What OpenTelemetry's exporter sends by. Its types are those of a package that it brings along, and that is not ours. */
interface Transport {
  export(request: Request, done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
}

interface TransportModule {
  convertLegacyHttpOptions?(config: { readonly url: string }, signal: string, path: string, headers: { readonly [name: string]: string }): unknown;
  createOtlpHttpExportDelegate?(
    options: unknown,
    serializer: { serializeRequest(request: Request): Uint8Array; deserializeResponse(bytes: Uint8Array): object },
    component: string,
    metrics: { readonly name: "span"; countItems(request: Request): number },
    meters: undefined,
  ): Transport;
}

/** A package that the SDK brings along. */
interface CoreModule {
  isTracingSuppressed(context: Api.Context): boolean;
}

const SDK = "@opentelemetry/sdk-trace-base";
const EXPORTER = "@opentelemetry/exporter-trace-otlp-proto";

/** @throws PackageError when the release that is installed has no such transport. */
function transportTo(url: string, base: string): Transport {
  const { convertLegacyHttpOptions, createOtlpHttpExportDelegate } = createRequire(placeOfPackage(EXPORTER, base))("@opentelemetry/otlp-exporter-base/node-http") as TransportModule;
  if (convertLegacyHttpOptions === undefined || createOtlpHttpExportDelegate === undefined) throw new PackageError(EXPORTER, false, new Error("this release is not known; package.json of toolsrv names one that is"));
  const options = convertLegacyHttpOptions({ url }, "TRACES", "v1/traces", { "Content-Type": "application/x-protobuf" });
  // Answers are not read: a status of success is enough.
  const serializer = { serializeRequest: ({ body }: Request) => body, deserializeResponse: () => ({}) };
  return createOtlpHttpExportDelegate(options, serializer, "otlp_http_span_exporter", { name: "span", countItems: ({ count }) => count }, undefined);
}

function otlpExporter(transport: Transport, origin: SpanOrigin): SpanExporter {
  const spans = new OtlpSpans();
  return {
    add: (span) => spans.add(span),
    send: (count, done) => transport.export({ body: spans.take(count, origin), count }, done),
    shutdown: () => transport.shutdown(),
  };
}

/** One JSON object a line. The package's own console exporter writes to standard output, which is the protocol's on stdio. */
function consoleExporter(write: (line: string) => void): SpanExporter {
  const waiting: Span[] = [];
  return {
    add: (span) => void waiting.push(span),
    send(count, done) {
      for (const { traceId, spanId, parentId, name, startMs, endMs, code, shared, own } of waiting.splice(0, count)) {
        write(`${JSON.stringify({
          span: name, trace_id: traceId, span_id: spanId, parent_span_id: parentId,
          ts: new Date(startMs).toISOString(), duration_ms: Math.round((endMs - startMs) * 1000) / 1000, status: code ?? "ok", attributes: { ...shared, ...own },
        })}\n`);
      }
      done({ code: 0 });
    },
    shutdown: async () => undefined,
  };
}
