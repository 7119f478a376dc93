/**
 * Chroma's client takes one signal for all its requests, and making a client costs as much as a search. So a client has
 * a signal of its own, is lent to one call at a time, and is used again unless that call was aborted.
 */
import type * as Chroma from "chromadb";

/** Requests of one client: each leaves a listener at its signal until the garbage collector comes. */
const MAX_USES = 200;

/** Clients that are kept for later calls. */
const MAX_IDLE = 100;

interface Lent {
  readonly client: Chroma.ChromaClient;
  readonly controller: AbortController;
  uses: number;
}

export class Clients {
  readonly #idle: Lent[] = [];

  constructor(private readonly make: (signal: AbortSignal) => Chroma.ChromaClient) {}

  /** Work with a client that nobody else uses, whose requests end when `signal` aborts. */
  async use<T>(signal: AbortSignal, work: (client: Chroma.ChromaClient) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const lent = this.#idle.pop() ?? this.#create();
    const abort = (): void => lent.controller.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await work(lent.client);
    } finally {
      signal.removeEventListener("abort", abort);
      lent.uses += 1;
      if (!lent.controller.signal.aborted && lent.uses < MAX_USES && this.#idle.length < MAX_IDLE) this.#idle.push(lent);
    }
  }

  #create(): Lent {
    const controller = new AbortController();
    return { client: this.make(controller.signal), controller, uses: 0 };
  }
}
