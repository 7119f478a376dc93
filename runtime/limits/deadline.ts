/**
 * The time limit of one call. Nothing is created until a step asks for the signal, so that a call which never
 * waits for I/O pays nothing; the pending timer is dropped when the call ends.
 */

/** A timer of more milliseconds fires at once: about 25 days, which no call takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a deadline belongs to. Asked only once the clock is started, so that an owner may make each part on demand. */
export interface DeadlineOptions {
  readonly timeoutMs: number;
  /** Cancellation by the client, or a lost connection. */
  readonly parent?: AbortSignal | undefined;
  /** Reason of the abort when time runs out. */
  onTimeout(): Error;
  /** Reason of the abort when `parent` aborts. */
  onCancel(): Error;
}

/** One call's deadline; `end` must be called when the call is over. */
export class Deadline {
  #controller: AbortController | null = null;
  #timer: NodeJS.Timeout | null = null;
  #listener: ((reason: Error) => void) | null = null;
  #parent: AbortSignal | undefined = undefined;
  #cancel: (() => void) | null = null;
  readonly #options: DeadlineOptions;

  constructor(options: DeadlineOptions) {
    this.#options = options;
  }

  /** Aborts on time-out or cancellation; created on first use. */
  get signal(): AbortSignal {
    return (this.#controller ?? this.#start()).signal;
  }

  /** Whether time ran out or the client went away. */
  get aborted(): boolean {
    return this.#controller?.signal.aborted === true;
  }

  /** Called once with the reason if the deadline passes or the client cancels before `end`. */
  onAbort(listener: (reason: Error) => void): void {
    this.#listener = listener;
    if (this.#controller?.signal.aborted === true) listener(this.#controller.signal.reason as Error);
  }

  /** Stops the clock; the signal stays as it is. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#listener = null;
    if (this.#parent !== undefined && this.#cancel !== null) this.#parent.removeEventListener("abort", this.#cancel);
  }

  #start(): AbortController {
    const controller = new AbortController();
    this.#controller = controller;
    const { parent, timeoutMs } = this.#options;
    if (parent?.aborted === true) {
      this.#abort(this.#options.onCancel());
      return controller;
    }
    if (parent !== undefined) {
      this.#parent = parent;
      this.#cancel = () => this.#abort(this.#options.onCancel());
      parent.addEventListener("abort", this.#cancel, { once: true });
    }
    // A timer of no time would still let a step through that is done before timers are looked at.
    if (timeoutMs <= 0) this.#abort(this.#options.onTimeout());
    else this.#timer = setTimeout(() => this.#abort(this.#options.onTimeout()), Math.min(timeoutMs, MAX_TIMER_MS));
    return controller;
  }

  #abort(reason: Error): void {
    this.#controller?.abort(reason);
    this.#listener?.(reason);
  }
}
