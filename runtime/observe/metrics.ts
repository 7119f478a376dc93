/**
 * Prometheus metrics of calls: the series of the specification and no others. Values of labels come from the catalog
 * and from tables of the code, never from a caller, so that nobody can add series or write into the text.
 */
import type { CallObserver, CallOutcome } from "../abi/observer.js";

/** Upper bounds of the latency buckets in seconds, fixed for all tools. */
export const LATENCY_BUCKETS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Every metric by its name, with its labels in their order. */
export const METRICS = {
  toolsrv_tool_calls_total: { labels: ["tool", "status"], help: "Calls of tools, refused ones included. status: ok, error (a store, an embedder or this server failed), timeout, cancelled, refused (arguments, permission or a limit)." },
  toolsrv_tool_latency_seconds: { labels: ["tool"], help: "Duration of the calls that succeeded." },
  toolsrv_embed_requests_total: { labels: ["provider"], help: "Texts of calls that were embedded, those with a cached vector included." },
  toolsrv_adapter_errors_total: { labels: ["backend", "code"], help: "Requests of calls to a store that failed; code is the kind of failure." },
  toolsrv_rate_limit_hits_total: { labels: ["tool"], help: "Calls refused by a rate limit." },
} as const;

/** Label of calls of a tool that the catalog does not have. */
export const UNKNOWN_TOOL = "unknown";

export type CallStatus = "ok" | "error" | "timeout" | "cancelled" | "refused";

/** Of what is not here, this server or something behind it is the cause. */
const STATUS_OF: { readonly [code: string]: CallStatus } = {
  timeout: "timeout", cancelled: "cancelled",
  invalid_arguments: "refused", auth_error: "refused", rate_limited: "refused", VB4010: "refused",
};

export interface Metrics {
  /** Counts the calls of a program; `tools` are the names that may be labels. */
  observe(tools: Iterable<string>): CallObserver;
  /** Of the text. */
  readonly contentType: string;
  /** Every series in Prometheus' text format. */
  text(): Promise<string>;
}

/** Loads prom-client; a server without metrics does not. */
export async function createMetrics(): Promise<Metrics> {
  const { Counter, Histogram, Registry } = await import("prom-client");
  const registry = new Registry();
  const describe = <N extends keyof typeof METRICS>(name: N) => ({ name, help: METRICS[name].help, labelNames: METRICS[name].labels, registers: [registry] });
  const calls = new Counter(describe("toolsrv_tool_calls_total"));
  const latency = new Histogram({ ...describe("toolsrv_tool_latency_seconds"), buckets: [...LATENCY_BUCKETS] });
  const embeds = new Counter(describe("toolsrv_embed_requests_total"));
  const failures = new Counter(describe("toolsrv_adapter_errors_total"));
  const hits = new Counter(describe("toolsrv_rate_limit_hits_total"));

  /** What is counted for one tool; labels are bound when they are first used. */
  const seriesOf = (tool: string) => {
    const statuses = new Map<CallStatus, { inc(): void }>();
    const ok = bound(() => calls.labels(tool, "ok"));
    const timed = bound(() => latency.labels(tool));
    return {
      succeeded(ms: number): void {
        ok().inc();
        timed().observe(ms / 1000);
      },
      failed(code: string): void {
        const status = statusOf(code);
        let counter = statuses.get(status);
        if (counter === undefined) statuses.set(status, (counter = calls.labels(tool, status)));
        counter.inc();
        if (code === "rate_limited") hits.inc({ tool });
      },
    };
  };

  let rendering: Promise<string> | null = null;
  return {
    contentType: registry.contentType,
    // Scrapes at the same time share one text.
    text: () => (rendering ??= registry.metrics().finally(() => (rendering = null))),
    observe(tools) {
      const known = new Map([...tools].map((tool) => [tool, seriesOf(tool)] as const));
      const unknown = seriesOf(UNKNOWN_TOOL);
      return {
        steps: {
          begin: () => undefined,
          end(_, { kind, attributes, failure }) {
            if (kind === "embed" && failure === null) embeds.inc({ provider: String(attributes["provider"]) });
            else if (kind === "store" && failure !== null && failure !== "cancelled") failures.inc({ backend: String(attributes["backend"]), code: failure });
          },
        },
        end({ tool, outcome, startedMs, endedMs }) {
          const series = known.get(tool) ?? unknown;
          if (outcome?.kind === "ok") series.succeeded(Math.max(0, endedMs - startedMs));
          else series.failed(codeOf(outcome));
        },
      };
    },
  };
}

function codeOf(outcome: Extract<CallOutcome, { readonly kind: "error" }> | null): string {
  return outcome === null ? "internal" : outcome.code;
}

/** The status of a call that ended with this code. */
export function statusOf(code: string): CallStatus {
  return STATUS_OF[code] ?? "error";
}

function bound<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => (made ??= make());
}
