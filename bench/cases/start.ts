/** How long the short-lived processes take, beside a Node that does nothing: the minimum for any of them. */
import { spawn } from "node:child_process";
import { repo } from "../../test/lib/repo.js";
import { inTurn, versus, type BenchCase, type Comparison } from "../lib/case.js";

const ROUNDS = 15;
const QUICKSTART = "specs/examples/quickstart/tools.yaml";

const INITIALIZE = {
  jsonrpc: "2.0", id: 1, method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

export const start: BenchCase = {
  name: "start",
  summary: "node out/server.js until initialize is answered on stdio, and toolsrv validate, against node -e 0",
  async run() {
    const idle = (): Promise<number> => untilExit(["-e", "0"]);
    return [
      await compareTimes("spawn to initialize answered on stdio", () => untilAnswer(["--", repo("out/server.js")]), idle, 2),
      await compareTimes("toolsrv validate of the quickstart", () => untilExit(["--", repo("bin/toolsrv"), "validate", repo(QUICKSTART)]), idle, 6),
    ];
  },
};

async function compareTimes(what: string, ours: () => Promise<number>, peer: () => Promise<number>, atMost: number): Promise<Comparison> {
  await ours();
  return versus(what, "node -e 0", "ms", await inTurn(ROUNDS, { ours, peer }), { atMost });
}

/** Milliseconds from the spawn to the end. */
function untilExit(args: readonly string[]): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: "ignore" });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(performance.now() - started) : reject(new Error(`${args.join(" ")} ended with ${code}`))));
  });
}

/** Milliseconds from the spawn to the first line of the answer. */
function untilAnswer(args: readonly string[]): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    let answeredMs = Number.NaN;
    let text = "";
    child.on("error", reject);
    child.stdout.on("data", (chunk) => {
      text += String(chunk);
      if (!text.includes("\n") || !Number.isNaN(answeredMs)) return;
      answeredMs = performance.now() - started;
      child.stdin.end();
    });
    child.on("close", () => (text.includes('"result"') ? resolve(answeredMs) : reject(new Error(`no answer to initialize: ${text}`))));
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  });
}
