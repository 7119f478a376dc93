/**
 * One running instance: store, queue, feeds and routes put together, with the work that goes on in the background.
 * It knows no process: clocks, log, HTTP server and settings are given.
 */
import { readFile } from "node:fs/promises";
import type { TraceRoutes } from "../abi/trace.js";
import { bearerToken } from "../auth/bearer-token.js";
import { isLoopback, isLoopbackAddress } from "../base/loopback.js";
import { createHostRules } from "../http/host-rules.js";
import { RequestPath } from "../http/request-path.js";
import type { Log } from "../observe/log.js";
import type { HttpServer, HttpServerOptions } from "../transport/types.js";
import { Exporter, exportUrl } from "./export/exporter.js";
import { FeedHub } from "./feed/hub.js";
import type { HandlerContext } from "./handlers/context.js";
import { createHandlers } from "./handlers/index.js";
import { detailBody } from "./http/answer.js";
import { docsPage } from "./http/docs.js";
import { errorHeaders, httpRoutes, socketRoutes } from "./http/routes.js";
import { loadStatic } from "./http/static.js";
import { createIdSource } from "../base/id-source.js";
import { Counters } from "./ingest/counters.js";
import { createRedactor, type Detector } from "./ingest/redact.js";
import { openIntake } from "./ingest/intake-client.js";
import { IngestQueue } from "./ingest/queue.js";
import { SettingError, type Settings } from "./settings.js";
import { leaveNote, openStore } from "./store/open.js";
import type { TraceStore } from "./store/store.js";

export interface ServiceOptions {
  readonly settings: Settings;
  readonly routes: TraceRoutes;
  /** The OpenAPI document as JSON text. */
  readonly document: string;
  readonly version: string;
  /** Folder of the built user interface. */
  readonly uiDirectory: string;
  readonly createServer: (options: HttpServerOptions) => HttpServer;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds from a monotonic clock. */
  readonly monotonic: () => number;
  /** The store's threads died: nothing works any more. */
  readonly onDeath: (error: Error) => void;
  /** Id of the process, for those who find the directory in use. */
  readonly pid: number;
}

export interface TraceService {
  /** Where it listens; `null` when it does not. */
  readonly address: { readonly host: string; readonly port: number; readonly url: string } | null;
  readonly context: HandlerContext;
  /** Takes no more, writes what is queued, overwrites what was deleted, closes everything. */
  close(): Promise<void>;
}

/** Ports after the wanted one that are tried. */
const PORTS_TRIED = 20;
const OUTBOX_BYTES = 4 * 1024 * 1024;
/** Of these, the bytes that are the socket's own. What waits beyond is held once for all sockets that it waits for. */
const SOCKET_BYTES = 256 * 1024;
const STALL_MS = 5000;
const PING_MS = 15_000;
const SWEEP_MS = 10_000;
const RETAIN_MS = 10_000;
/** Time that a stop gives to spans that wait for the collector. */
const EXPORT_GRACE_MS = 5000;
const DAY_US = 86_400_000_000;

/** Opens the store and listens, unless the settings say otherwise. @throws StoreOpenError, or Error when no port can be had. */
export async function startTraceService(options: ServiceOptions): Promise<TraceService> {
  const { settings, log, now, monotonic } = options;
  const store = await openStore(settings, { log: (level, message) => log[level](message), onDeath: options.onDeath });
  const counters = new Counters();
  const hub = new FeedHub({ store, outboxBytes: OUTBOX_BYTES, stallMs: STALL_MS, pingMs: PING_MS, updates: settings.otlp_endpoint !== null, monotonic, onError: (error) => log.error("a live feed failed", { error }) });
  const exporter = settings.otlp_endpoint === null ? null : createExporter(options, settings.otlp_endpoint, store);
  store.subscribe((news) => {
    hub.publish(news);
    exporter?.hear(news);
  });
  const queue = new IngestQueue({
    store, counters, monotonic,
    maxEvents: settings.queue_maxsize, maxBytes: settings.queue_max_bytes, batchSize: settings.worker_batch_size, lingerMs: settings.worker_batch_timeout * 1000,
    onFailed: (error, events) => log.error("events could not be stored", { error, events }),
    onReach: (error) => (error === null ? log.warn("the store can be reached again", {}) : log.error("the store can't be reached; events wait in the queue", { error })),
  });
  const redact = { patterns: settings.redact_patterns, detectors: settings.redact_detectors as readonly Detector[], replacement: settings.redact_replacement };
  const intake = await openIntake({ summaryChars: settings.summary_max_chars, batchSize: settings.worker_batch_size, maxEvents: settings.queue_maxsize, redact, packs: store.packs, onDeath: options.onDeath });
  const started = monotonic();
  const context: HandlerContext = {
    settings, version: options.version, store, intake, queue, counters, hub, exporter, document: options.document, docs: docsPage(options.document),
    redactor: createRedactor(redact),
    reading: { summaryChars: settings.summary_max_chars, newId: createIdSource(now), nowUs: () => Math.floor(now() * 1000) },
    uptimeS: () => (monotonic() - started) / 1000,
  };
  const background = startBackground(store, settings, now, (error) => log.error("background work failed", { error }));
  let listening: { readonly server: HttpServer; readonly host: string; readonly port: number } | null = null;
  try {
    listening = settings.start_server ? await listen(options, context) : null;
    if (listening !== null && settings.otlp_endpoint !== null) refuseItself(settings.otlp_endpoint, listening);
  } catch (error) {
    background.stop();
    listening?.server.close();
    await intake.close();
    await store.close();
    throw error;
  }
  const address = listening === null ? null : { host: listening.host, port: listening.port, url: `http://${listening.host.includes(":") ? `[${listening.host}]` : listening.host}:${listening.port}` };
  const takeBack = await leaveNote(settings, { pid: options.pid, url: address?.url ?? null });
  return {
    address,
    context,
    async close() {
      listening?.server.stopListening();
      background.stop();
      await queue.drain();
      await background.idle();
      hub.stop();
      await exporter?.close(EXPORT_GRACE_MS);
      await intake.close();
      await store.close();
      await takeBack();
      listening?.server.close();
    },
  };
}

/** The note of the instance that uses a directory; `null` when there is none. */
export async function readInstance(path: string): Promise<{ readonly pid: number; readonly url: string | null } | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as { pid: number; url: string | null };
  } catch {
    return null;
  }
}

function createExporter({ settings, log, monotonic, version }: ServiceOptions, endpoint: string, store: TraceStore): Exporter {
  const headers = settings.otlp_headers as { readonly [name: string]: string };
  return new Exporter({ url: exportUrl(endpoint), headers, serviceName: settings.otlp_service_name, version, read: store.read, log, monotonic });
}

/** Spans that come back would be recorded, end, and be sent again. @throws SettingError */
function refuseItself(endpoint: string, { host, port }: { readonly host: string; readonly port: number }): void {
  const { hostname, port: given, protocol } = new URL(endpoint);
  const target = hostname.replace(/^\[|\]$/g, "");
  const isSame = target === host || (isLoopback(target) && (isLoopback(host) || host === "0.0.0.0" || host === "::"));
  if (isSame && Number(given === "" ? (protocol === "https:" ? 443 : 80) : given) === port) throw new SettingError("otlp_endpoint is this service itself");
}

async function listen(options: ServiceOptions, context: HandlerContext): Promise<{ server: HttpServer; host: string; port: number }> {
  const { settings, log } = options;
  const boundToLoopback = isLoopbackAddress(settings.host);
  const rules = createHostRules({ boundToLoopback, allowedOrigins: settings.cors_origins, loopbackOrigins: boundToLoopback, publicUrl: settings.public_url, setting: "cors_origins" });
  const token = bearerToken(settings.auth_token);
  const routeOptions = {
    routes: options.routes,
    handlers: createHandlers(context),
    path: new RequestPath({ rules, authenticator: token, errorBody: detailBody, stopping: () => false }),
    token,
    hub: context.hub,
    ui: await loadStatic(options.uiDirectory),
    readOnly: settings.read_only,
    onError: (error: unknown, path: string) => log.error("a request failed", { error, path }),
  };
  const server = options.createServer({
    ...httpRoutes(routeOptions),
    sockets: socketRoutes(routeOptions, SOCKET_BYTES),
    errorBody: detailBody,
    errorHeaders: errorHeaders(),
    onError: (error, request) => log.error("a handler failed", { error, path: request.path }),
  });
  const wanted = settings.port;
  const ports = settings.port_auto && wanted !== 0 ? [...Array.from({ length: PORTS_TRIED + 1 }, (_, index) => wanted + index).filter((port) => port <= 65_535), 0] : [wanted];
  let failure: unknown;
  for (const port of ports) {
    try {
      return { server, ...(await server.listen(settings.host, port)) };
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

interface Background {
  stop(): void;
  /** Resolves when what is under way has ended. */
  idle(): Promise<void>;
}

/** Ends runs that nobody works on and deletes what is beyond the limits, a little at a time. */
function startBackground(store: TraceStore, settings: Settings, now: () => number, onError: (error: unknown) => void): Background {
  let stopped = false;
  let work: Promise<void> = Promise.resolve();
  const sweep = async (): Promise<void> => {
    await store.sweep(now() - settings.settle_run_timeout_s * 1000, now() - settings.stale_run_timeout_s * 1000);
  };
  const retain = async (): Promise<void> => {
    const before = settings.max_age_days === 0 ? 0 : now() * 1000 - settings.max_age_days * DAY_US;
    const limits = { maxRuns: settings.max_runs, maxPayloadBytes: settings.max_blob_size_gb * 1e9, before };
    while (!stopped && (await store.retain(limits)) > 0);
  };
  const run = (task: () => Promise<void>): void => {
    work = work.then(() => (stopped ? undefined : task())).catch(onError);
  };
  const tasks: readonly (readonly [() => Promise<void>, number])[] = settings.read_only ? [] : [[sweep, SWEEP_MS], [retain, RETAIN_MS]];
  for (const [task] of tasks) run(task);
  const timers = tasks.map(([task, everyMs]) => setInterval(() => run(task), everyMs));
  for (const timer of timers) timer.unref();
  return {
    stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
    },
    idle: () => work,
  };
}
