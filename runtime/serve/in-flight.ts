/** Counts what is running, and waits until nothing is. */
export class InFlight {
  running = 0;
  private waiting: (() => void)[] = [];

  begin(): void {
    this.running += 1;
  }

  end(): void {
    this.running -= 1;
    if (this.running > 0 || this.waiting.length === 0) return;
    const waiting = this.waiting;
    this.waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves true when nothing is running, false when `timeoutMs` passes first. */
  wait(timeoutMs: number): Promise<boolean> {
    if (this.running === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = timeoutMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => resolve(false), timeoutMs);
      this.waiting.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }
}
