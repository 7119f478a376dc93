/**
 * How fast the trace service takes events over HTTP into PostgreSQL, beside the embedded store in the same run: one
 * service, then two that share a database and a run that is followed at both; and what the cores, the connections that
 * write and the lock did meanwhile. `make bench-postgres` gives the server.
 */
import { randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { loadDriver } from "../runtime/trace/store/postgres/driver.js";
import { type Cores, withCores } from "./lib/cores.js";
import { machineLine } from "./lib/machine.js";
import { follow, loadTrace, percentile, prepareLoad, type RunningTrace, startTrace, traceStats } from "./lib/trace.js";

const ROUNDS = 3;
const WARM_UP = 10_000;
const EVENTS = 40_000;
/** CPU time is printed for so many events. */
const BATCH = 500;
const CORES = cpus().length;
/** Share of the cores that others may use while rates and waits are those of the program. */
const MAX_OTHERS = 0.1;
/** What a connection that holds the lock may do: a transaction locks the head first. */
const HOLDING = ["works", "waits for the disk", "waits inside the server", "waits for its client in a transaction"] as const;

interface Load {
  readonly what: string;
  readonly payloadShare: number;
}

const LOADS: readonly Load[] = [{ what: "no payloads", payloadShare: 0 }, { what: "20 % with 1 KB payloads", payloadShare: 0.2 }];

interface Measured {
  readonly perSecond: number;
  readonly commitP99Ms: number;
  readonly cores: Cores;
}

/** Events a second over all services, until the last one is committed. Loads write their requests first and start together. */
async function rate(services: readonly RunningTrace[], { payloadShare }: Load): Promise<Measured> {
  await Promise.all(services.map(({ url }) => loadTrace(url, { events: WARM_UP / services.length, payloadShare })));
  const loads = await Promise.all(services.map(({ url }) => prepareLoad(url, { events: EVENTS / services.length, payloadShare })));
  const processes = new Map([...services.map(({ pid }) => [pid, "service"] as const), ...loads.map(({ pid }) => [pid, "load"] as const)]);
  const { result: loaded, cores } = await withCores({ client: observer, processes, application: "toolsrv trace writer" }, () => Promise.all(loads.map((load) => load.start())));
  const stats = await Promise.all(services.map(({ url }) => traceStats(url)));
  const stored = stats.reduce((sum, each) => sum + (each["events_processed"] ?? 0), 0);
  if (stored !== WARM_UP + EVENTS) throw new Error(`${WARM_UP + EVENTS} events were taken and ${stored} stored`);
  return { perSecond: EVENTS / Math.max(...loaded.map(({ seconds }) => seconds)), commitP99Ms: Math.max(...stats.map((each) => each["p99_write_latency_ms"] ?? Number.NaN)), cores };
}

async function withServices<T>(count: number, flags: () => readonly string[], work: (services: readonly RunningTrace[]) => Promise<T>): Promise<T> {
  const shared = flags();
  const services: RunningTrace[] = [];
  try {
    while (services.length < count) services.push(await startTrace(undefined, shared));
    return await work(services);
  } finally {
    for (const service of services) await service.stop();
  }
}

/** Milliseconds from sending an event to one service until the follower of the other has its frame. */
async function crossing(services: readonly RunningTrace[]): Promise<readonly number[]> {
  const [a, b] = services;
  if (a === undefined || b === undefined) throw new Error("two services are needed");
  const latencies: number[] = [];
  let caughtUp = false;
  let told: () => void = () => undefined;
  const feed = follow(b.url, "/ws/trace/probe", (bytes) => {
    const { msg_type: type, payload } = JSON.parse(bytes.toString()) as { msg_type: string; payload: { summary?: string } };
    if (type === "catchup") caughtUp = true;
    if (type === "event") latencies.push(performance.now() - Number(payload.summary));
    told();
  });
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await new Promise<void>((resolve) => (told = resolve));
  };
  await until(() => caughtUp);
  for (let sent = 1; sent <= 200; sent++) {
    await fetch(`${a.url}/api/ingest`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify([{ run_id: "probe", event_type: "retry", summary: String(performance.now()) }]) });
    await until(() => latencies.length >= sent);
  }
  feed.close();
  return latencies;
}

const url = process.env["TOOLSRV_TEST_POSTGRES"];
if (url === undefined) throw new Error("TOOLSRV_TEST_POSTGRES must name a database; make bench-postgres starts one");
process.env["TRACE_SERVICE_STORE_URL"] = url;
const postgres = (): readonly string[] => ["--store", "postgres", "--store-schema", `b_${randomUUID().replaceAll("-", "").slice(0, 16)}`];
const observer = await (await loadDriver({ url, schema: "public" })).connect("toolsrv bench");
// The address is a variable, which the embedded store must not see.
const embedded = <T>(work: (services: readonly RunningTrace[]) => Promise<T>): Promise<T> => {
  delete process.env["TRACE_SERVICE_STORE_URL"];
  return withServices(1, () => [], work).finally(() => (process.env["TRACE_SERVICE_STORE_URL"] = url));
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(`# ${machineLine()}`);
for (const load of LOADS) {
  const rows = new Map<string, Measured[]>([["embedded", []], ["postgres", []], ["postgres, two services", []]]);
  for (let round = 0; round < ROUNDS; round++) {
    rows.get("embedded")?.push(await embedded((services) => rate(services, load)));
    rows.get("postgres")?.push(await withServices(1, postgres, (services) => rate(services, load)));
    rows.get("postgres, two services")?.push(await withServices(2, postgres, (services) => rate(services, load)));
  }
  for (const [name, measured] of rows) {
    print(`${load.what.padEnd(24)} ${name.padEnd(23)} ${measured.map(({ perSecond }) => Math.round(perSecond).toLocaleString("en-US").padStart(7)).join(" ")} events/s   batch p99 ${measured.map(({ commitP99Ms }) => commitP99Ms.toFixed(1)).join(", ")} ms`);
    for (const line of split(measured.map(({ cores }) => cores), name === "postgres, two services" ? 2 : 1)) print(`${" ".repeat(25)}${line}`);
  }
  const [one, two] = ["postgres", "postgres, two services"].map((name) => percentile((rows.get(name) ?? []).map(({ perSecond }) => perSecond), 0.5));
  print(`${load.what.padEnd(24)} two services take ${((two ?? Number.NaN) / (one ?? Number.NaN)).toFixed(2)} × what one takes (medians)`);
}
const latencies = await withServices(2, postgres, crossing);
print(`event to one service → frame at the other   p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`);
await observer.end();

/** Medians of some rounds as lines: CPU time of 500 events, what the cores did, and how long the lock was held. */
function split(rounds: readonly Cores[], services: number): readonly string[] {
  const median = (value: (cores: Cores) => number): number => percentile(rounds.map(value), 0.5);
  const batches = EVENTS / BATCH;
  const kinds = [...new Set(rounds.flatMap(({ cpuMs }) => [...cpuMs.keys()]))];
  const costs = kinds.map((kind) => ({ kind, ms: median(({ cpuMs }) => cpuMs.get(kind) ?? 0) / batches })).filter(({ ms }) => ms >= 0.05).sort((a, b) => b.ms - a.ms);
  const all = median(({ cpuMs }) => sum(cpuMs.values())) / batches;
  const threads = Array.from({ length: 4 * services }, (_, index) => (median(({ threadsMs }) => threadsMs.get("service, other threads")?.[index] ?? 0) / batches).toFixed(1));
  const cores = (value: (cores: Cores) => number): string => median((each) => value(each) / each.seconds / 1000).toFixed(2);
  const lines = [
    `CPU of ${BATCH} events ${all.toFixed(1)} ms, so ${CORES} cores take at most ${rounded((1000 * CORES * BATCH) / all)} events/s: ${costs.map(({ kind, ms }) => `${kind} ${ms.toFixed(1)}`).join(" · ")}`,
    `the busiest threads of ${services === 1 ? "the service" : "the services"}, beside main threads, take ${threads.join(", ")} ms of that`,
    `of ${CORES} cores this used ${cores(({ cpuMs }) => sum(cpuMs.values()))}, everything else on the machine ${cores(({ othersMs }) => othersMs)}, nobody ${cores(({ idleMs }) => idleMs)}`,
  ];
  const held = median(({ activityMs }) => sum(HOLDING.map((name) => activityMs.get(name) ?? 0))) / batches;
  const busy = median(({ othersMs, seconds }) => othersMs / seconds / 1000 / CORES) > MAX_OTHERS;
  if (busy) lines.push("others kept the cores busy: of this, only CPU times say something of the program");
  if (held === 0) return lines;
  const waited = median(({ activityMs, seconds }) => (activityMs.get("waits for a lock") ?? 0) / seconds / 1000 / services);
  const parts = HOLDING.map((name) => `${name} ${(median(({ activityMs }) => activityMs.get(name) ?? 0) / batches).toFixed(1)}`).join(" · ");
  return [...lines, `the lock is held ${held.toFixed(1)} ms for ${BATCH} events${busy ? " " : `, so any number of services takes at most ${rounded((1000 * BATCH) / held)} events/s `}(the writer ${parts}); a service waits for it ${Math.round(100 * waited)} % of the time`];
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}

function rounded(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
