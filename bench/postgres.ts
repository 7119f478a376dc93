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
    for (const line of split(measured.map(({ cores }) => cores))) print(`${" ".repeat(25)}${line}`);
  }
  const [one, two] = ["postgres", "postgres, two services"].map((name) => percentile((rows.get(name) ?? []).map(({ perSecond }) => perSecond), 0.5));
  print(`${load.what.padEnd(24)} two services take ${((two ?? Number.NaN) / (one ?? Number.NaN)).toFixed(2)} × what one takes (medians)`);
}
const latencies = await withServices(2, postgres, crossing);
print(`event to one service → frame at the other   p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`);
await observer.end();

/** The medians of some rounds as lines: CPU time of 500 events, the rate at which all cores would be busy, and what the connections that write did. */
function split(rounds: readonly Cores[]): readonly string[] {
  const median = (value: (cores: Cores) => number): number => percentile(rounds.map(value), 0.5);
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const kinds = [...new Set(rounds.flatMap(({ cpuMs }) => [...cpuMs.keys()]))];
  const batches = EVENTS / BATCH;
  const costs = kinds.map((kind) => ({ kind, ms: median(({ cpuMs }) => cpuMs.get(kind) ?? 0) / batches })).filter(({ ms }) => ms >= 0.05).sort((a, b) => b.ms - a.ms);
  const all = median(({ cpuMs }) => [...cpuMs.values()].reduce((sum, ms) => sum + ms, 0)) / batches;
  const activity = [...(rounds[0]?.activity.keys() ?? [])].map((name) => ({ name, share: median((cores) => cores.activity.get(name) ?? 0) }));
  const lines = [
    `CPU of ${BATCH} events ${all.toFixed(1)} ms: ${costs.map(({ kind, ms }) => `${kind} ${ms.toFixed(1)}`).join(" · ")}`,
    `cores idle ${percent(median(({ idle }) => idle))}; without idle time ${Math.round((1000 * CORES * BATCH) / all).toLocaleString("en-US")} events/s; busiest thread ${rounds.map(({ busiest }) => `${busiest.kind} ${percent(busiest.share)}`)[0] ?? ""}`,
  ];
  const seen = activity.filter(({ share }) => share > 0);
  return seen.length === 0 ? lines : [...lines, `the connection that writes ${seen.map(({ name, share }) => `${name} ${percent(share)}`).join(" · ")}`];
}
