/** How fast the trace service takes events, and how soon they are seen meanwhile. */
import { atLeast, atMost, type BenchCase, type Comparison } from "../lib/case.js";
import { follow, loadTrace, pause, peakBytes, percentile, sendEvents, startTrace, type TraceLoad, traceStats } from "../lib/trace.js";

const ROUNDS = 3;
const WARM_UP = 20_000;
/** Between the events whose way to their frame is timed. */
const PROBE_MS = 20;

interface Round {
  readonly perSecond: number;
  readonly commitP99Ms: number;
  readonly frameP50Ms: number;
  readonly frameP99Ms: number;
  readonly dropped: number;
  readonly refused: number;
  readonly peakMb: number;
}

/** Loads a new service, while a few events of another run carry the time they were sent. */
async function round(load: TraceLoad): Promise<Round> {
  const service = await startTrace();
  const latencies: number[] = [];
  const feed = follow(service.url, "/ws/trace/probe", (bytes) => {
    const { msg_type: type, payload } = JSON.parse(bytes.toString()) as { msg_type: string; payload: { summary?: string } };
    if (type === "event") latencies.push(performance.now() - Number(payload.summary));
  });
  try {
    await loadTrace(service.url, { ...load, events: WARM_UP });
    let done = false;
    const loaded = loadTrace(service.url, load).finally(() => (done = true));
    let sent = 0;
    while (!done) {
      await sendEvents(service.url, [{ run_id: "probe", event_type: "retry", summary: String(performance.now()) }]);
      sent += 1;
      await pause(PROBE_MS);
    }
    const { seconds, refused, sent: events } = await loaded;
    while (latencies.length < sent) await pause(5);
    const { p99_write_latency_ms: commitP99Ms = Number.NaN, events_dropped: dropped = Number.NaN, events_processed: processed } = await traceStats(service.url);
    if (processed !== WARM_UP + events + sent) throw new Error(`${WARM_UP + events + sent} events were taken and ${processed} stored`);
    return { perSecond: events / seconds, commitP99Ms, dropped, refused, frameP50Ms: percentile(latencies, 0.5), frameP99Ms: percentile(latencies, 0.99), peakMb: peakBytes(service.pid) / 1e6 };
  } finally {
    feed.close();
    await service.stop();
  }
}

async function ingest(what: string, load: TraceLoad, goal: number): Promise<Comparison[]> {
  const rounds: Round[] = [];
  while (rounds.length < ROUNDS) rounds.push(await round(load));
  const of = (pick: (round: Round) => number): number[] => rounds.map(pick);
  const refused = rounds.reduce((sum, each) => sum + each.refused, 0);
  return [
    atLeast(`sustained ingest, ${what}`, of((each) => each.perSecond), goal, "/s", [`${load.events.toLocaleString("en-US")} events a round, until committed; requests refused for a full queue and sent again: ${refused}`]),
    atMost(`events dropped, ${what}`, Math.max(...of((each) => each.dropped)), 0, "events"),
    atMost(`batch commit p99, ${what}`, of((each) => each.commitP99Ms), 25, "ms"),
    atMost(`event sent → WebSocket frame p99 meanwhile, ${what}`, of((each) => each.frameP99Ms), 100, "ms", [`p50 ${of((each) => each.frameP50Ms).map((ms) => ms.toFixed(1)).join(", ")} ms`]),
    atMost(`peak memory meanwhile, ${what}`, of((each) => each.peakMb), 250, "MB"),
  ];
}

export const traceIngest: BenchCase = {
  name: "trace-ingest",
  summary: "how fast the trace service takes events over HTTP, and how soon they are seen",
  method:
    "Nested runs of 100 events, twenty of them interleaved, in requests of 500, two connections that send as fast as they are answered; each round has a new service. Meanwhile an event of another run is sent every 20 ms and timed until its frame arrives. There is no peer; the system that this one follows took 241 to 284 events a second on such a machine.",
  async run() {
    return [
      ...(await ingest("no payloads", { events: 300_000 }, 40_000)),
      ...(await ingest("20 % with 1 KB payloads", { events: 100_000, payloadShare: 0.2 }, 8_000)),
    ];
  },
};
