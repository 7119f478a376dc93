/**
 * What a server does for a request, counted by valgrind's callgrind on a simulated processor: the same on a busy
 * machine as on a quiet one. Of the work for a request only what the process does itself is counted, not what the kernel
 * does for it; the main thread apart from the others. Node runs with --single-threaded, so that garbage is collected and
 * code compiled on the thread that makes it; the warm-up runs before the counting is turned on, at a tenth of the speed
 * of Node. Timers run by the clock of the machine, so what is done once in some milliseconds is done for fewer requests.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sumByFunction, type Costs } from "./callgrind-file.js";
import { startServer } from "./process.js";
import { sendFixed, type FixedRequest } from "./send-fixed.js";

const WARM_UP = 12_000;
/** With counting turned on, before what counts: the simulated caches are empty then. */
const FILL = 512;
const ROUNDS = 3;
const REQUESTS_PER_ROUND = 2048;
/** 32 KB of first-level cache for instructions and for data, 1 MB behind them, whatever this machine has. */
const CACHES = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,8,64"];
const NODE_FLAGS = ["--single-threaded", "--random-seed=1", "--hash-seed=1", "--perf-basic-prof"];

/** Of one request. */
export interface Counts {
  readonly instructions: number;
  /** Misses of the first-level caches. */
  readonly instructionMisses: number;
  readonly dataMisses: number;
  readonly mispredictedBranches: number;
}

export interface Counted {
  /** Means over the requests of a round, round by round. */
  readonly rounds: readonly Counts[];
  /** Instructions of all threads but the main one, round by round. */
  readonly besides: readonly number[];
  /** By the name of a function, its own counts without those of what it calls: means over all rounds. */
  readonly functions: ReadonlyMap<string, Counts>;
}

/** @returns why nothing can be counted on this machine, or `null`. */
export function whyNotCounted(): string | null {
  const missing = ["valgrind", "callgrind_control"].find((command) => spawnSync(command, ["--version"], { stdio: "ignore" }).error !== undefined);
  return missing === undefined ? null : `${missing} is not installed`;
}

/** Of the main thread, and `besides` of the others. Starts the server under callgrind and sends it a fixed number of requests. @throws Error when one is not answered 200. */
export async function countRequests(file: string, request: FixedRequest, args: readonly string[] = []): Promise<Counted> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-counts-"));
  const out = join(folder, "out");
  const valgrind = [
    "valgrind", "--tool=callgrind", "--instr-atstart=no", "--dump-instr=yes", "--smc-check=all-non-file", "--separate-threads=yes",
    "--cache-sim=yes", "--branch-sim=yes", ...CACHES, `--callgrind-out-file=${out}`,
  ];
  const server = await startServer(file, args, [...valgrind, process.execPath, ...NODE_FLAGS, "--no-logfile-per-isolate", `--logfile=${join(folder, "v8.log")}`]);
  // V8 chooses this place.
  const names = `/tmp/perf-${server.pid}.map`;
  try {
    const control = async (word: string, ...values: readonly string[]): Promise<void> => void (await promisify(execFile)("callgrind_control", [word, ...values, String(server.pid)]));
    await sendFixed(server.port, request, WARM_UP);
    await control("--instr", "on");
    await sendFixed(server.port, request, FILL);
    await control("--zero");
    for (let round = 0; round < ROUNDS; round++) {
      await sendFixed(server.port, request, REQUESTS_PER_ROUND);
      await control("--dump");
    }
    const compiled = readFileSync(names, "utf8");
    const files = readdirSync(folder);
    const sumsOf = (file: string): ReadonlyMap<string, Costs> => sumByFunction(readFileSync(join(folder, file), "utf8"), compiled);
    const rounds = Array.from({ length: ROUNDS }, (_, round) => sumsOf(`out.${round + 1}-01`));
    const besides = rounds.map((_, round) => files.filter((file) => file.startsWith(`out.${round + 1}-`) && !file.endsWith("-01")).flatMap((file) => [...sumsOf(file).values()]));
    return { ...countedOf(rounds), besides: besides.map((costs) => meanOf(costs, REQUESTS_PER_ROUND).instructions) };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
    rmSync(names, { force: true });
  }
}

function countedOf(rounds: readonly ReadonlyMap<string, Costs>[]): Omit<Counted, "besides"> {
  const all = new Map<string, Costs[]>();
  for (const round of rounds) for (const [name, costs] of round) all.set(name, [...(all.get(name) ?? []), costs]);
  return {
    rounds: rounds.map((round) => meanOf([...round.values()], REQUESTS_PER_ROUND)),
    functions: new Map([...all].map(([name, costs]) => [name, meanOf(costs, REQUESTS_PER_ROUND * rounds.length)])),
  };
}

function meanOf(costs: readonly Costs[], requests: number): Counts {
  const mean = (...events: readonly string[]): number => costs.reduce((sum, cost) => sum + events.reduce((all, event) => all + (cost[event] ?? 0), 0), 0) / requests;
  return { instructions: mean("Ir"), instructionMisses: mean("I1mr"), dataMisses: mean("D1mr", "D1mw"), mispredictedBranches: mean("Bcm", "Bim") };
}
