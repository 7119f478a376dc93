/**
 * THE code table: every diagnostic of the compiler and every error of a call, in one place.
 * Numbers with the prefixes VB, VE and POL mean what they mean in existing catalogs and are never reused;
 * codes of our own start with TS. docs/reference/codes.md is generated from this table.
 */

export type Severity = "error" | "warning" | "info";

export interface CodeEntry {
  /** Severity when raised; a pair means the call site chooses. */
  readonly severity: Severity | readonly [Severity, Severity];
  /** A few words for indexes and SARIF rule names. */
  readonly title: string;
  /** One sentence with `{holes}`; what is wrong, quoting the user's text. */
  readonly message: string;
  /** What to do about it; may use the same holes. */
  readonly help?: string;
  /** HTTP status when the code ends a request outside an MCP result. */
  readonly http?: number;
  /** JSON-RPC error code when the code ends a request outside an MCP result. */
  readonly rpc?: number;
  /** The same call may succeed later. */
  readonly retryable?: boolean;
}

function defineCodes<const T extends { readonly [code: string]: CodeEntry }>(table: T): T {
  return table;
}

export const CODES = defineCodes({
  // ---- errors of a call -------------------------------------------------------------------------------------
  invalid_arguments: { severity: "error", title: "invalid arguments", message: "{detail}", rpc: -32602 },
  auth_error: { severity: "error", title: "not permitted", message: "{detail}", http: 403, rpc: -32001 },
  rate_limited: { severity: "error", title: "rate limited", message: "{detail}", http: 429, rpc: -32029, retryable: true },
  timeout: { severity: "error", title: "deadline exceeded", message: "tool '{tool}' did not finish within {seconds} s (QueryTimeout)", retryable: true },
  backend_unreachable: { severity: "error", title: "backend unreachable", message: "{detail}", retryable: true },
  embedding_error: { severity: "error", title: "embedding failed", message: "{detail}" },
  schema_drift: { severity: "error", title: "stored data does not fit the catalog", message: "{detail}" },
  expr_error: { severity: "error", title: "expression failed", message: "{detail}" },
  missing_env: {
    severity: "error", title: "missing environment value",
    message: "no value for {names}",
    help: "add the line NAME=value to the file given with --env-file, or give the reference a default: ${NAME:-value}",
  },
  tds_invalid: { severity: "error", title: "catalog is invalid", message: "{detail}" },
  internal: { severity: "error", title: "internal error", message: "internal error", rpc: -32603 },
  cancelled: { severity: "error", title: "cancelled by the client", message: "the call was cancelled" },
});

export type Code = keyof typeof CODES;

type Holes<S extends string> = S extends `${string}{${infer H}}${infer R}` ? H | Holes<R> : never;

/** The arguments that a code's message and help need; a wrong code or a missing argument does not compile. */
export type CodeArgs<C extends Code> = {
  readonly [K in Holes<(typeof CODES)[C]["message"]>]: string | number;
};

/** Fills a message's holes. Values are inserted as they are: callers pass display text, never secrets. */
export function formatMessage<C extends Code>(code: C, args: CodeArgs<C>): string {
  return fillHoles(CODES[code].message, args);
}

/** Replaces `{name}` by `args.name`; a hole without an argument stays visible. */
export function fillHoles(text: string, args: { readonly [key: string]: string | number }): string {
  return text.replace(/\{(\w+)\}/g, (hole, key: string) => (key in args ? String(args[key]) : hole));
}
