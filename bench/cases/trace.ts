/**
 * The trace service against its goals. There is no peer: what is measured is absolute and belongs to the machine line. The system that it follows took 241 to 284 events a second on this kind of machine.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atLeast, atMost, type BenchCase, type Comparison, median } from "../lib/case.js";

interface Running {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

interface Load {
  readonly sent: number;
  readonly refused: number;
  readonly seconds: number;
}

type Stats = { readonly [name: string]: number };

const file = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

async function startService(...flags: readonly string[]): Promise<Running> {
  const directory = await mkdtemp(join(tmpdir(), "toolsrv-bench-trace-"));
  const child: ChildProcess = spawn(process.execPath, [file("trace-service"), "--port", "0", "--data-dir", directory, "--max-runs", "1000000", ...flags], { stdio: ["ignore", "ignore", "pipe"] });
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
    async stop() {
      child.kill("SIGTERM");
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function load(url: string, events: number, share: number, connections = 2, rate = 0): Promise<Load> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file("trace-load"), url, String(events), String(share), String(connections), String(rate)], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk) => (text += String(chunk)));
    child.once("exit", (code) => (code === 0 ? resolve(JSON.parse(text) as Load) : reject(new Error(`the load ended with ${code}`))));
  });
}

async function stats(url: string): Promise<Stats> {
  return (await (await fetch(`${url}/api/stats`)).json()) as Stats;
}

/** Peak memory of the service in bytes, as Linux counts it. */
function peakBytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;
}

function percentile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * fraction) - 1)] ?? Number.NaN;
}

async function ingest(what: string, events: number, share: number, goal: number): Promise<Comparison[]> {
  const service = await startService();
  try {
    await load(service.url, 20_000, share);
    const { sent, seconds, refused } = await load(service.url, events, share);
    const { p99_write_latency_ms: p99 = Number.NaN } = await stats(service.url);
    return [
      atLeast(`sustained ingest, ${what}`, sent / seconds, goal, "/s", [`${sent.toLocaleString("en-US")} events in ${seconds.toFixed(1)} s until committed; requests refused for a full queue and sent again: ${refused}`]),
      atMost(`batch commit p99, ${what}`, p99, 25, "ms"),
    ];
  } finally {
    await service.stop();
  }
}

/** Frames of a WebSocket as text; reads until told to stop. */
function follow(url: string, path: string, onText: (text: string) => void): { close(): void; pause(): void; readonly closed: () => boolean } {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  let bytes = Buffer.alloc(0);
  let open = false;
  let ended = false;
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString("base64")}\r\n\r\n`);
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
      if (((bytes[0] ?? 0) & 15) === 1) onText(bytes.toString("utf8", head, head + length));
      if (((bytes[0] ?? 0) & 15) === 8) ended = true;
      bytes = bytes.subarray(head + length);
    }
  });
  socket.on("close", () => (ended = true));
  socket.on("error", () => (ended = true));
  return { close: () => socket.destroy(), pause: () => socket.pause(), closed: () => ended };
}

async function send(url: string, events: readonly object[]): Promise<void> {
  await fetch(`${url}/api/ingest`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(events) });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Time from the moment an event is sent to its frame, while others come in at half the goal. */
async function frameLatency(): Promise<Comparison> {
  const service = await startService();
  const latencies: number[] = [];
  const feed = follow(service.url, "/ws/trace/live", (text) => {
    const message = JSON.parse(text) as { msg_type: string; payload: { summary?: string } };
    if (message.msg_type === "event") latencies.push(performance.now() - Number(message.payload.summary));
  });
  try {
    const busy = load(service.url, 100_000, 0, 1, 20_000);
    await send(service.url, [{ run_id: "live", event_type: "chain_start", summary: String(performance.now()) }]);
    for (let count = 0; count < 200; count++) {
      await send(service.url, [{ run_id: "live", event_type: "retry", summary: String(performance.now()) }]);
      await pause(20);
    }
    await busy;
    return atMost("event sent → WebSocket frame p99, at 20,000 events/s", percentile(latencies.slice(1), 0.99), 100, "ms", [`p50 ${percentile(latencies, 0.5).toFixed(1)} ms over ${latencies.length} frames`]);
  } finally {
    feed.close();
    await service.stop();
  }
}

/** 500 clients on one run, five of which do not read. */
async function manyClients(): Promise<Comparison[]> {
  const service = await startService();
  try {
    await load(service.url, 20_000, 0);
    const alone = await load(service.url, 100_000, 0, 2, 15_000);
    await send(service.url, [{ run_id: "busy", event_type: "chain_start" }]);
    const counts = new Array<number>(495).fill(0);
    const fast = counts.map((_, index) => follow(service.url, "/ws/trace/busy", (text) => {
      if (text.startsWith('{"msg_type":"event"')) counts[index] = (counts[index] ?? 0) + 1;
    }));
    await pause(1500);
    counts.fill(0);
    const frames = 200;
    const together = load(service.url, 100_000, 0, 2, 15_000);
    for (let sent = 0; sent < frames; sent += 10) {
      await send(service.url, Array.from({ length: 10 }, () => ({ run_id: "busy", event_type: "retry", summary: "x".repeat(200) })));
      await pause(200);
    }
    const shared = await together;
    await pause(1000);
    for (const client of fast) client.close();
    const complete = counts.filter((count) => count === frames).length;
    return [
      atLeast("clients of one busy run that got every frame", complete, 495, "clients", [`${frames} frames each`]),
      atLeast("ingest with 495 clients against without", alone.seconds / shared.seconds, 0.95, "×"),
    ];
  } finally {
    await service.stop();
  }
}

const QUERIES: readonly (readonly [what: string, path: string, goalMs: number])[] = [
  ["run list", "/api/runs", 10], ["run list by status", "/api/runs?status=completed", 10], ["one run", "/api/runs/{run}", 5], ["journey, first page", "/api/runs/{run}/journey?limit=100", 20],
  ["topology, all", "/api/topology", 50], ["tools, all", "/api/tools", 20], ["stats", "/api/stats", 5], ["search, common word", "/api/search?q=words", 100], ["search, two words", "/api/search?q=question+day", 100],
];

/** A million events in ten thousand runs, asked while more come in. */
async function million(): Promise<Comparison[]> {
  const service = await startService();
  try {
    const filled = await load(service.url, 1_000_000, 0);
    let indexed = 0;
    while (indexed < 1_000_000) {
      indexed = Number(((await (await fetch(`${service.url}/api/stats?extended=1`)).json()) as Stats)["events_indexed"]);
      await pause(200);
    }
    const page = (await (await fetch(`${service.url}/api/runs?limit=1&offset=5000`)).json()) as { runs: { run_id: string }[] };
    const run = page.runs[0]?.run_id ?? "";
    const busy = load(service.url, 20_000, 0, 1, 2_000);
    const results: Comparison[] = [];
    for (const [what, path, goal] of QUERIES) {
      const times: number[] = [];
      for (let round = 0; round < 15; round++) {
        const started = performance.now();
        await (await fetch(service.url + path.replace("{run}", run))).arrayBuffer();
        times.push(performance.now() - started);
      }
      results.push(atMost(`${what}, at 1 M events while ingesting`, median(times), goal, "ms", [`p95 ${percentile(times, 0.95).toFixed(1)} ms`]));
    }
    await busy;
    return [
      ...results,
      atMost("peak memory of the service over all of that", peakBytes(service.pid) / 1e6, 250, "MB", [`filled at ${Math.round(filled.sent / filled.seconds).toLocaleString("en-US")} events/s`]),
    ];
  } finally {
    await service.stop();
  }
}

export const trace: BenchCase = {
  name: "trace",
  summary: "the trace service against its goals; requests of 500 events, 2 connections, the load in a process of its own",
  async run() {
    return [
      ...(await ingest("no payloads", 300_000, 0, 40_000)),
      ...(await ingest("20 % with 1 KB payloads", 100_000, 0.2, 8_000)),
      await frameLatency(),
      ...(await manyClients()),
      ...(await million()),
    ];
  },
};
