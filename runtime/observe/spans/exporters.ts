/**
 * Where batches of spans go: to a collector by the transport of OpenTelemetry's own exporter, with its headers,
 * certificates, compression and attempts (`OTEL_EXPORTER_OTLP_*`), or as lines to a person. The packages are optional,
 * loaded for a catalog that asks for a collector and for no other.
 */
import { createRequire } from "node:module";
import type * as Api from "@opentelemetry/api";
import type * as Resources from "@opentelemetry/resources";
import { SPAN_PACKAGES, type SpanExporterName } from "../../abi/tracing.js";
import { type FindPackage, loadOptionalPackage, placeOfPackage } from "../../base/optional-package.js";
import { createSpanIds } from "./ids.js";
import { OtlpSpans, type SpanOrigin } from "./otlp.js";
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

/** A batch that is being filled, and the way out of it. */
export interface SpanExporter {
  /** Spans of the batch. */
  readonly count: number;
  /** Adds a span, also before `load` has ended. */
  add(span: Span): void;
  /** Resolves when batches can be sent. @throws PackageError */
  load(): Promise<void>;
  /** Sends the batch and begins another one. `done` gets what went wrong, or `null`; it is called once. */
  send(done: (error: Error | null) => void): void;
  /** Resolves when what was sent has its answer. */
  close(): Promise<void>;
}

export function createSpanExporter(parts: ExporterParts): SpanExporter {
  return parts.kind === "console" ? new ConsoleExporter(parts.write) : new OtlpExporter(parts);
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
  export(request: Request, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
  shutdown(): Promise<void>;
}

interface TransportModule {
  convertLegacyHttpOptions(config: { readonly url: string }, signal: string, path: string, headers: { readonly [name: string]: string }): unknown;
  createOtlpHttpExportDelegate(
    options: unknown,
    serializer: { serializeRequest(request: Request): Uint8Array; deserializeResponse(bytes: Uint8Array): object },
    component: string,
    metrics: { readonly name: "span"; countItems(request: Request): number },
    meters: undefined,
  ): Transport;
}

const EXPORTER = "@opentelemetry/exporter-trace-otlp-proto";

/** What the exporter brings along. */
interface CoreModule {
  suppressTracing(context: Api.Context): Api.Context;
}

class OtlpExporter implements SpanExporter {
  private readonly batch = new OtlpSpans();
  private loaded: { readonly transport: Transport; readonly origin: SpanOrigin; readonly untraced: (work: () => void) => void } | null = null;

  constructor(private readonly parts: ExporterParts) {}

  get count(): number {
    return this.batch.count;
  }

  add(span: Span): void {
    this.batch.add(span);
  }

  /** Resources come from the variables of OpenTelemetry too, so that a deployment can add its own. */
  async load(): Promise<void> {
    const { endpoint, serviceName, version, base, find } = this.parts;
    const load = <T>(name: (typeof SPAN_PACKAGES)["otlp"][number]): Promise<T> => loadOptionalPackage<T>(name, base, find);
    const { context } = await load<typeof Api>("@opentelemetry/api");
    const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await load<typeof Resources>("@opentelemetry/resources");
    await load(EXPORTER);
    const resource = defaultResource().merge(detectResources({ detectors: [envDetector] })).merge(resourceFromAttributes({ "service.name": serviceName, "service.version": version }));
    const bring = createRequire(placeOfPackage(EXPORTER, base));
    const { convertLegacyHttpOptions, createOtlpHttpExportDelegate } = bring("@opentelemetry/otlp-exporter-base/node-http") as TransportModule;
    const { suppressTracing } = bring("@opentelemetry/core") as CoreModule;
    const options = convertLegacyHttpOptions({ url: tracesUrl(endpoint) }, "TRACES", "v1/traces", { "Content-Type": "application/x-protobuf" });
    // Answers are not read: a status of success is enough.
    const serializer = { serializeRequest: ({ body }: Request) => body, deserializeResponse: () => ({}) };
    const transport = createOtlpHttpExportDelegate(options, serializer, "otlp_http_span_exporter", { name: "span", countItems: ({ count }) => count }, undefined);
    // An application that traces its requests must not trace these.
    const untraced = (work: () => void): void => context.with(suppressTracing(context.active()), work);
    this.loaded = { transport, origin: { resource, version }, untraced };
  }

  send(done: (error: Error | null) => void): void {
    const { loaded, batch } = this;
    if (loaded === null) throw new TypeError("spans are sent before the packages are loaded");
    const { transport, origin, untraced } = loaded;
    const { count } = batch;
    const request = { body: batch.take(origin), count };
    untraced(() => transport.export(request, ({ code, error }) => done(code === 0 ? null : (error ?? new Error("the exporter failed")))));
  }

  async close(): Promise<void> {
    await this.loaded?.transport.shutdown();
  }
}

/** One JSON object a line. */
class ConsoleExporter implements SpanExporter {
  private lines: string[] = [];
  private readonly ids = createSpanIds();

  constructor(private readonly write: (line: string) => void) {}

  get count(): number {
    return this.lines.length;
  }

  add(span: Span): void {
    const { traceId, spanId, parentId, name, startMs, endMs, code, shared, own } = span;
    this.lines.push(`${JSON.stringify({
      span: name, trace_id: traceId ?? this.ids.traceId(), span_id: spanId ?? this.ids.spanId(), parent_span_id: parentId,
      ts: new Date(startMs).toISOString(), duration_ms: Math.round((endMs - startMs) * 1000) / 1000, status: code ?? "ok", attributes: { ...shared, ...own },
    })}\n`);
  }

  load(): Promise<void> {
    return Promise.resolve();
  }

  send(done: (error: Error | null) => void): void {
    const { lines } = this;
    this.lines = [];
    for (const line of lines) this.write(line);
    done(null);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
