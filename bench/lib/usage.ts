/**
 * Who used the machine during a round: the server or others. The time that a request takes on a
 * core depends less on who else wants one than throughput and latency do; and a round in which others had much of the
 * machine can be distinguished from one in which the server was slow.
 */
import { readFileSync, readdirSync } from "node:fs";

/** Sums of nanoseconds. All are zero where the system does not report them: a kernel without schedstat, or no Linux. */
export interface ServerUsage {
  /** On a core, all threads of the server together. */
  readonly ranNs: number;
  /** Ready to run while others had the cores, its main thread. */
  readonly waitedNs: number;
}

export interface Usage extends ServerUsage {
  /** On cores of this machine, all processes that are neither the server nor ourselves and our load; and what the hypervisor took. */
  readonly othersNs: number;
}

/** The unit of /proc/stat and /proc/PID/stat. */
const TICK_NS = 10_000_000;
/** The parent of the kernel's own threads, which work for the server and the load too. */
const KTHREADD = 2;

/** Runs `work` and measures who used the machine meanwhile. Processes that `work` started count as ours when they have ended. */
export async function withUsage<T>(pid: number, work: () => Promise<T>): Promise<{ readonly result: T; readonly usage: Usage }> {
  const [before, elsewhere] = [serverUsage(pid), processTicks()];
  const stolen = stolenTicks();
  const result = await work();
  const after = serverUsage(pid);
  let others = stolenTicks() - stolen;
  const [known, now] = [elsewhere, processTicks()].map((ticks) => sumWithout(ticks, [pid, process.pid])) as [number, number];
  // A process that has ended since is in the sum of its parent now. Where nobody kept it, the sum is smaller than it was.
  others += Math.max(0, now - known);
  return { result, usage: { ranNs: after.ranNs - before.ranNs, waitedNs: after.waitedNs - before.waitedNs, othersNs: others * TICK_NS } };
}

/** Since the server started. */
export function serverUsage(pid: number): ServerUsage {
  const threads = namesIn(`/proc/${pid}/task`).map((thread) => schedstat(pid, thread));
  return { ranNs: threads.reduce((sum, { ran }) => sum + ran, 0), waitedNs: schedstat(pid, String(pid)).waited };
}

function schedstat(pid: number, thread: string): { readonly ran: number; readonly waited: number } {
  const [ran = 0, waited = 0] = textOf(`/proc/${pid}/task/${thread}/schedstat`).split(" ").map(Number);
  return { ran, waited };
}

/** Time of every process and of its children that have ended. */
function processTicks(): ReadonlyMap<number, number> {
  const ticks = new Map<number, number>();
  for (const name of namesIn("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    // The name of the program, which comes second and in parentheses, may have spaces.
    const fields = /\) (.*)$/.exec(textOf(`/proc/${name}/stat`).trim())?.[1]?.split(" ").map(Number) ?? [];
    if (fields[1] !== KTHREADD) ticks.set(Number(name), fields.slice(11, 15).reduce((sum, value) => sum + value, 0));
  }
  return ticks;
}

function sumWithout(ticks: ReadonlyMap<number, number>, left: readonly number[]): number {
  return [...ticks].reduce((sum, [pid, count]) => sum + (left.includes(pid) ? 0 : count), 0);
}

/** Of all cores: the eighth figure of the first line. */
function stolenTicks(): number {
  return Number(/^cpu +(?:\d+ ){7}(\d+)/.exec(textOf("/proc/stat"))?.[1] ?? 0);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
