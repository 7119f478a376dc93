/** A load at a constant rate, by the program in open-loop.c, which is compiled once where there is a C compiler. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { repo } from "../../test/lib/repo.js";

const SOURCE = repo("bench/lib/open-loop.c");
const PROGRAM = repo(".cache/bench/open-loop");

export interface OpenLoopOptions {
  readonly port: number;
  readonly body: string;
  readonly headers: { readonly [name: string]: string };
  readonly connections: number;
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
}

export interface OpenLoopResult {
  /** Answers a second over the whole run, until the last one. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** Requests that got no answer. */
  readonly unanswered: number;
  /** What of a request's latency may be the generator's own, in the 99th percentile: sent late, or read late. */
  readonly ownP99Ms: number;
}

/** Compiles the generator. @returns why that was not possible, or `null`. */
export function prepareOpenLoop(): string | null {
  const built = statSync(PROGRAM, { throwIfNoEntry: false });
  if (built !== undefined && built.mtimeMs >= statSync(SOURCE).mtimeMs) return null;
  mkdirSync(dirname(PROGRAM), { recursive: true });
  const { status, error, stderr } = spawnSync("cc", ["-O2", "-o", PROGRAM, SOURCE], { encoding: "utf8" });
  if (error !== undefined) return "there is no C compiler for the generator";
  return status === 0 ? null : `the generator does not compile: ${stderr.split("\n")[0] ?? ""}`;
}

/** POSTs the body to /mcp at the rate. @throws Error when an answer is not 200, or the generator fails. */
export function loadAtRate({ port, body, headers, connections, rate, seconds }: OpenLoopOptions): Promise<OpenLoopResult> {
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, "Content-Length": String(Buffer.byteLength(body)), ...headers });
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, [port, rate, seconds, connections].map(String), { stdio: "pipe" });
    let output = "";
    let problem = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    child.stderr.on("data", (chunk) => (problem += String(chunk)));
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(JSON.parse(output) as OpenLoopResult) : reject(new Error(problem))));
    child.stdin.end(`POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
  });
}
