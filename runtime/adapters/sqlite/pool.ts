/** Things that one caller uses at a time, opened when they are first needed: connections and threads. */

/** What a pool lends. */
export interface Pooled {
  /** False when it cannot be used again; the pool then opens another one. */
  readonly isUsable: boolean;
  close(): void;
}

export class Pool<T extends Pooled> {
  readonly #size: number;
  readonly #open: () => Promise<T>;
  readonly #idle: T[] = [];
  readonly #waiting: (() => void)[] = [];
  #lent = 0;
  #closed = false;

  /** @param size how many may be lent at the same time */
  constructor(size: number, open: () => Promise<T>) {
    this.#size = size;
    this.#open = open;
  }

  /** Lends one to `work`; waits, until `signal` aborts, while all are in use. */
  async use<R>(signal: AbortSignal, work: (one: T) => Promise<R>): Promise<R> {
    while (this.#lent >= this.#size) await this.#turn(signal);
    this.#lent++;
    try {
      const one = this.#takeIdle() ?? (await this.#open());
      try {
        signal.throwIfAborted();
        return await work(one);
      } finally {
        if (this.#closed || !one.isUsable) one.close();
        else this.#idle.push(one);
      }
    } finally {
      this.#lent--;
      this.#waiting.shift()?.();
    }
  }

  /** Closes what is idle now, and what is in use when it is returned. */
  close(): void {
    this.#closed = true;
    for (const one of this.#idle.splice(0)) one.close();
  }

  #takeIdle(): T | undefined {
    for (let one = this.#idle.pop(); one !== undefined; one = this.#idle.pop()) {
      if (one.isUsable) return one;
      one.close();
    }
    return undefined;
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        const index = this.#waiting.indexOf(go);
        if (index >= 0) this.#waiting.splice(index, 1);
        reject(signal.reason as Error);
      };
      const go = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(go);
    });
  }
}
