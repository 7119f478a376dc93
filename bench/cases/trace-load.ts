/**
 * The load of the trace cases, in a process of its own: nested runs of 100 events, twenty of them interleaved, in
 * requests of 500, written before the clock starts. `node trace-load.js URL EVENTS PAYLOAD_SHARE CONNECTIONS [RATE]`
 * prints "ready", starts when it reads a line, and prints one line of JSON. A refused request is sent again after a pause.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:http";

interface Options {
  readonly url: URL;
  readonly events: number;
  readonly payloadShare: number;
  readonly connections: number;
  /** Events a second; 0 is as many as are taken. */
  readonly rate: number;
}

const BATCH = 500;
const CALLS = 48;
const INTERLEAVED = 20;
const RETRY_MS = 20;
const TEXT = "the answer that a tool gave, with some words and numbers ".repeat(18);

function run(payloadShare: number): string[] {
  const root = randomUUID();
  let at = Date.now();
  const event = (fields: { readonly [name: string]: unknown }): string => {
    const payload = Math.random() < payloadShare ? { payload: { id: randomUUID(), text: TEXT.slice(0, 960) } } : {};
    return JSON.stringify({ root_run_id: root, timestamp: new Date((at += 3)).toISOString(), ...fields, ...payload });
  };
  const own = { run_id: root, agent_name: "research_agent" };
  const events = [event({ ...own, event_type: "run_start", tags: ["bench"] }), event({ ...own, event_type: "chain_start", summary: `question ${Math.floor(Math.random() * 1000)} of the day` })];
  for (let index = 0; index < CALLS; index++) {
    const call = { run_id: randomUUID(), parent_run_id: root };
    const named = index % 2 === 0 ? { agent_name: "gpt-4o-mini" } : { tool_name: ["web_search", "read_page", "calculator"][index % 3], mcp_server: index % 4 === 1 ? "tavily" : null };
    const kind = index % 2 === 0 ? ["chat_model_start", "llm_end"] : ["tool_start", "tool_end"];
    events.push(event({ ...call, ...named, event_type: kind[0], summary: `call ${index} with some words about the topic` }));
    events.push(event({ ...call, ...named, event_type: kind[1], summary: `result ${index} came back`, ...(index % 2 === 0 ? { token_input: 120, token_output: 40 } : {}) }));
  }
  events.push(event({ ...own, event_type: "retry" }), event({ ...own, event_type: "chain_end", summary: "done" }));
  return events;
}

/** Bodies with all the events, runs mixed as a busy service sees them. */
function bodies({ events, payloadShare }: Options): string[] {
  const active = Array.from({ length: INTERLEAVED }, () => run(payloadShare));
  return Array.from({ length: Math.ceil(events / BATCH) }, () => {
    const lines: string[] = [];
    while (lines.length < BATCH) {
      const index = Math.floor(Math.random() * INTERLEAVED);
      const line = active[index]?.shift();
      if (line === undefined) active[index] = run(payloadShare);
      else lines.push(line);
    }
    return `[${lines.join(",")}]`;
  });
}

async function main(options: Options): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections });
  const waiting = bodies(options);
  let sent = 0;
  let refused = 0;
  const post = (body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const call = request({ agent, host: options.url.hostname, port: options.url.port, path: "/api/ingest", method: "POST", headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) } }, (answer) => {
        answer.resume();
        answer.on("end", () => resolve(answer.statusCode ?? 0));
      });
      call.on("error", reject);
      call.end(body);
    });
  process.stdout.write("ready\n");
  await once(process.stdin, "data");
  const started = performance.now();
  const worker = async (): Promise<void> => {
    for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) {
      const due = options.rate === 0 ? 0 : (sent / options.rate) * 1000 - (performance.now() - started);
      if (due > 0) await pause(due);
      for (let status = await post(body); status !== 202; status = await post(body)) {
        if (status !== 429) throw new Error(`ingest answered ${status}`);
        refused += 1;
        await pause(RETRY_MS);
      }
      sent += BATCH;
    }
  };
  await Promise.all(Array.from({ length: options.connections }, worker));
  let depth = 1;
  while (depth > 0) {
    const stats = (await (await fetch(new URL("/api/stats", options.url))).json()) as { queue_depth: number };
    depth = stats.queue_depth;
    if (depth > 0) await pause(5);
  }
  process.stdout.write(`${JSON.stringify({ sent, refused, seconds: (performance.now() - started) / 1000 })}\n`);
  process.exit(0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const [url = "", events = "0", share = "0", connections = "2", rate = "0"] = process.argv.slice(2);
await main({ url: new URL(url), events: Number(events), payloadShare: Number(share), connections: Number(connections), rate: Number(rate) });
