/**
 * Ended spans on their way out: a bounded queue before the official batch processor. A collector that is away, slow or
 * wrong costs spans, which are counted and reported once for each outage; it never costs a call.
 */
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Log } from "../log.js";
import type { ExporterParts, ExportResult, SpanExporter } from "./exporters.js";
import { placeInQueue } from "./origin.js";
import type { SpanSink } from "./recorder.js";
import type { Span } from "./span.js";

/** Spans that have not arrived; the next ones are dropped. */
export const MAX_WAITING = 8192;
const BATCH = 512;
const DELAY_MS = 1000;
/** Longest that closing waits for the collector. */
const CLOSE_MS = 5000;
const MAX_CAUSE = 300;
/** An outage is over when spans arrive and none was lost for so long. */
const QUIET_MS = 10_000;

export interface SpanPipelineOptions extends ExporterParts {
  readonly log: Pick<Log, "warn" | "info" | "error">;
  /** Takes credentials out of a text. */
  readonly scrub: (text: string) => string;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly closeMs?: number;
}

interface SdkExporter {
  export(places: readonly ReadableSpan[], done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
}

export class SpanPipeline implements SpanSink {
  /** Spans that nobody will receive. */
  dropped = 0;
  /** Spans that have not arrived, those on their way among them. */
  waiting = 0;
  private lostAt = 0;
  /** Of `dropped`, those of the outage that lasts; `null` when there is none. */
  private outage: number | null = null;
  /** `null` until the packages are loaded. */
  private loaded: { readonly processor: SpanProcessor; readonly exporter: SpanExporter; readonly place: ReadableSpan; readonly isSuppressed: () => boolean } | null = null;
  private closed = false;

  constructor(private readonly options: SpanPipelineOptions) {}

  /** Loads the packages. Comes before the first span. @throws PackageError */
  async start(): Promise<void> {
    const { exporter, origin, isSuppressed, BatchSpanProcessor } = await (await import("./exporters.js")).loadExporter(this.options);
    // The queue of the processor is never full: the bound is ours, so that what is dropped is counted.
    const processor = new BatchSpanProcessor(this.counting(exporter), { maxQueueSize: MAX_WAITING, maxExportBatchSize: BATCH, scheduledDelayMillis: DELAY_MS });
    this.loaded = { processor, exporter, place: placeInQueue(origin), isSuppressed };
  }

  /** Whether the code that runs now was asked for no spans. */
  isSuppressed(): boolean {
    return this.loaded?.isSuppressed() ?? false;
  }

  add(spans: readonly Span[]): void {
    if (this.loaded === null || this.closed || this.waiting + spans.length > MAX_WAITING) {
      this.lose(spans.length, this.loaded === null ? "the packages of OpenTelemetry are not loaded" : "more spans end than the collector takes");
      return;
    }
    this.waiting += spans.length;
    const { processor, exporter, place } = this.loaded;
    for (const span of spans) {
      exporter.add(span);
      processor.onEnd(place);
    }
  }

  /** Sends what waits, for a bounded time; the rest is dropped. */
  async close(): Promise<void> {
    this.closed = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.options.closeMs ?? CLOSE_MS)));
    const flushed = this.loaded?.processor.shutdown().catch(() => undefined) ?? Promise.resolve();
    await Promise.race([flushed, late]);
    clearTimeout(timer);
    const left = this.waiting;
    this.waiting = 0;
    if (left > 0) this.lose(left, "the collector did not take them before the server ended");
    if (this.dropped > 0) this.options.log.warn("spans were dropped", { service: this.options.serviceName, dropped: this.dropped });
  }

  /** The exporter as the processor knows one. The places that it gives are in the order of the spans. */
  private counting(exporter: SpanExporter): SdkExporter {
    return {
      export: ({ length }, done) => {
        const finish = (result: ExportResult): void => {
          // After close() everything left has been counted.
          if (this.waiting > 0) {
            this.waiting -= length;
            if (result.code === 0) this.delivered();
            else this.lose(length, causeOf(result.error));
          }
          done(result);
        };
        try {
          exporter.send(length, finish);
        } catch (error) {
          finish({ code: 1, error: error instanceof Error ? error : new Error(String(error)) });
        }
      },
      shutdown: () => exporter.shutdown(),
    };
  }

  private lose(count: number, cause: string): void {
    this.dropped += count;
    this.lostAt = this.options.now();
    if (this.outage === null) {
      const { log, scrub, serviceName } = this.options;
      log.warn("spans are not delivered (observability.tracing); calls go on", { service: serviceName, cause: scrub(cause).slice(0, MAX_CAUSE) });
    }
    this.outage = (this.outage ?? 0) + count;
  }

  private delivered(): void {
    if (this.outage === null || this.options.now() - this.lostAt < QUIET_MS) return;
    this.options.log.info("spans are delivered again", { service: this.options.serviceName, dropped: this.outage });
    this.outage = null;
  }
}

/** Status or system error, never what the collector answered. */
function causeOf(error: Error | undefined): string {
  if (error === undefined) return "the exporter failed";
  const code = "code" in error && (typeof error.code === "string" || typeof error.code === "number") ? ` (${error.code})` : "";
  const text = error.message === "" && error instanceof AggregateError ? error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join(", ") : error.message;
  return `${text === "" ? error.name : text}${code}`;
}
