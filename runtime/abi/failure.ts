/** A failed call as the model sees it: the same object over MCP and in the library. */
import { isBackendError, isToolError } from "./errors.js";

/** A failed call that the model can read and act on. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  readonly tool: string;
  /** Seconds until it may; only for rate limits. */
  readonly retry_after_s?: number;
}

/** What a model may know of an error; `null` for a bug: the model learns nothing of it. */
export function failureOf(error: unknown, tool: string): Failure | null {
  if (isBackendError(error)) return { code: "backend_unreachable", message: error.message, retryable: error.retryable, tool };
  if (!isToolError(error) || error.code === "internal") return null;
  const { code, message, retryable, data } = error;
  const retryAfterS = data["retry_after_s"];
  return { code, message, retryable, tool, ...(typeof retryAfterS === "number" ? { retry_after_s: retryAfterS } : {}) };
}

/** The text of a failed call. */
export function failureText(failure: Failure): string {
  return JSON.stringify({ error: failure });
}
