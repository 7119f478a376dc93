/**
 * Sliding windows: at most `limit` calls in any `windowMs` milliseconds. A store counts them; it knows nothing of tools
 * or callers, only keys.
 */

/** One window that a call touches. */
export interface Window {
  /** What is counted: calls with the same key share the limit. */
  readonly key: string;
  /** Counted here when the store has no room for another key, together with all others that have none. */
  readonly overflow: string;
  /** At least 1. */
  readonly limit: number;
  readonly windowMs: number;
  /** What is limited, for the message of a refusal: `calls of tool 'find' per minute`. */
  readonly what: string;
}

/** The window that keeps a call out the longest. */
export interface WindowRefusal {
  readonly window: Window;
  /** Until every window has room for the call, if nobody else takes it. */
  readonly retryAfterMs: number;
}

export interface WindowStore {
  /**
   * Counts the call in every window, or in none when one of them is full. At once where the counters are in this process.
   * @throws BackendError unreachable, when the store cannot be asked; setup, when its package is missing.
   */
  take(windows: readonly Window[]): WindowRefusal | null | Promise<WindowRefusal | null>;
  /** Loads what the store needs and starts to connect. @throws ToolError tds_invalid when its package is missing. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}
