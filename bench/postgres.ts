/**
 * How fast the trace service takes events over HTTP into PostgreSQL, beside the embedded store in the same run: one
 * service, then two that share a database and a run that is followed at both. `make bench-postgres` gives the server.
 */
import { randomUUID } from "node:crypto";
import { machineLine } from "./lib/machine.js";
import { follow, loadTrace, percentile, type RunningTrace, startTrace, traceStats } from "./lib/trace.js";

const ROUNDS = 3;
const WARM_UP = 10_000;
const EVENTS = 40_000;

interface Load {
  readonly what: string;
  readonly payloadShare: number;
}

const LOADS: readonly Load[] = [{ what: "no payloads", payloadShare: 0 }, { what: "20 % with 1 KB payloads", payloadShare: 0.2 }];

/** Events a second over all services, until the last one is committed. */
async function rate(services: readonly RunningTrace[], { payloadShare }: Load): Promise<{ readonly perSecond: number; readonly commitP99Ms: number }> {
  await Promise.all(services.map(({ url }) => loadTrace(url, { events: WARM_UP / services.length, payloadShare })));
  const started = performance.now();
  const loaded = await Promise.all(services.map(({ url }) => loadTrace(url, { events: EVENTS / services.length, payloadShare })));
  const seconds = services.length === 1 ? (loaded[0]?.seconds ?? Number.NaN) : (performance.now() - started) / 1000;
  const stats = await Promise.all(services.map(({ url }) => traceStats(url)));
  const stored = stats.reduce((sum, each) => sum + (each["events_processed"] ?? 0), 0);
  if (stored !== WARM_UP + EVENTS) throw new Error(`${WARM_UP + EVENTS} events were taken and ${stored} stored`);
  return { perSecond: EVENTS / seconds, commitP99Ms: Math.max(...stats.map((each) => each["p99_write_latency_ms"] ?? Number.NaN)) };
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
// The address is a variable, which the embedded store must not see.
const embedded = <T>(work: (services: readonly RunningTrace[]) => Promise<T>): Promise<T> => {
  delete process.env["TRACE_SERVICE_STORE_URL"];
  return withServices(1, () => [], work).finally(() => (process.env["TRACE_SERVICE_STORE_URL"] = url));
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(`# ${machineLine()}`);
for (const load of LOADS) {
  const rows = new Map<string, { readonly perSecond: number; readonly commitP99Ms: number }[]>([["embedded", []], ["postgres", []], ["postgres, two services", []]]);
  for (let round = 0; round < ROUNDS; round++) {
    rows.get("embedded")?.push(await embedded((services) => rate(services, load)));
    rows.get("postgres")?.push(await withServices(1, postgres, (services) => rate(services, load)));
    rows.get("postgres, two services")?.push(await withServices(2, postgres, (services) => rate(services, load)));
  }
  for (const [name, measured] of rows) {
    print(`${load.what.padEnd(24)} ${name.padEnd(23)} ${measured.map(({ perSecond }) => Math.round(perSecond).toLocaleString("en-US").padStart(7)).join(" ")} events/s   batch p99 ${measured.map(({ commitP99Ms }) => commitP99Ms.toFixed(1)).join(", ")} ms`);
  }
}
const latencies = await withServices(2, postgres, crossing);
print(`event to one service → frame at the other   p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`);
