/**
 * Prometheus metrics of calls: the series of the specification and no others. Values of labels come from the catalog
 * and from tables of the code, never from a caller, so that nobody can add series or write into the text. A call adds
 * to plain numbers; prom-client reads them when somebody scrapes.
 */
import type { Metric, Registry } from "prom-client";
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

const STATUSES = ["ok", "error", "timeout", "cancelled", "refused"] as const;
export type CallStatus = (typeof STATUSES)[number];

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
  const { Registry } = await import("prom-client");
  const registry = new Registry();
  const counts = new Counts();
  register(registry, counts);
  let rendering: Promise<string> | null = null;
  return {
    contentType: registry.contentType,
    // Scrapes at the same time share one text.
    text: () => (rendering ??= registry.metrics().finally(() => (rendering = null))),
    observe(tools) {
      const known = new Map([...tools].map((tool) => [tool, counts.tool(tool)] as const));
      const unknown = counts.tool(UNKNOWN_TOOL);
      return {
        steps: {
          begin: () => undefined,
          end(_, { kind, attributes, failure }) {
            if (kind === "embed" && failure === null) counts.embedded(String(attributes["provider"]));
            else if (kind === "store" && failure !== null && failure !== "cancelled") counts.storeFailed(String(attributes["backend"]), failure);
          },
        },
        end({ tool, outcome, startedMs, endedMs }) {
          const counted = known.get(tool) ?? unknown;
          if (outcome?.kind === "ok") counted.succeeded(Math.max(0, endedMs - startedMs) / 1000);
          else counted.failed(codeOf(outcome));
        },
      };
    },
  };
}

/** What is counted for one tool. */
class ToolCounts {
  readonly calls: { [S in CallStatus]: number } = { ok: 0, error: 0, timeout: 0, cancelled: 0, refused: 0 };
  limited = 0;
  /** Seconds of all calls that succeeded, and those calls by the first bound that is not below their duration. */
  seconds = 0;
  readonly buckets: number[] = LATENCY_BUCKETS.map(() => 0);

  succeeded(seconds: number): void {
    this.calls.ok += 1;
    this.seconds += seconds;
    const at = LATENCY_BUCKETS.findIndex((bound) => seconds <= bound);
    if (at >= 0) this.buckets[at] = (this.buckets[at] ?? 0) + 1;
  }

  failed(code: string): void {
    this.calls[statusOf(code)] += 1;
    if (code === "rate_limited") this.limited += 1;
  }
}

/** All that is counted. Catalogs of one server share it, and so do reloads of one catalog. */
class Counts {
  readonly tools = new Map<string, ToolCounts>();
  readonly embeds = new Map<string, number>();
  /** Backend → code → requests. */
  readonly failures = new Map<string, Map<string, number>>();

  tool(name: string): ToolCounts {
    const before = this.tools.get(name);
    if (before !== undefined) return before;
    const made = new ToolCounts();
    this.tools.set(name, made);
    return made;
  }

  embedded(provider: string): void {
    this.embeds.set(provider, (this.embeds.get(provider) ?? 0) + 1);
  }

  storeFailed(backend: string, code: string): void {
    const codes = this.failures.get(backend) ?? new Map<string, number>();
    this.failures.set(backend, codes.set(code, (codes.get(code) ?? 0) + 1));
  }
}

/** One line of the text. `metricName` is that of the metric where it is absent. */
interface Sample {
  readonly metricName?: string;
  readonly labels: { readonly [label: string]: string | number };
  readonly value: number;
}

/** Gives the registry a metric for each name, which reads the counts at every scrape. A counter appears with its first count. */
function register(registry: Registry, { tools, embeds, failures }: Counts): void {
  const add = (name: keyof typeof METRICS, type: "counter" | "histogram", samples: () => readonly Sample[]): void => {
    const metric = { name, get: async () => ({ name, help: METRICS[name].help, type, values: samples().filter(({ value }) => type === "histogram" || value > 0) }) };
    // The registry reads `name` and `get` only; the type asks for one of the package's own classes.
    registry.registerMetric(metric as { get(): Promise<unknown> } as Metric);
  };
  add("toolsrv_tool_calls_total", "counter", () => [...tools].flatMap(([tool, { calls }]) => STATUSES.map((status) => ({ labels: { tool, status }, value: calls[status] }))));
  add("toolsrv_tool_latency_seconds", "histogram", () => [...tools].flatMap(([tool, counts]) => (counts.calls.ok === 0 ? [] : latencies(tool, counts))));
  add("toolsrv_embed_requests_total", "counter", () => [...embeds].map(([provider, value]) => ({ labels: { provider }, value })));
  add("toolsrv_adapter_errors_total", "counter", () => [...failures].flatMap(([backend, codes]) => [...codes].map(([code, value]) => ({ labels: { backend, code }, value }))));
  add("toolsrv_rate_limit_hits_total", "counter", () => [...tools].map(([tool, { limited }]) => ({ labels: { tool }, value: limited })));
}

/** Buckets add up, as the format wants them. */
function latencies(tool: string, { calls, seconds, buckets }: ToolCounts): readonly Sample[] {
  let upTo = 0;
  const metricName = "toolsrv_tool_latency_seconds_bucket";
  return [
    ...LATENCY_BUCKETS.map((le, at) => ({ metricName, labels: { le, tool }, value: (upTo += buckets[at] ?? 0) })),
    { metricName, labels: { le: "+Inf", tool }, value: calls.ok },
    { metricName: "toolsrv_tool_latency_seconds_sum", labels: { tool }, value: seconds },
    { metricName: "toolsrv_tool_latency_seconds_count", labels: { tool }, value: calls.ok },
  ];
}

function codeOf(outcome: Extract<CallOutcome, { readonly kind: "error" }> | null): string {
  return outcome === null ? "internal" : outcome.code;
}

/** The status of a call that ended with this code. */
export function statusOf(code: string): CallStatus {
  return STATUS_OF[code] ?? "error";
}
