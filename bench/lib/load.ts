/** The load generator: wrk where it is installed, which is faster than one core of a busy server; else a small one of our own. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

/** POSTs the body to /mcp for some seconds. @throws Error when the generator itself fails. */
export function load(options: LoadOptions): Promise<LoadResult> {
  return hasWrk ? loadWithWrk(options) : loadWithSockets(options);
}

async function loadWithWrk({ port, body, headers, connections, seconds }: LoadOptions): Promise<LoadResult> {
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
  try {
    const output = await new Promise<string>((resolve, reject) => {
      const child = spawn("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", script, `http://127.0.0.1:${port}/mcp`]);
      let text = "";
      child.stdout.on("data", (chunk) => (text += String(chunk)));
      child.stderr.on("data", (chunk) => (text += String(chunk)));
      child.on("error", reject);
      child.on("close", () => resolve(text));
    });
    const found = /RESULT (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(output);
    if (found === null) throw new Error(`wrk said:\n${output}`);
    const [requests = 0, microseconds = 1, p50 = 0, p99 = 0, errors = 0] = found.slice(1).map(Number);
    return { requests, perSecond: (requests / microseconds) * 1e6, p50Ms: p50 / 1000, p99Ms: p99 / 1000, errors };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Keeps one request under way on each connection. Slower than wrk: fine for slow peers, too slow for bare handlers. */
async function loadWithSockets({ port, body, headers, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const head = Object.entries({ Host: `127.0.0.1:${port}`, "Content-Length": String(Buffer.byteLength(body)), ...headers });
  const request = Buffer.from(`POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
  const until = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  let errors = 0;

  const client = (): Promise<void> =>
    new Promise((resolve) => {
      const socket: Socket = connect(port, "127.0.0.1");
      let received = "";
      let sentAt = 0;
      const next = (): void => {
        received = "";
        sentAt = performance.now();
        socket.write(request);
      };
      socket.setNoDelay(true);
      socket.on("connect", next);
      socket.on("error", () => {
        errors += 1;
        resolve();
      });
      socket.on("close", () => resolve());
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
        const end = received.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? Number.NaN);
        const complete = Number.isNaN(length) ? received.endsWith("0\r\n\r\n") : received.length >= end + 4 + length;
        if (!complete) return;
        latencies.push(performance.now() - sentAt);
        if (!/^HTTP\/1\.1 2/.test(received)) errors += 1;
        if (performance.now() < until) next();
        else socket.end();
      });
    });
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, client));
  const elapsedS = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return { requests: latencies.length, perSecond: latencies.length / elapsedS, p50Ms: at(0.5), p99Ms: at(0.99), errors };
}
