/**
 * The only door from the compiler to files, clock and processes. Phases never see it; commands do.
 * `memoryHost` serves tests.
 */
import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

export interface Host {
  /** Bytes of a file, or `null` when there is none. @throws NodeJS.ErrnoException for anything else. */
  read(path: string): Promise<Uint8Array | null>;
  /** Lines or chunks of a large file. */
  stream(path: string): NodeJS.ReadableStream;
  /** Creates parent folders. */
  write(path: string, data: string | Uint8Array, mode?: number): Promise<void>;
  /** Names in a folder, sorted; empty when there is none. */
  list(path: string): Promise<readonly string[]>;
  exists(path: string): Promise<boolean>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from a monotonic clock. */
  monotonic(): number;
  /** Runs a program to its end; `code` is null when it could not be started. */
  run(program: string, args: readonly string[], options?: { stdin?: string; timeoutMs?: number; cwd?: string }): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function missing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** The real machine. */
export function nodeHost(): Host {
  return {
    read: (path) => readFile(path).catch((error: unknown) => (missing(error) ? null : Promise.reject(error))),
    stream: (path) => createReadStream(path),
    async write(path, data, mode) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, data, mode === undefined ? {} : { mode });
    },
    list: async (path) => {
      try {
        return (await readdir(path)).sort();
      } catch (error) {
        if (missing(error)) return [];
        throw error;
      }
    },
    exists: (path) => stat(path).then(() => true, () => false),
    rename: (from, to) => rename(from, to),
    remove: (path) => rm(path, { recursive: true, force: true }),
    now: () => Date.now(),
    monotonic: () => performance.now(),
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
