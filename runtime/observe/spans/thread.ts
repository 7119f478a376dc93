/**
 * Spans exported by a thread: OpenTelemetry's packages take several times as long for a span as a call takes, and calls
 * must not pay for that. What is kept of calls crosses in batches.
 */
import { Worker } from "node:worker_threads";
import { PackageError } from "../../base/optional-package.js";
import type { Log, LogFields } from "../log.js";
import type { CallTrace, SpanSubject } from "./call-trace.js";
import { CLOSE_MS, type SpanPipelineOptions } from "./pipeline.js";
import { CallPacker, type PackedCalls } from "./packed.js";
import type { SpanSink } from "./recorder.js";

export interface ThreadStart extends Pick<SpanPipelineOptions, "endpoint" | "serviceName" | "version" | "base"> {
  readonly closeMs: number;
}

export type ToThread =
  | { readonly kind: "subject"; readonly subject: SpanSubject }
  | { readonly kind: "calls"; readonly calls: PackedCalls }
  | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly package_: string; readonly isMissing: boolean; readonly message: string }
  | { readonly kind: "log"; readonly level: "info" | "warn" | "error"; readonly message: string; readonly fields: LogFields }
  | { readonly kind: "taken"; readonly count: number }
  | { readonly kind: "closed"; readonly dropped: number };

export interface SpanThreadOptions extends Omit<ThreadStart, "closeMs"> {
  readonly log: Pick<Log, "warn" | "info" | "error">;
  readonly scrub: (text: string) => string;
  readonly closeMs?: number;
}

/** Calls that cross at once. */
const BATCH = 256;
const DELAY_MS = 200;
/** Calls that the thread has not taken yet; the next ones are dropped. */
const MAX_UNTAKEN = 8192;
/** What the thread needs to say that it has closed. */
const GOODBYE_MS = 1000;
const LIMITS = { maxYoungGenerationSizeMb: 8 };

export class SpanThread implements SpanSink {
  /** Calls of which nobody will receive a span. */
  dropped = 0;
  /** Calls to cross. */
  private readonly batch = new CallPacker(BATCH);
  private untaken = 0;
  private subjects = 0;
  private timer: NodeJS.Timeout | null = null;
  private worker: Worker | null = null;
  private onClosed: () => void = () => undefined;

  constructor(private readonly options: SpanThreadOptions) {}

  /** Resolves when the packages are loaded. @throws PackageError */
  start(): Promise<void> {
    const { endpoint, serviceName, version, base, closeMs = CLOSE_MS } = this.options;
    const worker = startWorker({ endpoint, serviceName, version, base, closeMs });
    this.worker = worker;
    return new Promise((resolve, reject) => {
      worker.on("message", (message: FromThread) => {
        if (message.kind === "ready") {
          // From now on it does not keep a process alive.
          worker.unref();
          resolve();
        } else if (message.kind === "failed") {
          void worker.terminate();
          reject(message.package_ === "" ? new Error(message.message) : new PackageError(message.package_, message.isMissing, null));
        } else this.hear(message);
      });
      worker.on("error", (error) => {
        this.options.log.error("the thread that exports spans has ended; calls go on without spans", { error: this.options.scrub(String(error)) });
        reject(error);
      });
      worker.on("exit", () => {
        this.worker = null;
        this.onClosed();
      });
    });
  }

  subject(subject: SpanSubject): number {
    this.post({ kind: "subject", subject });
    return this.subjects++;
  }

  add(trace: CallTrace): void {
    if (this.worker === null || this.untaken >= MAX_UNTAKEN) {
      if (this.dropped === 0) this.options.log.warn("spans are dropped: calls end faster than their spans can be exported", { service: this.options.serviceName });
      this.dropped += 1;
      return;
    }
    this.untaken += 1;
    this.batch.add(trace);
    if (this.batch.count >= BATCH) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), DELAY_MS).unref();
  }

  /** Sends what waits, for a bounded time; the rest is dropped. */
  async close(): Promise<void> {
    const { worker } = this;
    if (worker === null) return;
    this.flush();
    worker.ref();
    const closed = new Promise<void>((resolve) => (this.onClosed = resolve));
    this.post({ kind: "close" });
    const last = setTimeout(() => void worker.terminate(), (this.options.closeMs ?? CLOSE_MS) + GOODBYE_MS);
    await closed;
    clearTimeout(last);
    await worker.terminate();
    if (this.dropped > 0) this.options.log.warn("calls left no spans", { service: this.options.serviceName, dropped: this.dropped });
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.batch.count === 0) return;
    const calls = this.batch.take();
    this.post({ kind: "calls", calls }, [calls.numbers.buffer, calls.texts.buffer]);
  }

  private post(message: ToThread, moved: readonly ArrayBuffer[] = []): void {
    this.worker?.postMessage(message, moved);
  }

  private hear(message: Exclude<FromThread, { readonly kind: "ready" | "failed" }>): void {
    switch (message.kind) {
      case "taken": this.untaken -= message.count; break;
      case "log": this.options.log[message.level](message.message, scrubbed(message.fields, this.options.scrub)); break;
      case "closed": this.onClosed(); break;
      default: message satisfies never;
    }
  }
}

function scrubbed(fields: LogFields, scrub: (text: string) => string): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? scrub(value) : value]));
}

/** Threads do not inherit the loader by which a development run reads TypeScript; they are given it. */
function startWorker(workerData: ThreadStart): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  const entry = new URL(`export-thread${isSource ? ".ts" : ".js"}`, import.meta.url);
  if (!isSource) return new Worker(entry, { workerData, resourceLimits: LIMITS });
  const bootstrap = `import("tsx/esm/api").then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); })`;
  return new Worker(bootstrap, { workerData, eval: true, execArgv: [], resourceLimits: LIMITS });
}
