/** A trace service for tests: in this process, on a free port, over a directory that goes with the test. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { traceRoutes } from "../../runtime/abi/trace.js";
import { createLog } from "../../runtime/observe/log.js";
import { DOCUMENT, OPERATIONS } from "../../runtime/trace/api.gen.js";
import { createIdSource } from "../../runtime/base/id-source.js";
import { readEvent } from "../../runtime/trace/ingest/event.js";
import type { Incoming } from "../../runtime/trace/model.js";
import { startTraceService, type TraceService } from "../../runtime/trace/service.js";
import { type GivenSettings, resolveSettings } from "../../runtime/trace/settings.js";
import { Indexer } from "../../runtime/trace/store/sqlite/indexer.js";
import { SqliteReader } from "../../runtime/trace/store/sqlite/reader.js";
import { type Layout, layoutOf } from "../../runtime/trace/store/sqlite/schema.js";
import { SqliteWriter, type WriterOptions } from "../../runtime/trace/store/sqlite/writer.js";
import { createHttpServer } from "../../runtime/transport/uws.js";

export type Json = { readonly [key: string]: unknown };

export interface RunningTrace {
  readonly service: TraceService;
  readonly url: string;
  readonly port: number;
  readonly directory: string;
  readonly logged: string[];
  /** Moves the service's clock. */
  advance(ms: number): void;
  get(path: string, headers?: { readonly [name: string]: string }): Promise<{ status: number; headers: Headers; text: string; json: Json }>;
  send(method: string, path: string, body?: unknown, headers?: { readonly [name: string]: string }): Promise<{ status: number; headers: Headers; text: string; json: Json }>;
  /** Ingests and waits for the commit. */
  ingest(events: readonly Json[]): Promise<Json>;
  /** Waits until search has read everything and deleted runs are overwritten. */
  settle(): Promise<void>;
  /** Stops the service; the directory stays until `dispose`. */
  stop(): Promise<void>;
  dispose(): Promise<void>;
}

export async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "toolsrv-trace-"));
}

/** Set by `make postgres`: services of tests keep their traces in the database, a schema for each directory. */
const DATABASE = process.env["TOOLSRV_TEST_STORE"] === "postgres" ? process.env["TOOLSRV_TEST_POSTGRES"] : undefined;

/** Settings of the store under test; the directory stands for the schema where there are no files. */
function storeSettings(directory: string): GivenSettings {
  if (DATABASE === undefined) return { data_dir: directory };
  return { data_dir: directory, store: "postgres", store_url: DATABASE, store_schema: `t_${createHash("sha256").update(directory).digest("hex").slice(0, 20)}` };
}

/** The tests of services run over the database. */
export const OVER_DATABASE = DATABASE !== undefined;

/** @param http what the server is created with beside its routes. */
export async function startTrace(given: GivenSettings = {}, directory?: string, http: { readonly bodyBudgetBytes?: number } = {}): Promise<RunningTrace> {
  const dir = directory ?? (await temporaryDirectory());
  const logged: string[] = [];
  let offset = 0;
  const service = await startTraceService({
    settings: resolveSettings({ from: (name) => name, given: { port: 0, ...storeSettings(dir), ...given } }),
    routes: traceRoutes(OPERATIONS),
    document: DOCUMENT,
    version: "0.0.0-test",
    uiDirectory: join(dir, "ui"),
    createServer: (options) => createHttpServer({ ...options, ...http }),
    log: createLog({ format: "json", level: "warn", write: (text) => void logged.push(text) }),
    now: () => Date.now() + offset,
    monotonic: () => performance.now(),
    onDeath: (error) => void logged.push(`died: ${error.message}`),
    pid: process.pid,
  });
  const url = service.address?.url ?? "";
  let stopped = false;
  const send: RunningTrace["send"] = async (method, path, body, headers = {}) => {
    const raw = typeof body === "string" || body instanceof Uint8Array || body === undefined;
    const answer = await fetch(url + path, {
      method, redirect: "manual", headers: { ...(raw ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await answer.text();
    let json: Json = {};
    try {
      json = JSON.parse(text) as Json;
    } catch {
      // Not every answer is JSON.
    }
    return { status: answer.status, headers: answer.headers, text, json };
  };
  const stop = async (): Promise<void> => {
    if (!stopped) await service.close();
    stopped = true;
  };
  return {
    service, url, port: service.address?.port ?? 0, directory: dir, logged,
    advance: (ms) => void (offset += ms),
    get: (path, headers) => send("GET", path, undefined, headers),
    send,
    async ingest(events) {
      const answer = await send("POST", "/api/ingest?wait=1", events);
      if (answer.status !== 200) throw new Error(`ingest answered ${answer.status}: ${answer.text}`);
      return answer.json;
    },
    settle: () => service.context.store.settle(),
    stop,
    async dispose() {
      await stop();
      const { store_url: url, store_schema: schema } = service.context.settings;
      if (url !== null) await (await import("./postgres/database.js")).dropSchema(url, schema);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The three parts of the embedded store in this thread. */
export interface LocalStore {
  readonly layout: Layout;
  readonly writer: SqliteWriter;
  readonly reader: SqliteReader;
  /** Runs the indexer until it has nothing to do, then overwrites what is deleted. */
  settle(): void;
  close(): void;
}

export function openLocalStore(directory: string, options: Partial<Omit<WriterOptions, "layout">> = {}): LocalStore {
  const layout = layoutOf(directory);
  const writer = new SqliteWriter({ layout, sampleRate: 1, eventCap: 50_000, prices: {}, now: () => Date.now(), ...options });
  const reader = new SqliteReader(layout);
  const indexer = new Indexer(layout, { merged: (seq) => writer.merged(seq), unindexed: (root) => writer.unindexed(root), copied: () => writer.restartLogs() });
  const drain = (): void => {
    while (indexer.step(true));
  };
  return {
    layout, writer, reader,
    settle() {
      drain();
      while (writer.erase(100));
      drain();
    },
    close() {
      reader.close();
      indexer.close();
      writer.close();
    },
  };
}

const newId = createIdSource(() => Date.now());

/** An event as the recorder takes it; fields as the ingest endpoint has them. */
export function incoming(fields: Json): Incoming {
  const event = readEvent(fields, { summaryChars: 500, newId, nowUs: () => Date.now() * 1000 });
  if (typeof event === "string") throw new Error(event);
  return event;
}

/** A finished run: an agent that asks a model and calls a tool of an MCP server. */
export function sampleRun(id: string, options: { readonly at?: number; readonly failed?: boolean; readonly tags?: readonly string[]; readonly secret?: string } = {}): Json[] {
  const start = options.at ?? Date.UTC(2026, 10, 20, 11, 54, 40);
  const at = (ms: number): string => new Date(start + ms).toISOString();
  const own = { run_id: id };
  const model = { run_id: `${id}-m`, parent_run_id: id, agent_name: "ChatModel", model: "gpt-4o-mini" };
  const tool = { run_id: `${id}-t`, parent_run_id: id, tool_name: "web_search", mcp_server: "tavily" };
  return [
    { ...own, event_type: "run_start", agent_name: "research_agent", timestamp: at(0), tags: options.tags ?? ["demo"] },
    { ...own, event_type: "chain_start", agent_name: "research_agent", timestamp: at(0), payload: { inputs: { question: "weather in Paris" } } },
    { ...model, event_type: "chat_model_start", timestamp: at(10), payload: { messages: [{ role: "user", content: "weather in Paris?" }] } },
    { ...model, event_type: "llm_end", timestamp: at(220), token_input: 42, token_output: 58, payload: { text: "I look it up" } },
    { ...tool, event_type: "tool_start", timestamp: at(230), payload: { input: options.secret ?? "Paris weather" } },
    { ...tool, event_type: "tool_end", timestamp: at(580), payload: { output: "18 degrees" } },
    options.failed === true
      ? { ...own, event_type: "chain_error", timestamp: at(620), error_message: "no answer" }
      : { ...own, event_type: "chain_end", timestamp: at(620), payload: { outputs: "18 degrees" } },
  ];
}

/** Resolves when the condition holds; asks again at each turn of the event loop. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
