/** The HTTP sink: POSTs lines of JSON. Follows no redirect, reads no answer, and asks again where that can help. */
import type { AuditEvent } from "./event.js";
import { shownUrl, withoutUserInfo } from "./settings.js";
import { linesOf, type AuditSink } from "./sink.js";

const REQUEST_MS = 5000;
/** The same records would be refused again. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422]);

export interface HttpSinkOptions {
  readonly url: URL;
  readonly timeoutMs?: number;
}

export function httpSink({ url, timeoutMs = REQUEST_MS }: HttpSinkOptions): AuditSink {
  const { url: address, headers } = withoutUserInfo(url);
  return {
    name: `http ${shownUrl(url)}`,
    prepare: () => Promise.resolve(),
    async deliver(events: readonly AuditEvent[]): Promise<number> {
      const answer = await fetch(address, {
        method: "POST", redirect: "manual", body: linesOf(events), signal: AbortSignal.timeout(timeoutMs),
        headers: { ...headers, "content-type": "application/x-ndjson" },
      });
      // What it says is of no use, and may be endless.
      await answer.body?.cancel().catch(() => undefined);
      if (answer.ok) return 0;
      if (REFUSALS.has(answer.status)) return events.length;
      throw new Error(`the sink answered ${answer.status}`);
    },
    close: () => Promise.resolve(),
  };
}
