/**
 * The compiler's only access to files, clock and processes. Phases never see it; commands do, and tests pass
 * another one.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, createReadStream, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { access, copyFile, link, open, readFile, readdir, readlink, realpath, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { sha256Hex } from "../runtime/abi/fingerprint.js";
import type { FileLock } from "../runtime/base/file-lock.js";
import { makeFolder } from "../runtime/base/make-folder.js";

/** Something below a folder. */
export interface Entry {
  /** Relative to the folder, separated by "/". */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
}

/** Bytes of a file that are read at a time. */
const READ_BYTES = 262_144;

export interface Host {
  /** Bytes of a file, or `null` when there is none. @throws NodeJS.ErrnoException for anything else. */
  read(path: string): Promise<Uint8Array | null>;
  /** Lines or chunks of a large file. */
  stream(path: string): NodeJS.ReadableStream;
  /** Creates parent folders. Blocks while it writes, as `digests` does. */
  write(path: string, data: string | Uint8Array, mode?: number): Promise<void>;
  /**
   * Gives a file another content in one step, through links and with its permissions: readers see the old or the new,
   * also after a power failure. With `mode` a file that does not exist is made with these permissions; without, that is an error.
   */
  replace(path: string, data: string | Uint8Array, mode?: number): Promise<void>;
  /** Locks a file, on `.FILE.lock` beside it. `null` while another process, or another caller in this one, holds the lock. */
  lock(path: string): Promise<FileLock | null>;
  /** Names in a folder, sorted; empty when there is none. */
  list(path: string): Promise<readonly string[]>;
  /** Every file below a folder, relative to it, separated by "/" and sorted; empty when there is no such folder. Blocks, as `digests` does. */
  tree(path: string): Promise<readonly string[]>;
  /**
   * Everything below a folder, sorted by path, links and folders too; empty when there is none. Links are not followed
   * and what is inside a node_modules is left out.
   */
  entries(path: string): Promise<readonly Entry[]>;
  /** SHA-256 of each file in hex, or `null` for one that cannot be read. Blocks: thousands of small files take five times as long one promise each. */
  digests(paths: readonly string[]): readonly (string | null)[];
  exists(path: string): Promise<boolean>;
  /** Whether this user may add and remove files in a folder. */
  mayChange(folder: string): Promise<boolean>;
  /** Length of a file in bytes; `null` when there is none. */
  size(path: string): Promise<number | null>;
  /** The path with every symbolic link in it followed; itself when it does not exist yet. */
  realPath(path: string): Promise<string>;
  makeFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /**
   * Makes the files of a folder appear in another one as well: the same files by hard link, copies where the file
   * system has no links. `keep` is asked with paths relative to `from`, separated by "/"; links and empty folders are kept.
   */
  adopt(from: string, to: string, keep: (path: string) => boolean): Promise<void>;
  remove(path: string): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from a monotonic clock. */
  monotonic(): number;
  /** Variables of the process; only the library merges them into a catalog, the command line never does. */
  environment(): { readonly [name: string]: string };
  /** Reports a problem that belongs to no caller, on standard error unless the program listens for warnings. */
  warn(problem: Error): void;
  /** Resolves after some milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Runs a program to its end; `code` is null when it could not be started. */
  run(program: string, args: readonly string[], options?: { stdin?: string; timeoutMs?: number; cwd?: string }): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

function missing(error: unknown): boolean {
  return isCode(error, "ENOENT", "ENOTDIR");
}

function digest(path: string): string | null {
  try {
    return sha256Hex(readFileSync(path));
  } catch {
    return null;
  }
}

async function adopt(from: string, to: string, keep: (path: string) => boolean, folder = ""): Promise<void> {
  const entries = await readdir(join(from, folder), { withFileTypes: true });
  if (entries.length === 0) makeFolder(join(to, folder));
  for (const entry of entries) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      await adopt(from, to, keep, path);
    } else if (keep(path)) {
      const [source, target] = [join(from, path), join(to, path)];
      makeFolder(dirname(target));
      if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
      else await link(source, target).catch(() => copyFile(source, target));
    }
  }
}

function filesBelow(root: string, folder = ""): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : entry.isFile() ? [path] : [];
  });
}

async function entries(root: string, folder = ""): Promise<readonly Entry[]> {
  const found = await readdir(join(root, folder), { withFileTypes: true });
  const below = await Promise.all(found.sort((a, b) => (a.name < b.name ? -1 : 1)).map(async (entry): Promise<readonly Entry[]> => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    const kind = entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "folder" : entry.isFile() ? "file" : "other";
    return [{ path, kind }, ...(kind === "folder" && entry.name !== "node_modules" ? await entries(root, path) : [])];
  }));
  return below.flat();
}

async function write(path: string, data: string | Uint8Array, mode?: number): Promise<void> {
  const file = openNew(path, mode);
  try {
    writeFileSync(file ?? path, data, mode === undefined ? {} : { mode });
  } catch (error) {
    // The first half of a file could be taken for all of it.
    if (file !== null) rmSync(path, { force: true });
    throw withPath(error, path);
  } finally {
    if (file !== null) closeSync(file);
  }
  // A signal is seen between two files.
  await setImmediate();
}

/** Makes a file, and the folders above it; null where it exists. */
function openNew(path: string, mode: number | undefined): number | null {
  try {
    return openSync(path, "wx", mode);
  } catch (error) {
    if (isCode(error, "EEXIST")) return null;
    // "/." is in folders only: where a file is in the way, making the folder says so.
    if (!missing(error) || existsSync(`${dirname(path)}/.`)) throw withPath(error, path);
  }
  makeFolder(dirname(path));
  return openNew(path, mode);
}

/** A failed write of an open file does not say which one. */
function withPath(error: unknown, path: string): unknown {
  return error instanceof Error && "code" in error && !("path" in error) ? Object.assign(error, { path }) : error;
}

async function replace(path: string, data: string | Uint8Array, modeIfNew?: number): Promise<void> {
  const found = await replaced(path, modeIfNew);
  const beside = `${found.target}.${process.pid}.new`;
  try {
    // A file of this name was left by a process that was killed, or is a trap: it is never written through.
    await rm(beside, { force: true });
    const file = await open(beside, "wx", found.mode);
    try {
      await file.writeFile(data);
      // The mask of the process may have taken bits away.
      await file.chmod(found.mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, found.target);
  } catch (error) {
    await rm(beside, { force: true });
    throw withPath(error, found.target);
  }
}

/** The file behind a path and its permissions. */
async function replaced(path: string, modeIfNew: number | undefined): Promise<{ readonly target: string; readonly mode: number }> {
  try {
    const target = await realpath(path);
    return { target, mode: (await stat(target)).mode & 0o7777 };
  } catch (error) {
    if (modeIfNew === undefined || !missing(error)) throw error;
    return { target: path, mode: modeIfNew };
  }
}

/** The real machine. */
export function nodeHost(): Host {
  return {
    read: (path) => readFile(path).catch((error: unknown) => (missing(error) ? null : Promise.reject(error))),
    stream: (path) => createReadStream(path, { highWaterMark: READ_BYTES }),
    write,
    replace,
    // Loads SQLite, which most commands do without.
    lock: async (path) => (await import("../runtime/base/file-lock.js")).lockBeside(path),
    sleep: (ms) => setTimeout(ms),
    list: async (path) => {
      try {
        return (await readdir(path)).sort();
      } catch (error) {
        if (missing(error)) return [];
        throw error;
      }
    },
    tree: async (path) => {
      try {
        return filesBelow(path).sort();
      } catch (error) {
        if (missing(error)) return [];
        throw error;
      }
    },
    entries: (path) => entries(path).catch((error: unknown) => (missing(error) ? [] : Promise.reject(error))),
    digests: (paths) => paths.map(digest),
    mayChange: (folder) => access(folder, constants.W_OK | constants.X_OK).then(() => true, () => false),
    exists: (path) => stat(path).then(() => true, () => false),
    size: (path) => stat(path).then((found) => (found.isFile() ? found.size : null), () => null),
    realPath: (path) => realpath(path).catch(() => path),
    makeFolder: async (path) => makeFolder(path),
    rename: (from, to) => rename(from, to),
    adopt: (from, to, keep) => adopt(from, to, keep),
    remove: (path) => rm(path, { recursive: true, force: true }),
    now: () => Date.now(),
    monotonic: () => performance.now(),
    environment: () => Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    warn: (problem) => process.emitWarning(problem),
    run: (program, args, options = {}) =>
      new Promise((resolve) => {
        const child = execFile(program, [...args], { timeout: options.timeoutMs ?? 0, cwd: options.cwd, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
          resolve({ code, stdout, stderr });
        });
        child.stdin?.on("error", () => undefined);
        child.stdin?.end(options.stdin ?? "");
      }),
  };
}
