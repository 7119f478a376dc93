/**
 * The two errors a call may end in. Anything else that is thrown is a bug and is answered -32603.
 * Guards test names, not classes: a user's process may hold two copies of this package.
 */
import { CODES, type Code, type CodeArgs, type CodeEntry, formatMessage } from "./codes.js";

/** A call that cannot be answered as asked: bad arguments, no permission, limits. Never holds secrets. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly retryable: boolean;
  constructor(
    readonly code: Code,
    message: string,
    readonly data: { readonly [key: string]: unknown } = {},
    /** `retryable`: where the failure knows better than the table of codes. */
    options: { cause?: unknown; retryable?: boolean } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.retryable = options.retryable ?? (CODES[code] as CodeEntry).retryable === true;
  }
}

/** A `ToolError` whose message is made from the code table. */
export function toolError<C extends Code>(code: C, args: CodeArgs<C>, data?: { readonly [key: string]: unknown }): ToolError {
  return new ToolError(code, formatMessage(code, args), data);
}

/**
 * What went wrong, the same for all services: unreachable: no connection, or it broke · timeout: the service gave up on
 * the request · auth: it refused the credentials or the permission · not_found: no such database or collection ·
 * bad_request: it refused the request itself · rate_limited: too many requests · busy: locked, or all connections in
 * use · internal: anything else, an answer that makes no sense included · unsupported: refused here, before anything
 * was sent · setup: this installation cannot use the service (a package or native module that does not load).
 */
export type BackendErrorKind = "unreachable" | "timeout" | "auth" | "not_found" | "bad_request" | "rate_limited" | "busy" | "internal" | "unsupported" | "setup";

const RETRYABLE: ReadonlySet<BackendErrorKind> = new Set(["unreachable", "timeout", "rate_limited", "busy"]);

/** Trouble of a store or of another service the call needs; `cause` keeps the client's own error for the log only. */
export class BackendError extends Error {
  override readonly name = "BackendError";
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  constructor(
    readonly kind: BackendErrorKind,
    readonly backend: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.retryable = RETRYABLE.has(kind);
  }
}

export function isToolError(error: unknown): error is ToolError {
  return error instanceof Error && error.name === "ToolError";
}

export function isBackendError(error: unknown): error is BackendError {
  return error instanceof Error && error.name === "BackendError";
}
