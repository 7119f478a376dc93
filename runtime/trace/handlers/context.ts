/** What handlers may reach; made once for a running instance. */
import type { IngestQueue } from "../ingest/queue.js";
import type { Counters } from "../ingest/counters.js";
import type { ReadOptions } from "../ingest/event.js";
import type { Redactor } from "../ingest/redact.js";
import type { FeedHub } from "../feed/hub.js";
import type { Settings } from "../settings.js";
import type { TraceStore } from "../store/store.js";
import type { Incoming } from "../model.js";

export interface HandlerContext {
  readonly settings: Settings;
  readonly version: string;
  readonly store: TraceStore;
  readonly queue: IngestQueue;
  readonly counters: Counters;
  readonly hub: FeedHub;
  readonly redactor: Redactor | null;
  readonly reading: ReadOptions;
  /** The OpenAPI document as JSON text. */
  readonly document: string;
  /** The page of /docs. */
  readonly docs: string;
  /** Seconds since the start. */
  readonly uptimeS: () => number;
  /** Called with every event that was read, before it is queued. */
  readonly onEvent?: (event: Incoming) => void;
}

/** Whether a switch of a query is on. */
export function isOn(value: string | undefined): boolean {
  return value === "1" || value === "true";
}
