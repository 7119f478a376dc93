/** Servers under load, each in a process of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";

/** How long a server may take to end after a signal; a profile is written on the way out. */
const GRACE_MS = 3000;

export interface BenchServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Memory of a process that is in use now, in bytes, as Linux counts it. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;
}

/** Starts `bench/<file>`, or a file by its absolute path, and waits until it has written "port N" or a URL with a port on standard error. `under` is Node with its flags, and what runs it. */
export function startServer(file: string, args: readonly string[] = [], under: readonly string[] = [process.execPath]): Promise<BenchServer> {
  const path = isAbsolute(file) ? file : fileURLToPath(new URL(`../${file}`, import.meta.url));
  const [command = "", ...flags] = under;
  const child: ChildProcess = spawn(command, [...flags, ...process.execArgv, "--", path, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return new Promise((resolve, reject) => {
    let text = "";
    child.stderr?.on("data", (chunk) => {
      text += String(chunk);
      const port = /(?:port |127\.0\.0\.1:)(\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      resolve({
        port: Number(port),
        pid: child.pid ?? 0,
        async stop() {
          child.kill("SIGTERM");
          const last = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
          await ended;
          clearTimeout(last);
        },
      });
    });
    void ended.then(() => reject(new Error(`${file} ended before it listened:\n${text}`)));
  });
}
