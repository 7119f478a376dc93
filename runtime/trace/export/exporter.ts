/**
 * Sends runs that have ended to an OpenTelemetry collector. It reads them back from the store, so that ingestion
 * never waits for it; runs that wait are bounded and what is given up is counted.
 */
import type { Log } from "../../observe/log.js";
import type { RunExtended, StepExtended } from "../model.js";
import type { News, TraceReader } from "../store/store.js";
import { encodeRequest } from "./protobuf.js";
import { type ExportedSpan, SpanBuilder } from "./spans.js";

export interface ExporterOptions {
  /** Where spans are posted, with /v1/traces. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly serviceName: string;
  readonly version: string;
  readonly read: Pick<TraceReader, "run" | "steps">;
  readonly log: Pick<Log, "warn">;
  /** Milliseconds from a monotonic clock. */
  readonly monotonic: () => number;
  readonly fetch?: typeof fetch;
  /** Waiting runs; 10,000 by default. */
  readonly maxRuns?: number;
  /** First pause before another attempt; each later one is twice as long. 500 ms by default. */
  readonly retryMs?: number;
}

export interface ExporterCounts {
  readonly spans: number;
  /** Runs that found the queue full or could not be read, and spans that the collector did not take. */
  readonly runsDropped: number;
  readonly spansDropped: number;
  readonly waiting: number;
}

const MAX_RUNS = 10_000;
const SPANS_PER_REQUEST = 512;
const STEPS_PER_PAGE = 1000;
const ATTEMPTS = 5;
const RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
const REQUEST_MS = 10_000;
/** One line about trouble in so long. */
const COMPLAIN_MS = 60_000;
const SEPARATOR = "\n";

export class Exporter {
  /** Ids of runs that wait, in order. */
  readonly #waiting = new Set<string>();
  readonly #stop = new AbortController();
  #spans = 0;
  #runsDropped = 0;
  #spansDropped = 0;
  #working: Promise<void> | null = null;
  #complainedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: ExporterOptions) {}

  get counts(): ExporterCounts {
    return { spans: this.#spans, runsDropped: this.#runsDropped, spansDropped: this.#spansDropped, waiting: this.#waiting.size };
  }

  /** Takes the runs that a commit ended. Never waits or throws. */
  hear(news: News): void {
    for (const { runId, change, own } of news.updates) {
      // Of several services over one database, the one that wrote a run's end exports it.
      if (change !== "ended" || !own) continue;
      if (this.#waiting.size >= (this.options.maxRuns ?? MAX_RUNS)) this.#runsDropped += 1;
      else this.#waiting.add(runId);
    }
    if (this.#waiting.size > 0) this.#working ??= this.#work();
  }

  /** Sends what waits for up to `graceMs`; the rest is counted as dropped. */
  async close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), graceMs);
    await this.#working;
    clearTimeout(timer);
    this.#stop.abort();
  }

  async #work(): Promise<void> {
    let batch: ExportedSpan[] = [];
    for (let [runId] = this.#waiting; runId !== undefined; [runId] = this.#waiting) {
      this.#waiting.delete(runId);
      if (this.#stop.signal.aborted) {
        this.#runsDropped += 1;
        continue;
      }
      for (const span of await this.#spansOf(runId)) {
        batch.push(span);
        if (batch.length < SPANS_PER_REQUEST) continue;
        await this.#send(batch);
        batch = [];
      }
      if (this.#waiting.size > 0 || batch.length === 0) continue;
      await this.#send(batch);
      batch = [];
    }
    this.#spansDropped += batch.length;
    this.#working = null;
  }

  async #spansOf(runId: string): Promise<readonly ExportedSpan[]> {
    const { read } = this.options;
    try {
      const text = await read.run(runId, true);
      // Deleted in the meantime.
      if (text === null) return [];
      const builder = new SpanBuilder(JSON.parse(text) as RunExtended);
      let cursor: string | null = null;
      do {
        const page = await read.steps({ runId, cursor, limit: STEPS_PER_PAGE, extended: true, payloads: false, separator: SEPARATOR, sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER });
        if (page === null) break;
        if (page.count > 0) for (const line of page.text.split(SEPARATOR)) if (line !== "") builder.add(JSON.parse(line) as StepExtended);
        cursor = page.next;
      } while (cursor !== null);
      return builder.spans();
    } catch (error) {
      this.#runsDropped += 1;
      this.#complain(`a run could not be read: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }

  async #send(spans: readonly ExportedSpan[]): Promise<void> {
    const { serviceName, version, retryMs = RETRY_MS } = this.options;
    const body = encodeRequest(spans, { "service.name": serviceName, "telemetry.sdk.name": "toolsrv", "telemetry.sdk.language": "nodejs", "telemetry.sdk.version": version });
    let pause = retryMs;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#post(body);
      if (outcome === null) {
        this.#spans += spans.length;
        return;
      }
      if (!outcome.again || attempt === ATTEMPTS || this.#stop.signal.aborted) {
        this.#spansDropped += spans.length;
        this.#complain(outcome.problem);
        return;
      }
      await this.#pause(Math.min(outcome.afterMs ?? pause, MAX_RETRY_MS));
      pause *= 2;
    }
  }

  /** `null` when the collector took them. */
  async #post(body: Buffer): Promise<{ readonly again: boolean; readonly problem: string; readonly afterMs: number | null } | null> {
    const { url, headers, fetch: send = fetch } = this.options;
    const limit = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(REQUEST_MS)]);
    try {
      const answer = await send(url, { method: "POST", headers: { ...headers, "content-type": "application/x-protobuf" }, body: body as Buffer<ArrayBuffer>, signal: limit, redirect: "error" });
      await answer.arrayBuffer();
      if (answer.ok) return null;
      const seconds = Number(answer.headers.get("retry-after") ?? Number.NaN);
      return { again: [429, 502, 503, 504].includes(answer.status), problem: `the collector answered ${answer.status}`, afterMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : error instanceof Error ? error.message : String(error);
      return { again: true, problem: `the collector can't be reached: ${cause}`, afterMs: null };
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener("abort", done, { once: true });
      if (signal.aborted) done();
    });
  }

  #complain(problem: string): void {
    const now = this.options.monotonic();
    if (now - this.#complainedAt < COMPLAIN_MS) return;
    this.#complainedAt = now;
    this.options.log.warn("spans could not be exported", { problem, spans_dropped: this.#spansDropped, runs_dropped: this.#runsDropped });
  }
}

/** The address with /v1/traces. */
export function exportUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.replace(/\/$/, "").endsWith("/v1/traces")) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url.href;
}
