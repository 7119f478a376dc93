/** What happened to events since the start, for GET /api/stats. */

/** Batches whose latency is remembered. */
const WINDOW = 1000;

export class Counters {
  processed = 0;
  dropped = 0;
  sampledOut = 0;
  throttled = 0;
  throttledRuns = 0;
  duplicates = 0;
  lastLatencyMs: number | null = null;
  readonly #latencies: number[] = [];
  #next = 0;

  batch(elapsedMs: number): void {
    this.lastLatencyMs = elapsedMs;
    this.#latencies[this.#next] = elapsedMs;
    this.#next = (this.#next + 1) % WINDOW;
  }

  /** Nearest rank over the last 1000 batches; `null` before the first. */
  p99(): number | null {
    const sorted = [...this.#latencies].sort((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? null;
  }
}
