/** How fast the trace service takes OpenTelemetry spans as an SDK sends them, and what one costs. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { atLeast, atMost, type BenchCase, median, type Row, versus } from "../lib/case.js";
import { buildJaeger, JAEGER, startJaeger } from "../lib/jaeger.js";
import { cpuUs, load, others, sdkRequest, type SdkRequest, send, SPANS, traceIdOf } from "../lib/otlp.js";
import { pause, peakBytes, startTrace, temporaryDirectory, traceStats } from "../lib/trace.js";

const ROUNDS = 3;
const REQUESTS = 600;
const WARM_UP = 60;
/** Traces sent last that are asked for at the peer: it stores in batches, about in order. */
const LAST = 10;

/** Waits until search has read everything. */
async function indexed(url: string): Promise<void> {
  for (;;) {
    const { events_indexed: done = 0, total_events: all = 0 } = await traceStats(url);
    if (done >= all) return;
    await pause(50);
  }
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => statSync(join(directory, name))).reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

export const traceOtlp: BenchCase = {
  name: "trace-otlp",
  summary: "how fast the trace service takes OpenTelemetry spans with messages, and what one costs",
  method:
    "The body of one request as the OpenTelemetry SDK's protobuf exporter sends it: a trace of 100 spans, 99 of them model calls with 1 KB of messages; sent again and again under new trace ids on two connections, with the default detectors. Until the last span is committed; each round has a new service. CPU is that of the service's process until then: full text waits while events come in, so what it takes is measured after it, as the time and the CPU until everything can be searched. Disk is what the directory holds after a stop then, the full text included. Jaeger is built from its module by Go where that can be had, with Badger on the same disk and its own batching; its spans are readable when the ten traces sent last are complete in its query API.",
  async run() {
    const request = await sdkRequest();
    const jaeger = buildJaeger();
    const ours: Round[] = [];
    const peer: PeerRound[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // Who goes first alternates.
      if (round % 2 === 1 && "file" in jaeger) peer.push(await jaegerRound(jaeger.file, request));
      ours.push(await ownRound(request));
      if (round % 2 === 0 && "file" in jaeger) peer.push(await jaegerRound(jaeger.file, request));
    }
    const of = (pick: (round: Round) => number): number[] => ours.map(pick);
    const rows: Row[] = [
      atLeast("OTLP protobuf, 1 KB of messages a span", of((each) => each.perSecond), 12_000, "spans/s", [`${(request.body.length / SPANS).toFixed(0)} bytes a span on the wire`]),
      atMost("CPU of a span", of((each) => each.cpu), 100, "µs"),
      atMost("peak memory meanwhile", of((each) => each.memoryMb), 300, "MB"),
      atMost("disk for 100,000 such spans", of((each) => each.diskMb), 150, "MB", [
        `all searchable ${median(of((each) => each.searchSeconds)).toFixed(1)} s after the last commit, for ${median(of((each) => each.searchCpu)).toFixed(0)} µs of CPU a span`,
      ]),
    ];
    const what = "OTLP protobuf, 1 KB of messages a span, until all can be read";
    if ("file" in jaeger) {
      const figures = { ours: of((each) => each.perSecond), peer: peer.map((each) => each.perSecond) };
      rows.push(versus(what, JAEGER, "spans/s", figures, { atLeast: 1 }, [`CPU of a span there: ${median(peer.map((each) => each.cpu)).toFixed(0)} µs; it keeps no full text`]));
    } else rows.push({ what, skipped: jaeger.why });
    return rows;
  },
};

interface PeerRound {
  readonly perSecond: number;
  /** Microseconds a span. */
  readonly cpu: number;
}

interface Round extends PeerRound {
  readonly memoryMb: number;
  readonly diskMb: number;
  readonly searchSeconds: number;
  readonly searchCpu: number;
}

async function ownRound(request: SdkRequest): Promise<Round> {
  const directory = await temporaryDirectory();
  const service = await startTrace(directory);
  try {
    await load(service.url, others(request, WARM_UP));
    const bodies = others(request, REQUESTS);
    const cpuBefore = cpuUs(service.pid);
    const started = performance.now();
    await load(service.url, bodies);
    const perSecond = (REQUESTS * SPANS * 1000) / (performance.now() - started);
    const loadedCpu = cpuUs(service.pid);
    const memoryMb = peakBytes(service.pid) / 1e6;
    const loadedAt = performance.now();
    await indexed(service.url);
    const searchSeconds = (performance.now() - loadedAt) / 1000;
    const searchCpu = (cpuUs(service.pid) - loadedCpu) / ((REQUESTS + WARM_UP) * SPANS);
    await service.stop(true);
    const diskMb = bytesBelow(directory) / 1e6 / (((REQUESTS + WARM_UP) * SPANS) / 100_000);
    return { perSecond, cpu: (loadedCpu - cpuBefore) / (REQUESTS * SPANS), memoryMb, diskMb, searchSeconds, searchCpu };
  } finally {
    await service.stop();
  }
}

async function jaegerRound(file: string, request: SdkRequest): Promise<PeerRound> {
  const service = await startJaeger(file);
  try {
    const warm = others(request, WARM_UP);
    await send(service.otlpUrl, warm);
    await service.readable(warm.slice(-LAST).map((body) => traceIdOf(request, body)), SPANS);
    const bodies = others(request, REQUESTS);
    const cpuBefore = cpuUs(service.pid);
    const started = performance.now();
    await send(service.otlpUrl, bodies);
    await service.readable(bodies.slice(-LAST).map((body) => traceIdOf(request, body)), SPANS);
    return { perSecond: (REQUESTS * SPANS * 1000) / (performance.now() - started), cpu: (cpuUs(service.pid) - cpuBefore) / (REQUESTS * SPANS) };
  } finally {
    await service.stop();
  }
}
