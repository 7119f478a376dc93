/** The one place that turns the errors of stores' clients into ours. Causes are kept for the log, never shown. */
import { BackendError, type BackendErrorKind, isBackendError } from "../abi/errors.js";

interface CodedError extends Error {
  readonly code: string;
}

function hasCode(error: unknown): error is CodedError {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}

const SQLITE_KINDS: readonly (readonly [RegExp, BackendErrorKind, string])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, "busy", "is locked by another process; try again"],
  [/^SQLITE_NOTADB/, "protocol", "is not a SQLite database"],
  [/^SQLITE_CORRUPT/, "protocol", "is damaged; load it again with: toolsrv load … --replace"],
  [/^SQLITE_(CANTOPEN|PERM|AUTH|READONLY)/, "unauthorized", "cannot be opened; check the permissions of the file and its folder"],
  [/^SQLITE_(IOERR|FULL)/, "unreachable", "cannot be read"],
];

/** An error of better-sqlite3 about the database that the catalog calls `name`. */
export function sqliteError(error: unknown, name: string): unknown {
  if (isBackendError(error) || !hasCode(error)) return error;
  const [, kind, words] = SQLITE_KINDS.find(([code]) => code.test(error.code)) ?? [null, "protocol" as const, `failed (${error.code})`];
  return new BackendError(kind, "sqlite", `the database '${name}' ${words}`, { cause: error });
}

/** Whether trying again in a moment may help. */
export function isBusy(error: unknown): boolean {
  return hasCode(error) && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}
