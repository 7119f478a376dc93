/** What handlers may reach; made once for a running instance. */
import type { components } from "../api.types.gen.js";
import { NO_MOMENT } from "../http/params.js";
import { parseBound } from "../time.js";
import type { IntakeClient } from "../ingest/intake-client.js";
import type { IngestQueue } from "../ingest/queue.js";
import type { Counters } from "../ingest/counters.js";
import type { ReadOptions } from "../ingest/event.js";
import type { Redactor } from "../ingest/redact.js";
import type { Exporter } from "../export/exporter.js";
import type { FeedHub } from "../feed/hub.js";
import type { Settings } from "../settings.js";
import type { TraceStore } from "../store/store.js";

export interface HandlerContext {
  readonly settings: Settings;
  readonly version: string;
  readonly store: TraceStore;
  readonly intake: IntakeClient;
  readonly queue: IngestQueue;
  readonly counters: Counters;
  readonly hub: FeedHub;
  /** `null` when nothing is sent to a collector. */
  readonly exporter: Exporter | null;
  readonly redactor: Redactor | null;
  readonly reading: ReadOptions;
  /** The OpenAPI document as JSON text. */
  readonly document: string;
  /** The page of /docs. */
  readonly docs: string;
  /** Seconds since the start. */
  readonly uptimeS: () => number;
}

/** Whether a switch of a query is on. */
export function isOn(value: string | undefined): boolean {
  return value === "1" || value === "true";
}

/** Moments of a query in microseconds, or the answer to one that does not exist, like 30 February. */
export function momentsOf(given: { readonly from?: string | undefined; readonly to?: string | undefined }): { readonly from?: number; readonly to?: number } | { readonly status: 422; readonly body: components["schemas"]["ValidationErrors"] } {
  const found: { from?: number; to?: number } = {};
  for (const name of ["from", "to"] as const) {
    const input = given[name];
    if (input === undefined) continue;
    const at = parseBound(input);
    if (at === null) return { status: 422, body: { detail: [{ type: "string_pattern_mismatch", loc: ["query", name], msg: NO_MOMENT, input }] } };
    found[name] = at;
  }
  return found;
}
