/**
 * What the cores did and what a database's connections waited for while something ran: CPU time by kind of process, and
 * for how long connections worked or waited, by samples. Linux only; the database must run on this machine.
 */
import { readFileSync, readdirSync } from "node:fs";
import type { Client } from "../../runtime/trace/store/postgres/driver.js";

/** What a connection does, in the order in which it is printed. */
export const ACTIVITIES = ["works", "waits for a lock", "waits for the disk", "waits inside the server", "waits for its client in a transaction", "is idle"] as const;
export type Activity = (typeof ACTIVITIES)[number];

export interface Cores {
  readonly seconds: number;
  /** Milliseconds on a core, by kind of thread or process. */
  readonly cpuMs: ReadonlyMap<string, number>;
  /** The same of each thread or process of a kind, the busiest first. */
  readonly threadsMs: ReadonlyMap<string, readonly number[]>;
  /** Milliseconds on a core of the kernel and of everybody else on this machine. */
  readonly othersMs: number;
  /** Milliseconds in which a core had nothing to do, all cores together. */
  readonly idleMs: number;
  /** Milliseconds of the watched connections, all together. */
  readonly activityMs: ReadonlyMap<Activity, number>;
}

export interface Observed {
  readonly client: Client;
  /** Kinds by process id; their threads are counted apart. */
  readonly processes: ReadonlyMap<number, string>;
  /** Connections with this application name are watched. */
  readonly application: string;
}

interface ActivityRow {
  readonly pid: number;
  readonly kind: string;
  readonly state: string | null;
  readonly wait: string | null;
}

/** Ticks of a thread or process: when it was first seen, and last. */
interface Clock {
  readonly kind: string;
  readonly first: number;
  last: number;
}

const TICK_MS = 10;
const INTERVAL_MS = 20;
const ACTIVITY = "SELECT pid, coalesce(nullif(application_name, ''), backend_type) AS kind, state, wait_event_type AS wait FROM pg_stat_activity WHERE pid <> pg_backend_pid()";

/** Runs `work` and samples meanwhile. */
export async function withCores<T>(observed: Observed, work: () => Promise<T>): Promise<{ readonly result: T; readonly cores: Cores }> {
  const sampler = new Sampler(observed);
  await sampler.sample();
  const before = machineTicks();
  const started = performance.now();
  const state = { ended: false };
  const sampling = (async () => {
    while (!state.ended) {
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
      await sampler.sample();
    }
  })();
  try {
    const result = await work();
    const seconds = (performance.now() - started) / 1000;
    const after = machineTicks();
    state.ended = true;
    await sampling;
    const sums = sampler.sums(seconds);
    const known = [...sums.cpuMs.values()].reduce((sum, ms) => sum + ms, 0);
    return { result, cores: { seconds, ...sums, othersMs: Math.max(0, (after.busy - before.busy) * TICK_MS - known), idleMs: (after.idle - before.idle) * TICK_MS } };
  } finally {
    state.ended = true;
  }
}

class Sampler {
  readonly #clocks = new Map<string, Clock>();
  readonly #samples = new Map<Activity, number>(ACTIVITIES.map((name) => [name, 0]));
  #rounds = -1;

  constructor(private readonly observed: Observed) {}

  async sample(): Promise<void> {
    const { client, processes, application } = this.observed;
    for (const [pid, kind] of processes) {
      for (const thread of threadsOf(pid)) this.#see(`${pid}/task/${thread}`, `${kind}, ${thread === String(pid) ? "main thread" : "other threads"}`);
    }
    for (const row of (await client.query<ActivityRow>(ACTIVITY)).rows) {
      this.#see(String(row.pid), `postgres: ${row.kind}`);
      if (row.kind === application && this.#rounds >= 0) this.#samples.set(activityOf(row), (this.#samples.get(activityOf(row)) ?? 0) + 1);
    }
    this.#rounds += 1;
  }

  sums(seconds: number): Pick<Cores, "cpuMs" | "threadsMs" | "activityMs"> {
    const cpuMs = new Map<string, number>();
    const threadsMs = new Map<string, number[]>();
    for (const { kind, first, last } of this.#clocks.values()) {
      const ms = (last - first) * TICK_MS;
      cpuMs.set(kind, (cpuMs.get(kind) ?? 0) + ms);
      threadsMs.set(kind, [...(threadsMs.get(kind) ?? []), ms].sort((a, b) => b - a));
    }
    const each = (1000 * seconds) / Math.max(1, this.#rounds);
    return { cpuMs, threadsMs, activityMs: new Map([...this.#samples].map(([name, count]) => [name, count * each])) };
  }

  #see(path: string, kind: string): void {
    const now = ticksOf(path);
    if (now === null) return;
    const clock = this.#clocks.get(path);
    // One that was not there at the first look began since.
    if (clock === undefined) this.#clocks.set(path, { kind, first: this.#rounds < 0 ? now : 0, last: now });
    else clock.last = now;
  }
}

function activityOf({ state, wait }: ActivityRow): Activity {
  if (state === "idle") return "is idle";
  if (state === "idle in transaction" || wait === "Client") return "waits for its client in a transaction";
  if (wait === null) return "works";
  if (wait === "Lock") return "waits for a lock";
  return wait === "IO" ? "waits for the disk" : "waits inside the server";
}

/** Ticks of all cores since the machine started. */
function machineTicks(): { readonly busy: number; readonly idle: number } {
  const [user = 0, nice = 0, system = 0, idle = 0, disk = 0, interrupts = 0, soft = 0, stolen = 0] = (/^cpu +(.*)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1] ?? "").split(" ").map(Number);
  return { busy: user + nice + system + interrupts + soft + stolen, idle: idle + disk };
}

/** Ticks of a process (`PID`) or a thread (`PID/task/TID`); `null` when it is gone. */
function ticksOf(path: string): number | null {
  try {
    // The name of the program, which comes second and in parentheses, may have spaces.
    const fields = /\) (.*)$/.exec(readFileSync(`/proc/${path}/stat`, "utf8").trim())?.[1]?.split(" ").map(Number) ?? [];
    return (fields[11] ?? 0) + (fields[12] ?? 0);
  } catch {
    return null;
  }
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
