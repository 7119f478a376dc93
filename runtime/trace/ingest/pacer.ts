/** When senders get their answers: at once, or as the store catches up, one after the other. */

/** An answer that waits for its turn, for so many events. */
interface Paced {
  readonly count: number;
  readonly resolve: () => void;
}

/** Requests of less than this part of a batch are answered at once. */
const SMALL = 0.1;
/** Work of the store that may wait without answers being held back. */
const AHEAD_MS = 15;
/** No answer is held back longer. */
const MAX_PACE_MS = 1000;

export class Pacer {
  #held: Paced[] = [];
  /** Events that the store takes in a millisecond. */
  #rate = 0;

  constructor(private readonly batchSize: number) {}

  /** Resolves when it is the turn of a request of `count` events, with `depth` events before the store. */
  pace(count: number, depth: number): Promise<void> {
    if (count < this.batchSize * SMALL || (this.#held.length === 0 && depth <= this.#ahead())) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#held = this.#held.filter((other) => other !== entry);
        resolve();
      }, MAX_PACE_MS);
      const entry: Paced = { count, resolve: () => (clearTimeout(timer), resolve()) };
      this.#held.push(entry);
    });
  }

  /** Lets as many answers go as there is room for what follows them. */
  release(depth: number): void {
    let expected = depth;
    while (this.#held.length > 0 && expected <= this.#ahead()) {
      const next = this.#held.shift();
      next?.resolve();
      expected += next?.count ?? 0;
    }
  }

  /** The store took so many events in so long. */
  measure(count: number, elapsedMs: number): void {
    const rate = count / Math.max(elapsedMs, 0.1);
    // Small batches say little of what large ones take.
    if (count * 2 >= this.batchSize) this.#rate = this.#rate === 0 ? rate : this.#rate * 0.8 + rate * 0.2;
  }

  #ahead(): number {
    return Math.max(this.batchSize, this.#rate * AHEAD_MS);
  }
}
