/** Turns the errors of stores' clients into ours, for all stores. Causes are kept for the log, never sent to callers. */
import { BackendError, type BackendErrorKind, isBackendError } from "../../abi/errors.js";
import { nativeModuleProblem } from "../../base/native-module.js";

interface CodedError extends Error {
  readonly code: string;
}

function hasCode(error: unknown): error is CodedError {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}

const SQLITE_KINDS: readonly (readonly [RegExp, BackendErrorKind, string])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, "busy", "is locked by another process; try again"],
  [/^SQLITE_NOTADB/, "internal", "is not a SQLite database"],
  [/^SQLITE_CORRUPT/, "internal", "is damaged; load it again with: toolsrv load … --replace"],
  [/^SQLITE_READONLY_ROLLBACK/, "unreachable", "was left in the middle of a write by a load that was killed; run that load again, or let the server write to the file and its folder"],
  [/^SQLITE_(CANTOPEN|PERM|AUTH|READONLY)/, "auth", "cannot be opened; check the permissions of the file and its folder"],
  [/^SQLITE_FULL/, "unreachable", "cannot be written: no space left on the device"],
  [/^SQLITE_IOERR/, "unreachable", "cannot be read"],
];

/**
 * An error of better-sqlite3 about the database that the catalog calls `name`. Callers see the message, which names
 * neither the file nor anything in it: the path may come from the environment. The cause says which file.
 */
export function sqliteError(error: unknown, name: string): unknown {
  if (isBackendError(error)) return error;
  const native = nativeModuleProblem(error, "better-sqlite3");
  if (native !== null) return new BackendError("setup", "sqlite", native, { cause: error });
  if (!hasCode(error)) return error;
  const [, kind, words] = SQLITE_KINDS.find(([code]) => code.test(error.code)) ?? [null, "internal" as const, `failed (${error.code})`];
  return aboutDatabase(kind, words, name, error);
}

/** An error whose cause names the database. */
export function aboutDatabase(kind: BackendErrorKind, words: string, name: string, cause?: unknown): BackendError {
  return new BackendError(kind, "sqlite", `the database ${words}`, { cause: new Error(`database '${name}'`, cause === undefined ? {} : { cause }) });
}

/** Whether a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return hasCode(error) && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}

/** Whether a load was killed while it wrote, and nothing has taken its transaction back. */
export function isUnfinished(error: unknown): boolean {
  return hasCode(error) && error.code === "SQLITE_READONLY_ROLLBACK";
}
