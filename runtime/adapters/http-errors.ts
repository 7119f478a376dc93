/** Failures of stores that are asked over HTTP, as ours. Messages have statuses and codes alone; the rest is in the cause. */
import { BackendError, type BackendErrorKind, isBackendError } from "../abi/errors.js";
import type { BackendName } from "../abi/plan.js";

const STATUSES: readonly (readonly [(status: number) => boolean, BackendErrorKind, string])[] = [
  [(status) => status === 401 || status === 403, "auth", "refuses the credentials"],
  [(status) => status === 404, "not_found", "has no such collection"],
  [(status) => status === 408 || status === 504, "timeout", "gave up on the request"],
  [(status) => status === 429, "rate_limited", "gets too many requests"],
  [(status) => status === 502 || status === 503, "unreachable", "cannot answer now"],
  [(status) => status >= 400 && status < 500, "bad_request", "refuses the request"],
];

/** An answer with a status that is no success. */
export function statusError(backend: BackendName, status: number, cause: unknown): BackendError {
  const [, kind, words] = STATUSES.find(([test]) => test(status)) ?? [null, "internal" as const, "failed"];
  return new BackendError(kind, backend, `the store ${words} (HTTP ${status})`, { cause });
}

/**
 * A failure of `fetch` or of reading its answer. Node hides the reason in the cause, and that of several addresses in a
 * list; clients wrap it once more.
 */
export function fetchError(backend: BackendName, error: unknown): unknown {
  if (isBackendError(error) || !(error instanceof Error)) return error;
  const code = codeOf(error, 5);
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return new BackendError("timeout", backend, "the store does not accept a connection in time", { cause: error });
  if (/^(UND_ERR_SOCKET|E[A-Z_]+)$/.test(code) && !code.startsWith("ERR_")) return new BackendError("unreachable", backend, `the store does not answer (${code})`, { cause: error });
  return new BackendError("internal", backend, "the store answers what is no answer", { cause: error });
}

/** The first code among an error and its causes; "" where there is none. */
function codeOf(error: unknown, depth: number): string {
  if (!(error instanceof Error) || depth === 0) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof AggregateError) for (const one of error.errors) { const code = codeOf(one, depth - 1); if (code !== "") return code; }
  return codeOf(error.cause, depth - 1);
}
