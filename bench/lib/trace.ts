/** A trace service in a process of its own, loads for it, and followers of its feeds. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface RunningTrace {
  readonly url: string;
  readonly pid: number;
  /** Stops it and removes its directory, unless that is to be kept. */
  stop(keep?: boolean): Promise<void>;
}

const entry = (name: string): string => fileURLToPath(new URL(`../cases/${name}.js`, import.meta.url));

export async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "toolsrv-bench-trace-"));
}

/** Starts a service over a directory, by default a new one. */
export async function startTrace(directory?: string, flags: readonly string[] = []): Promise<RunningTrace> {
  const data = directory ?? (await temporaryDirectory());
  const child: ChildProcess = spawn(process.execPath, [entry("trace-service"), "--port", "0", "--data-dir", data, "--max-runs", "1000000", ...flags], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stderr?.on("data", (chunk) => {
      text += String(chunk);
      const found = /http:\/\/[\d.]+:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`the service did not start: ${text}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    async stop(keep = false) {
      child.kill("SIGTERM");
      await ended;
      if (!keep) await rm(data, { recursive: true, force: true });
    },
  };
}

export interface TraceLoad {
  readonly events: number;
  /** Share of events with a payload of 1 KB. */
  readonly payloadShare?: number;
  readonly connections?: number;
  /** Events a second; as many as are taken by default. */
  readonly rate?: number;
}

export interface TraceLoaded {
  readonly sent: number;
  /** Requests that found the queue full and were sent again. */
  readonly refused: number;
  /** Until the last event was committed. */
  readonly seconds: number;
}

/** A load whose requests are written and which waits to be started. */
export interface PreparedLoad {
  readonly pid: number;
  start(): Promise<TraceLoaded>;
}

/** Starts a process that will send events. */
export async function prepareLoad(url: string, { events, payloadShare = 0, connections = 2, rate = 0 }: TraceLoad): Promise<PreparedLoad> {
  const child = spawn(process.execPath, [entry("trace-load"), url, String(events), String(payloadShare), String(connections), String(rate)], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const line = lines[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await line.next();
    if (done === true) throw new Error("the load ended before it was done");
    return value;
  };
  await next();
  return {
    pid: child.pid ?? 0,
    async start() {
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.stdin.write("go\n");
      const loaded = JSON.parse(await next()) as TraceLoaded;
      await ended;
      return loaded;
    },
  };
}

/** Sends events from a process of its own. */
export async function loadTrace(url: string, load: TraceLoad): Promise<TraceLoaded> {
  return (await prepareLoad(url, load)).start();
}

const agent = new Agent({ keepAlive: true });

/** One request on a connection that stays. @throws Error when it is not answered 2xx */
export function ask(url: string, path: string, body?: readonly object[]): Promise<Buffer> {
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, url), { agent, method: bytes === null ? "GET" : "POST", headers: bytes === null ? {} : { "content-type": "application/json", "content-length": bytes.length } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        if ((answer.statusCode ?? 0) < 300) resolve(Buffer.concat(chunks));
        else reject(new Error(`${path} answered ${answer.statusCode}: ${Buffer.concat(chunks).toString().slice(0, 200)}`));
      });
    });
    call.on("error", reject);
    call.end(bytes);
  });
}

export async function askJson<T>(url: string, path: string): Promise<T> {
  return JSON.parse((await ask(url, path)).toString()) as T;
}

export const traceStats = (url: string): Promise<{ readonly [name: string]: number }> => askJson(url, "/api/stats?extended=1");

/** Sends events and waits for the answer. */
export const sendEvents = (url: string, events: readonly object[]): Promise<Buffer> => ask(url, "/api/ingest", events);

/** Peak memory of a process in bytes, as Linux counts it. */
export function peakBytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;
}

export interface Follower {
  /** Stops reading from the socket, or goes on. */
  pause(): void;
  resume(): void;
  close(): void;
  /** The service has closed the socket. */
  readonly ended: boolean;
}

const TEXT = 1;
const CLOSE = 8;

/** A WebSocket that hands over its text frames as bytes, which are valid during the call. */
export function follow(url: string, path: string, onText: (bytes: Buffer) => void): Follower {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  let bytes = Buffer.alloc(0);
  let open = false;
  let ended = false;
  const key = randomBytes(16).toString("base64");
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`);
  socket.on("data", (chunk) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    if (!open) {
      const head = bytes.indexOf("\r\n\r\n");
      if (head < 0) return;
      open = true;
      bytes = bytes.subarray(head + 4);
    }
    for (;;) {
      if (bytes.length < 2) return;
      const short = (bytes[1] ?? 0) & 127;
      const head = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (bytes.length < head) return;
      const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
      if (bytes.length < head + length) return;
      const kind = (bytes[0] ?? 0) & 15;
      if (kind === TEXT) onText(bytes.subarray(head, head + length));
      if (kind === CLOSE) ended = true;
      bytes = bytes.subarray(head + length);
    }
  });
  socket.on("close", () => (ended = true));
  socket.on("error", () => (ended = true));
  return {
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
    get ended() {
      return ended;
    },
  };
}

/** Nearest rank. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * fraction) - 1)] ?? Number.NaN;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
