/**
 * Errors that the machine caused and the user can fix: a read-only folder, a full disk, a native module built for
 * another Node. Both servers and the command line print them as one line and exit 2; anything else is a bug.
 */
import { nativeModuleProblem } from "./native-module.js";

/** What happened, in one line without a full stop; `null` when the error is not the machine's. */
export function systemProblem(error: unknown): string | null {
  return fileProblem(error) ?? databaseProblem(error) ?? nativeProblem(error) ?? missingPackage(error);
}

const REASONS: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EISDIR: "it is a folder, not a file",
  ENOTDIR: "a file is in the way of the folder",
  ENOENT: "no such file or folder",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "too many symbolic links",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
  EIO: "input/output error",
  EBUSY: "another program is using it",
  ETXTBSY: "another program is using it",
  ENOTEMPTY: "the folder is not empty",
  EXDEV: "it lies on another file system",
  EPIPE: "nobody reads it",
};

const ACTIONS: { readonly [syscall: string]: string } = {
  mkdir: "cannot make the folder",
  write: "cannot write",
  rename: "cannot rename",
  scandir: "cannot list",
  unlink: "cannot remove",
  rmdir: "cannot remove",
  rm: "cannot remove",
  read: "cannot read",
  copyfile: "cannot copy",
  listen: "cannot listen on",
};

/** `cannot open 'x': permission denied`, for an error of a system call. */
function fileProblem(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  if (error.code === "ERR_FS_FILE_TOO_LARGE") return "the file is larger than 2 GiB";
  if (!("syscall" in error) || typeof error.syscall !== "string") return null;
  const path = "path" in error && typeof error.path === "string" ? ` '${error.path}'` : "";
  const [reason] = /(?<=: )[^,]+/.exec(error.message) ?? [error.message];
  return `${ACTIONS[error.syscall] ?? "cannot open"}${path}: ${reasonOf(error.code, error.syscall) ?? reason}`;
}

function reasonOf(code: string, syscall: string): string | undefined {
  if (syscall === "mkdir" && code === "EEXIST") return REASONS["ENOTDIR"];
  // The folder above exists, or it would have been made: a file system such as /proc takes no folders.
  if (syscall === "mkdir" && code === "ENOENT") return "the file system refuses it";
  return Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
}

/** A SQLite file that cannot be opened, read or written. Other errors of SQLite are wrong statements: bugs. */
function databaseProblem(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  return /^SQLITE_(CANTOPEN|PERM|AUTH|READONLY|FULL|IOERR|NOTADB|CORRUPT|BUSY|LOCKED)/.test(error.code) ? `the database cannot be used: ${error.message}` : null;
}

/** A compiled part of a package that is missing, or was built for another Node or another machine. */
function nativeProblem(error: unknown): string | null {
  const path = error instanceof Error ? /node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)[/\\](?!.*node_modules)/s.exec(error.message) : null;
  return nativeModuleProblem(error, path?.[1] ?? "better-sqlite3");
}

function missingPackage(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") return null;
  const name = /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
  return name === undefined || name.startsWith("/") ? null : `the package ${name} is not installed; run: npm install`;
}
