/** How fast the trace service takes OpenTelemetry spans as an SDK sends them, and what one costs. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, Agent, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { atLeast, atMost, type BenchCase, median } from "../lib/case.js";
import { pause, peakBytes, startTrace, temporaryDirectory, traceStats } from "../lib/trace.js";

const ROUNDS = 3;
const SPANS = 100;
const REQUESTS = 600;
const WARM_UP = 60;
const CONNECTIONS = 2;
const WORDS = "the model was asked what the weather in Paris would be tomorrow and looked for a forecast of the city before it gave an answer".split(" ");
/** Of a clock tick of /proc. */
const TICK_US = 10_000;

function words(length: number): string {
  let text = "";
  while (text.length < length) text += `${WORDS[Math.floor(Math.random() * WORDS.length)] ?? ""} `;
  return text.slice(0, length);
}

/** The body that the SDK's own exporter sends for one trace: an agent and its model calls with 1 KB of messages each. */
async function sdkRequest(): Promise<{ readonly body: Buffer; readonly traceId: Buffer }> {
  const bodies: Buffer[] = [];
  const collector = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      bodies.push(Buffer.concat(chunks));
      outgoing.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => void collector.listen(0, "127.0.0.1", resolve));
  const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces` });
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter, { maxExportBatchSize: SPANS, scheduledDelayMillis: 60_000 })] });
  const sdk = provider.getTracer("bench");
  const root = sdk.startSpan("invoke_agent helper", { attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper" } }, ROOT_CONTEXT);
  const inside = trace.setSpan(context.active(), root);
  for (let index = 1; index < SPANS; index++) {
    const input = JSON.stringify([{ role: "user", parts: [{ type: "text", content: `${words(300)}\n${words(300)}` }] }]);
    const output = JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: words(400) }] }]);
    sdk.startSpan("chat gpt-4o-mini", {
      attributes: {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o-mini", "gen_ai.usage.input_tokens": 150, "gen_ai.usage.output_tokens": 90,
        "gen_ai.input.messages": input, "gen_ai.output.messages": output,
      },
    }, inside).end();
  }
  root.end();
  await provider.shutdown();
  collector.closeAllConnections();
  collector.close();
  const [body] = bodies;
  if (body === undefined || bodies.length !== 1) throw new Error(`the SDK sent ${bodies.length} requests for one trace`);
  return { body, traceId: Buffer.from(root.spanContext().traceId, "hex") };
}

/** The same trace under another id. */
function another(body: Buffer, places: readonly number[]): Buffer {
  const copy = Buffer.from(body);
  const id = randomBytes(16);
  for (const at of places) id.copy(copy, at);
  return copy;
}

function placesOf(body: Buffer, part: Buffer): number[] {
  const places: number[] = [];
  for (let at = body.indexOf(part); at >= 0; at = body.indexOf(part, at + part.length)) places.push(at);
  return places;
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

/** The status of the answer. */
function post(url: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(new URL("/v1/traces", url), { agent, method: "POST", headers: { "content-type": "application/x-protobuf", "content-length": body.length } }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** Sends the bodies on some connections, again after a pause when there is no room, until all are committed. */
async function load(url: string, bodies: readonly Buffer[]): Promise<void> {
  const { events_processed: before = 0 } = await traceStats(url);
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      for (let status = await post(url, body); status !== 200; status = await post(url, body)) {
        if (status !== 429) throw new Error(`/v1/traces answered ${status}`);
        await pause(20);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sender));
  // Each span is two events, and the root starts the run.
  const wanted = before + bodies.length * (2 * SPANS + 1);
  while (((await traceStats(url))["events_processed"] ?? 0) < wanted) await pause(5);
}

/** Waits until search has read everything. */
async function indexed(url: string): Promise<void> {
  for (;;) {
    const { events_indexed: done = 0, total_events: all = 0 } = await traceStats(url);
    if (done >= all) return;
    await pause(50);
  }
}

function cpuUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => statSync(join(directory, name))).reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

export const traceOtlp: BenchCase = {
  name: "trace-otlp",
  summary: "how fast the trace service takes OpenTelemetry spans with messages, and what one costs",
  method:
    "The body of one request as the OpenTelemetry SDK's protobuf exporter sends it: a trace of 100 spans, 99 of them model calls with 1 KB of messages; sent again and again under new trace ids on two connections, with the default detectors. Until the last span is committed; each round has a new service. CPU is that of the service's process until then: full text waits while events come in, so what it takes is measured after it, as the time and the CPU until everything can be searched. Disk is what the directory holds after a stop then, the full text included.",
  async run() {
    const { body, traceId } = await sdkRequest();
    const places = placesOf(body, traceId);
    const perSecond: number[] = [];
    const cpu: number[] = [];
    const memory: number[] = [];
    const disk: number[] = [];
    const searchSeconds: number[] = [];
    const searchCpu: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const directory = await temporaryDirectory();
      const service = await startTrace(directory);
      try {
        await load(service.url, Array.from({ length: WARM_UP }, () => another(body, places)));
        const bodies = Array.from({ length: REQUESTS }, () => another(body, places));
        const cpuBefore = cpuUs(service.pid);
        const started = performance.now();
        await load(service.url, bodies);
        perSecond.push((REQUESTS * SPANS * 1000) / (performance.now() - started));
        cpu.push((cpuUs(service.pid) - cpuBefore) / (REQUESTS * SPANS));
        memory.push(peakBytes(service.pid) / 1e6);
        const loadedCpu = cpuUs(service.pid);
        const loadedAt = performance.now();
        await indexed(service.url);
        searchSeconds.push((performance.now() - loadedAt) / 1000);
        searchCpu.push((cpuUs(service.pid) - loadedCpu) / ((REQUESTS + WARM_UP) * SPANS));
        await service.stop(true);
        disk.push(bytesBelow(directory) / 1e6 / (((REQUESTS + WARM_UP) * SPANS) / 100_000));
      } finally {
        await service.stop();
      }
    }
    return [
      atLeast("OTLP protobuf, 1 KB of messages a span", perSecond, 12_000, "spans/s", [`${(body.length / SPANS).toFixed(0)} bytes a span on the wire`]),
      atMost("CPU of a span", cpu, 100, "µs"),
      atMost("peak memory meanwhile", memory, 300, "MB"),
      atMost("disk for 100,000 such spans", disk, 150, "MB", [
        `all searchable ${median(searchSeconds).toFixed(1)} s after the last commit, for ${median(searchCpu).toFixed(0)} µs of CPU a span`,
      ]),
    ];
  },
};
