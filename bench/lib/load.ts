/** The load generator: wrk where it is installed, which is faster than one core of a busy server; else a small one of our own. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface LoadOptions {
  readonly port: number;
  readonly body: string;
  readonly headers: { readonly [name: string]: string };
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  /** Answered in all. */
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx, and connections that failed. */
  readonly errors: number;
}

export const hasWrk = spawnSync("wrk", ["-v"]).error === undefined;

/** A generator that runs. */
export interface RunningLoad {
  readonly pid: number;
  /** @throws Error when the generator itself fails. */
  readonly result: Promise<LoadResult>;
}

/** POSTs the body to /mcp for some seconds. @throws Error when the generator itself fails. */
export function load(options: LoadOptions): Promise<LoadResult> {
  return startLoad(options).result;
}

/** The same in a process that the caller may stop and resume meanwhile. */
export function startLoad(options: LoadOptions): RunningLoad {
  return hasWrk ? startWrk(options) : start(process.execPath, [...process.execArgv, fileURLToPath(new URL("send-sockets.js", import.meta.url)), JSON.stringify(options)]);
}

function startWrk({ port, body, headers, connections, seconds }: LoadOptions): RunningLoad {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-bench-"));
  const script = join(folder, "post.lua");
  const lua = (text: string): string => `[==[${text}]==]`;
  writeFileSync(script, [
    'wrk.method = "POST"',
    `wrk.body = ${lua(body)}`,
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[ ${lua(name)} ] = ${lua(value)}`),
    "function done(summary, latency)",
    "  local e = summary.errors",
    '  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))',
    "end",
  ].join("\n"));
  const { pid, result } = start("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", script, `http://127.0.0.1:${port}/mcp`]);
  return { pid, result: result.finally(() => rmSync(folder, { recursive: true })) };
}

/** Starts a generator, which ends with a line of figures: answers, microseconds, median and 99th percentile in microseconds, errors. */
function start(command: string, args: readonly string[]): RunningLoad {
  const child = spawn(command, args);
  const output = new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk) => (text += String(chunk)));
    child.stderr.on("data", (chunk) => (text += String(chunk)));
    child.on("error", reject);
    child.on("close", () => resolve(text));
  });
  return { pid: child.pid ?? 0, result: output.then((text) => resultIn(text)) };
}

function resultIn(text: string): LoadResult {
  const found = /RESULT (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(text);
  if (found === null) throw new Error(`the load generator said:\n${text}`);
  const [requests = 0, microseconds = 1, p50 = 0, p99 = 0, errors = 0] = found.slice(1).map(Number);
  return { requests, perSecond: (requests / microseconds) * 1e6, p50Ms: p50 / 1000, p99Ms: p99 / 1000, errors };
}
