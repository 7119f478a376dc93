/** A progress bar for terminals; no output elsewhere. */
import type { TextSink } from "../cli/command.js";

export interface Progress {
  /** `done` of `total`; a total that is not known shows the count alone. */
  update(records: number, done: number, total: number | null): void;
  /** Removes the bar. */
  clear(): void;
}

const BAR_WIDTH = 24;
/** Milliseconds between two updates. */
const INTERVAL_MS = 80;
/** Milliseconds before the first one; a shorter load shows none. */
const QUIET_MS = 400;

/** @param things what is counted, in the plural */
export function createProgress(out: TextSink, label: string, now: () => number, things = "records"): Progress {
  if (!out.isTTY) return { update: () => undefined, clear: () => undefined };
  const startedMs = now();
  let shownMs = startedMs + QUIET_MS - INTERVAL_MS;
  let shown = false;
  return {
    update(records, done, total) {
      if (now() - shownMs < INTERVAL_MS) return;
      shownMs = now();
      shown = true;
      const share = total === null || total === 0 ? null : Math.min(1, done / total);
      const bar = share === null ? "" : `${"█".repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, "░")} ${String(Math.floor(share * 100)).padStart(3)} %  `;
      out.write(`\r\u001b[K${`${label} ${bar}${records.toLocaleString("en")} ${things}`.slice(0, out.columns - 1)}`);
    },
    clear() {
      if (shown) out.write("\r\u001b[K");
      shown = false;
    },
  };
}
