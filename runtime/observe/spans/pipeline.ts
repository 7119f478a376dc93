/**
 * Ended spans on their way out, in batches and by a bounded queue. A collector that is away, slow or wrong costs spans,
 * which are counted and reported once for each outage; it never costs a call.
 */
import type { Log } from "../log.js";
import { createSpanExporter, type ExporterParts, type SpanExporter } from "./exporters.js";
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

export class SpanPipeline implements SpanSink {
  /** Spans that nobody will receive. */
  dropped = 0;
  /** Spans that were sent and have no answer yet. */
  private inFlight = 0;
  private lostAt = 0;
  /** Of `dropped`, those of the outage that lasts; `null` when there is none. */
  private outage: number | null = null;
  private readonly exporter: SpanExporter;
  private isReady = false;
  private closed = false;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: SpanPipelineOptions) {
    this.exporter = createSpanExporter(options);
  }

  /** Loads the packages; spans that end before wait for them. @throws PackageError */
  async start(): Promise<void> {
    await this.exporter.load();
    this.isReady = true;
    if (!this.closed) this.sendIfFull();
  }

  add(spans: readonly Span[]): void {
    const { exporter } = this;
    if (this.closed || this.inFlight + exporter.count + spans.length > MAX_WAITING) {
      this.lose(spans.length, "more spans end than the collector takes");
      return;
    }
    for (const span of spans) exporter.add(span);
    this.sendIfFull();
  }

  /** Sends what waits, for a bounded time; the rest is dropped. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.isReady) this.send();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.options.closeMs ?? CLOSE_MS)));
    await Promise.race([this.exporter.close().catch(() => undefined), late]);
    clearTimeout(timer);
    const left = this.inFlight + this.exporter.count;
    this.inFlight = 0;
    if (left > 0) this.lose(left, "the collector did not take them before the server ended");
    if (this.dropped > 0) this.options.log.warn("spans were dropped", { service: this.options.serviceName, dropped: this.dropped });
  }

  private sendIfFull(): void {
    if (!this.isReady) return;
    if (this.exporter.count >= BATCH) this.send();
    // Spans that wait do not keep a process alive; closing sends them.
    else this.timer ??= setTimeout(() => this.send(), DELAY_MS).unref();
  }

  private send(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const { count } = this.exporter;
    if (count === 0) return;
    this.inFlight += count;
    this.exporter.send((error) => {
      // After close() everything left has been counted.
      if (this.inFlight === 0) return;
      this.inFlight -= count;
      if (error === null) this.delivered();
      else this.lose(count, causeOf(error));
    });
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
function causeOf(error: Error): string {
  const code = "code" in error && (typeof error.code === "string" || typeof error.code === "number") ? ` (${error.code})` : "";
  const text = error.message === "" && error instanceof AggregateError ? error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join(", ") : error.message;
  return `${text === "" ? error.name : text}${code}`;
}
