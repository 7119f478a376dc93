/** Errors of PostgreSQL and its client as ours. Messages have codes alone: hosts, names and values stay in the cause. */
import { BackendError, type BackendErrorKind, isBackendError } from "../../abi/errors.js";

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html), the first that fits. */
const STATES: readonly (readonly [RegExp, BackendErrorKind, string])[] = [
  [/^57014$/, "timeout", "cancelled the query: it took too long"],
  [/^(28...|42501)$/, "auth", "refuses the credentials or the permission to read"],
  [/^(3D000|3F000|42P01)$/, "not_found", "has no such database, schema or table"],
  [/^(53300|53400)$/, "rate_limited", "has no free connection"],
  [/^(08...|57P0.|25P0[34])$/, "unreachable", "closed the connection"],
  [/^(22...|42...|0A000|54...)$/, "bad_request", "refuses the query"],
];

const LOST = /^(connection terminated|client was closed|client has encountered|this socket|the server does not support ssl)/i;

/** @returns the error itself where it is ours already */
export function pgError(error: unknown): unknown {
  if (isBackendError(error) || !(error instanceof Error)) return error;
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = first instanceof Error && "code" in first && typeof first.code === "string" ? first.code : "";
  if (/^E[A-Z_]+$/.test(code)) return about("unreachable", `does not answer (${code})`, error);
  const state = STATES.find(([pattern]) => pattern.test(code));
  if (state !== undefined) return about(state[1], `${state[2]} (${code})`, error);
  if (/timeout exceeded when trying to connect/.test(error.message)) return about("busy", "has all connections of this server in use", error);
  if (/timeout/i.test(error.message) && LOST.test(error.message)) return about("timeout", "does not accept a connection in time", error);
  if (LOST.test(error.message)) return about("unreachable", "closed the connection", error);
  if (/^query read timeout/i.test(error.message)) return about("timeout", "does not answer in time", error);
  if (code === "" && /^(SASL|SCRAM)/i.test(error.message)) return about("auth", "refuses the credentials", error);
  return about("internal", code === "" ? "failed" : `failed (${code})`, error);
}

function about(kind: BackendErrorKind, words: string, cause: unknown): BackendError {
  return new BackendError(kind, "pgvector", `the database ${words}`, { cause });
}

/** Whether a prepared statement has outlived a change of its table. */
export function isStale(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "0A000" || error.code === "26000");
}

/** Whether a table has other columns than were read. */
export function isChanged(error: unknown): boolean {
  const cause = isBackendError(error) ? error.cause : error;
  return cause instanceof Error && "code" in cause && (cause.code === "42703" || cause.code === "42P01" || cause.code === "42883");
}
