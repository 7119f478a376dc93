/**
 * Ended spans on their way out: a bounded queue before the official batch processor. A collector that is away, slow or
 * wrong costs spans, which are counted and reported once for each outage; it never costs a call.
 */
import type { SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Log } from "../log.js";
import type { CallTrace, SpanSubject } from "./call-trace.js";
import { loadExporter, type ExporterParts } from "./exporters.js";
import { createSpanIds } from "./ids.js";
import type { SpanSink } from "./recorder.js";
import { createSpanMaker } from "./span.js";

/** Spans that wait for the exporter; the next ones are dropped. */
export const MAX_WAITING = 8192;
const BATCH = 512;
const DELAY_MS = 1000;
/** Longest that closing waits for the collector. */
export const CLOSE_MS = 5000;
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

export class SpanPipeline implements SpanSink {
  /** Spans that nobody will receive. */
  dropped = 0;
  private waiting = 0;
  /** Spans that the exporter has and has not delivered. */
  private inFlight = 0;
  private lostAt = 0;
  /** Of `dropped`, those of the outage that lasts; `null` when there is none. */
  private outage: number | null = null;
  /** `null` until the packages are loaded. */
  private loaded: { readonly processor: SpanProcessor; readonly spansOf: ReturnType<typeof createSpanMaker> } | null = null;
  /** Calls that ended before. */
  private early: CallTrace[] = [];
  private readonly subjects: SpanSubject[] = [];
  private closed = false;

  constructor(private readonly options: SpanPipelineOptions) {}

  /** Loads the packages. @throws PackageError */
  async start(): Promise<void> {
    const { exporter, resource, BatchSpanProcessor } = await loadExporter(this.options);
    // The queue of the processor is never full: the bound is ours, so that what is dropped is counted.
    const processor = new BatchSpanProcessor(this.counting(exporter), { maxQueueSize: MAX_WAITING, maxExportBatchSize: BATCH, scheduledDelayMillis: DELAY_MS });
    this.loaded = { processor, spansOf: createSpanMaker({ resource, version: this.options.version }, createSpanIds()) };
    const { early } = this;
    this.early = [];
    for (const trace of early) {
      this.waiting -= 1 + trace.steps.length;
      this.add(trace);
    }
  }

  subject(subject: SpanSubject): number {
    return this.subjects.push(subject) - 1;
  }

  add(trace: CallTrace): void {
    const subject = this.subjects[trace.subject];
    const spans = 1 + trace.steps.length;
    if (this.closed || subject === undefined || this.waiting + spans > MAX_WAITING) {
      this.lose(spans, "more spans end than the collector takes");
      return;
    }
    this.waiting += spans;
    if (this.loaded === null) {
      this.early.push(trace);
      return;
    }
    const { processor, spansOf } = this.loaded;
    for (const span of spansOf(trace, subject)) processor.onEnd(span);
  }

  /** Sends what waits, for a bounded time; the rest is dropped. */
  async close(): Promise<void> {
    this.closed = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.options.closeMs ?? CLOSE_MS)));
    const flushed = this.loaded?.processor.shutdown().catch(() => undefined) ?? Promise.resolve();
    await Promise.race([flushed, late]);
    clearTimeout(timer);
    if (this.waiting + this.inFlight > 0) this.lose(this.waiting + this.inFlight, "the collector did not take them before the server ended");
    this.waiting = 0;
    this.inFlight = 0;
    if (this.dropped > 0) this.options.log.warn("spans were dropped", { service: this.options.serviceName, dropped: this.dropped });
  }

  private counting(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        const { length } = spans;
        this.waiting -= length;
        this.inFlight += length;
        const finish: typeof done = (result) => {
          // After close() everything left has been counted.
          if (this.inFlight > 0) {
            this.inFlight -= length;
            if (result.code === 0) this.delivered();
            else this.lose(length, causeOf(result.error));
          }
          done(result);
        };
        try {
          exporter.export(spans, finish);
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
