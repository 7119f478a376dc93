/**
 * The OTLP sink: a log record for each audit record, sent by the official SDK with its batch processor as JSON over
 * HTTP. The packages are loaded when a catalog has this sink.
 */
import type * as Api from "@opentelemetry/api";
import type * as Exporter from "@opentelemetry/exporter-logs-otlp-http";
import type * as Resources from "@opentelemetry/resources";
import type * as Sdk from "@opentelemetry/sdk-logs";
import { ToolError } from "../../abi/errors.js";
import { OTLP_LOG_PACKAGES } from "../../abi/audit.js";
import { loadOptionalPackage, PackageError } from "../../base/optional-package.js";
import type { AuditEvent } from "./event.js";
import { shownUrl, withoutUserInfo } from "./settings.js";
import type { AuditSink } from "./sink.js";

const REQUEST_MS = 5000;
const BATCH = 512;
/** INFO of the OpenTelemetry log data model. */
const INFO = 9;

export interface OtlpSinkOptions {
  readonly url: URL;
  /** Folder of the catalog, where packages may lie too. */
  readonly base: string;
  readonly timeoutMs?: number;
}

interface Sender {
  send(events: readonly AuditEvent[]): Promise<void>;
  close(): Promise<void>;
}

export function otlpSink(options: OtlpSinkOptions): AuditSink {
  let opening: Promise<Sender> | null = null;
  const opened = (): Promise<Sender> => (opening ??= openSender(options));
  return {
    name: `otlp ${shownUrl(options.url)}`,
    prepare: async () => void (await opened()),
    async deliver(events) {
      await (await opened()).send(events);
      return 0;
    },
    close: async () => (opening === null ? undefined : (await opening).close()),
  };
}

/** @throws ToolError tds_invalid that names every package when one cannot be loaded. */
async function loadPackages(base: string) {
  const load = <T>(name: string): Promise<T> => loadOptionalPackage<T>(name, base);
  try {
    return await Promise.all([load<typeof Api>("@opentelemetry/api"), load<typeof Resources>("@opentelemetry/resources"), load<typeof Sdk>("@opentelemetry/sdk-logs"), load<typeof Exporter>("@opentelemetry/exporter-logs-otlp-http")]);
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    throw new ToolError("tds_invalid", `audit: sink otlp: ${error.message}; it needs ${OTLP_LOG_PACKAGES.join(" ")}`, {}, { cause: error });
  }
}

async function openSender({ url, base, timeoutMs = REQUEST_MS }: OtlpSinkOptions): Promise<Sender> {
  const [api, { resourceFromAttributes }, { BatchLogRecordProcessor, LoggerProvider }, { OTLPLogExporter }] = await loadPackages(base);
  const address = withoutUserInfo(url);
  const reporting = reportingExporter(new OTLPLogExporter({ url: address.url, headers: { ...address.headers }, timeoutMillis: timeoutMs }));
  // The queue before the sink bounds what waits; the processor holds one delivery.
  const processor = new BatchLogRecordProcessor({ exporter: reporting.exporter, maxQueueSize: BATCH, maxExportBatchSize: BATCH, exportTimeoutMillis: timeoutMs });
  const provider = new LoggerProvider({ resource: resourceFromAttributes({ "service.name": "toolsrv" }), processors: [processor] });
  const logger = provider.getLogger("toolsrv.audit");
  return {
    async send(events) {
      for (let at = 0; at < events.length; at += BATCH) {
        for (const { body, tool, requestId, trace } of events.slice(at, at + BATCH)) {
          const context = trace === null ? {} : { context: api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId: trace.traceId, spanId: trace.spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true }) };
          logger.emit({ ...context, body: `${body}}`, severityNumber: INFO, severityText: "INFO", attributes: { "audit.tool": tool, "audit.request_id": requestId } });
        }
        await processor.forceFlush();
        reporting.throwIfFailed();
      }
    },
    close: () => provider.shutdown(),
  };
}

/** The exporter, with its last failure: the processor keeps it to itself. */
function reportingExporter(inner: Sdk.LogRecordExporter) {
  let failure: Error | null = null;
  const exporter: Sdk.LogRecordExporter = {
    export(records: Sdk.ReadableLogRecord[], done) {
      inner.export(records, (result) => {
        failure = result.code === 0 ? null : (result.error ?? new Error("the collector did not take the records"));
        done(result);
      });
    },
    forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => inner.shutdown(),
  };
  return {
    exporter,
    throwIfFailed() {
      const error = failure;
      failure = null;
      if (error !== null) throw error;
    },
  };
}
