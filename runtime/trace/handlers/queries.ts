/** Sums, searches and comparisons. */
import { detail, type Handlers } from "../http/answer.js";
import type { Stats, StatsExtended } from "../model.js";
import { PRICES_AS_OF } from "../record/price-table.js";
import { priceRows, type Prices } from "../record/prices.js";
import { type HandlerContext, isOn, momentsOf } from "./context.js";

type QueryHandlers = Pick<Handlers, "getStats" | "getTopology" | "listNodeRuns" | "getTools" | "searchSteps" | "compareRuns" | "getOverview" | "getPrices" | "listSessions">;

export function queryHandlers({ settings, store, queue, counters, hub, exporter, uptimeS }: HandlerContext): QueryHandlers {
  return {
    async getStats({ extended }) {
      const { total_events, avg_run_duration_ms, events_indexed, blob_size_bytes, ...stored } = await store.read.stats(isOn(extended));
      const body: Stats = {
        ...stored,
        queue_depth: queue.depth,
        queue_max: queue.max,
        events_dropped: counters.dropped,
        events_processed: counters.processed,
        events_sampled_out: counters.sampledOut,
        runs_throttled: counters.throttledRuns,
        last_write_latency_ms: counters.lastLatencyMs,
        p99_write_latency_ms: counters.p99(),
        blob_size_bytes,
      };
      if (!isOn(extended)) return { status: 200, body };
      const wide: StatsExtended = {
        ...body, total_events, avg_run_duration_ms, events_throttled: counters.throttled, events_duplicate: counters.duplicates, events_indexed, sockets: hub.size, uptime_s: uptimeS(),
        spans_exported: exporter?.counts.spans ?? 0, spans_dropped: exporter?.counts.spansDropped ?? 0, runs_not_exported: exporter?.counts.runsDropped ?? 0,
      };
      return { status: 200, body: wide };
    },

    async getTopology({ scope = "all", from, to, extended }) {
      const moments = momentsOf({ from, to });
      if ("status" in moments) return moments;
      return { status: 200, json: await store.read.topology({ scope, ...moments }, isOn(extended)) };
    },

    async listNodeRuns({ node, caller, scope = "all", from, to, limit = 20 }) {
      const moments = momentsOf({ from, to });
      if ("status" in moments) return moments;
      return { status: 200, json: await store.read.nodeRuns({ scope, ...moments }, node, caller, limit) };
    },

    async getTools({ scope = "all", from, to }) {
      const moments = momentsOf({ from, to });
      if ("status" in moments) return moments;
      return { status: 200, json: await store.read.tools({ scope, ...moments }) };
    },

    searchSteps: async ({ q, scope = "all", limit = 50, offset = 0 }) => ({ status: 200, json: await store.read.search({ q, scope, limit, offset }) }),

    async compareRuns({ a, b }) {
      const json = await store.read.compare(a, b);
      return json === null ? { status: 404, body: detail("Run not found") } : { status: 200, json };
    },

    async getOverview({ status = "all", tag, q, session, name, model, user, tool, server, from, to, buckets = 60 }) {
      const moments = momentsOf({ from, to });
      if ("status" in moments) return moments;
      return { status: 200, json: await store.read.overview({ status: status as "all", tag, q, session, name, model, user, tool, server, ...moments }, buckets) };
    },

    getPrices: () => Promise.resolve({ status: 200, body: { as_of: PRICES_AS_OF, prices: [...priceRows(settings.model_prices as Prices)] } }),

    listSessions: async ({ limit = 50, offset = 0 }) => ({ status: 200, json: await store.read.sessions(limit, offset) }),
  };
}
