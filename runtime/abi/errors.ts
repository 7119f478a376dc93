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
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.retryable = (CODES[code] as CodeEntry).retryable === true;
  }
}

/** A `ToolError` whose message is made from the code table. */
export function toolError<C extends Code>(code: C, args: CodeArgs<C>, data?: { readonly [key: string]: unknown }): ToolError {
  return new ToolError(code, formatMessage(code, args), data);
}

/** `setup`: this installation cannot use the service (a native module that does not load); trying again never helps. */
export type BackendErrorKind = "unreachable" | "unauthorized" | "not_found" | "unsupported" | "busy" | "protocol" | "setup";

/** Trouble of a store or of another service the call needs; `cause` keeps the client's own error for the log only. */
export class BackendError extends Error {
  override readonly name = "BackendError";
  constructor(
    readonly kind: BackendErrorKind,
    readonly backend: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

export function isToolError(error: unknown): error is ToolError {
  return error instanceof Error && error.name === "ToolError";
}

export function isBackendError(error: unknown): error is BackendError {
  return error instanceof Error && error.name === "BackendError";
}
