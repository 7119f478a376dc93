/** Requests of OpenTelemetry spans as an SDK sends them, and their way to a service. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, Agent, request } from "node:http";
import type { AddressInfo } from "node:net";
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { pause, traceStats } from "./trace.js";

/** Of one request, which is one trace. */
export const SPANS = 100;
const CONNECTIONS = 2;
const WORDS = "the model was asked what the weather in Paris would be tomorrow and looked for a forecast of the city before it gave an answer".split(" ");
/** Of a clock tick of /proc. */
const TICK_US = 10_000;

function words(length: number): string {
  let text = "";
  while (text.length < length) text += `${WORDS[Math.floor(Math.random() * WORDS.length)] ?? ""} `;
  return text.slice(0, length);
}

/** A request, and where in it its trace id is. */
export interface SdkRequest {
  readonly body: Buffer;
  readonly places: readonly number[];
}

/** The body that the SDK's own exporter sends for one trace: an agent and its model calls with 1 KB of messages each. */
export async function sdkRequest(): Promise<SdkRequest> {
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
  return { body, places: placesOf(body, Buffer.from(root.spanContext().traceId, "hex")) };
}

/** The same trace under other ids. */
export function others({ body, places }: SdkRequest, count: number): Buffer[] {
  return Array.from({ length: count }, () => {
    const copy = Buffer.from(body);
    const id = randomBytes(16);
    for (const at of places) id.copy(copy, at);
    return copy;
  });
}

/** The trace id of a request made by `others`, as hex digits. */
export function traceIdOf({ places }: SdkRequest, body: Buffer): string {
  const [at = 0] = places;
  return body.toString("hex", at, at + 16);
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

/** Sends the bodies on some connections, again after a pause when there is no room. */
export async function send(url: string, bodies: readonly Buffer[]): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      for (let status = await post(url, body); status !== 200; status = await post(url, body)) {
        if (status !== 429 && status !== 503) throw new Error(`/v1/traces answered ${status}`);
        await pause(20);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sender));
}

/** `send` to our service, until all is committed. */
export async function load(url: string, bodies: readonly Buffer[]): Promise<void> {
  const { events_processed: before = 0 } = await traceStats(url);
  await send(url, bodies);
  // Each span is two events, and the root starts the run.
  const wanted = before + bodies.length * (2 * SPANS + 1);
  while (((await traceStats(url))["events_processed"] ?? 0) < wanted) await pause(5);
}

/** Time on cores that a process had so far. */
export function cpuUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}
