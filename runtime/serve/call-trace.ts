/**
 * `--trace`: the trace service in the process of a tool server, fed with the server's own calls. Loaded only when the
 * flag is given. Settings are those of the service, from its variables and its file; the flag has the address.
 */
import type { Program } from "../abi/call.js";
import { createIdSource } from "../base/id-source.js";
import type { ExplainedTools } from "../abi/explained.js";
import type { CallObserver } from "../abi/observer.js";
import type { Log, LogFormat } from "../observe/log.js";
import { isSampled } from "../base/sampling.js";
import type { TraceService } from "../trace/service.js";
import { SettingError, type Settings } from "../trace/settings.js";
import { createCallRecorder } from "../tracer/calls.js";
import { createLocalSink } from "../trace/ingest/local-sink.js";
import { EXIT, StartError } from "../config/exit.js";
import type { ServeIo } from "./io.js";
import type { TraceOption } from "../config/serve-options.js";
import { openService, serviceLog, traceSettings } from "./trace.js";

/** Links to new runs in one second; the rest are counted. */
const LINKS_PER_SECOND = 10;

export interface CallTrace {
  /** Where the service listens; `null` when it only records. */
  readonly url: string | null;
  /** Watches the calls of a program that is served under a name. */
  observe(program: Program, server: string): CallObserver;
  /** Writes what is queued and ends the service. */
  close(): Promise<void>;
}

export interface CallTraceOptions {
  readonly option: TraceOption;
  /** What is served first; programs that are reloaded later come with `observe`. */
  readonly programs: readonly Program[];
  readonly io: Pick<ServeIo, "note" | "environment" | "now">;
  /** The log of the tool server. */
  readonly log: Log;
  readonly logFormat: LogFormat;
}

/** `null` when the settings switch it off. @throws StartError when it can't start. */
export async function startCallTrace({ option, programs, io, log, logFormat }: CallTraceOptions): Promise<CallTrace | null> {
  const routes = programs[0]?.trace;
  if (routes === null) throw new StartError("--trace: this server was built with --no-trace; build it again without, or use 'toolsrv serve --trace'");
  const settings = readSettings(option, io.environment);
  const tell = (text: string): void => (logFormat === "json" ? log.info(text) : io.note(`${text}\n`));
  if (!settings.enabled) {
    tell("trace: enabled is false, calls are not recorded");
    return null;
  }
  const onDeath = (error: Error): void => log.error("the trace store has ended; calls are no longer recorded", { error });
  const opening = Promise.resolve(routes?.() ?? null).then((generated) => openService(generated, settings, serviceLog(settings, logFormat, io.note), onDeath));
  const service = await inTime(opening, settings.startup_health_timeout_s);
  const sink = createLocalSink(service.context, (error) => log.error("a call could not be recorded", { error }));
  const newId = createIdSource(() => Date.now());
  const links = runLinks(service, settings, io.now, tell);
  const url = service.address?.url ?? null;
  const { place } = service.context.store;
  const explanations = new Explanations(log);
  await Promise.all(programs.map((program) => explanations.load(program)));
  tell(url === null ? `calls are recorded in ${place}` : `trace on ${url}/ui/ — data in ${place}`);
  return {
    url,
    observe(program, server) {
      sink.registerTools(server, program.tools.map(({ name }) => name));
      void explanations.load(program);
      return createCallRecorder({ sink, program, server, newId, onRun: links, explained: () => explanations.of(program) });
    },
    async close() {
      await sink.settled();
      await service.close();
    },
  };
}

/** What is shown of the tools of each program. It is beside the point of a server, so none of it ends a start or a call. */
class Explanations {
  readonly #loads = new WeakMap<Program, Promise<void>>();
  readonly #loaded = new WeakMap<Program, ExplainedTools>();

  constructor(private readonly log: Log) {}

  /** `null` until it is loaded. */
  of(program: Program): ExplainedTools | null {
    return this.#loaded.get(program) ?? null;
  }

  /** Resolves when it is loaded, or cannot be. Never rejects. */
  load(program: Program): Promise<void> {
    const before = this.#loads.get(program);
    if (before !== undefined) return before;
    const load = this.#read(program).then(
      (explained) => void this.#loaded.set(program, explained),
      (error: unknown) => this.log.warn("calls are recorded without the plans of their tools", { error }),
    );
    this.#loads.set(program, load);
    return load;
  }

  async #read({ explained }: Program): Promise<ExplainedTools> {
    return explained === undefined ? {} : (await explained()).explained;
  }
}

function readSettings({ address }: TraceOption, environment: ServeIo["environment"]): Settings {
  try {
    return traceSettings(address === null ? {} : { host: address.host, port: address.port }, environment);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    throw new StartError(`--trace: ${error.message}`);
  }
}

/** The service, or why there is none. One that comes too late is closed again. */
async function inTime(opening: Promise<TraceService>, seconds: number): Promise<TraceService> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(() => resolve("late"), seconds * 1000)));
  try {
    const first = await Promise.race([opening, late]);
    if (first !== "late") return first;
    opening.then((service) => service.close()).catch(() => undefined);
    throw new StartError(`--trace: the trace service did not start within ${seconds} s (TRACE_SERVICE_STARTUP_HEALTH_TIMEOUT_S)`, EXIT.LIVE);
  } catch (error) {
    if (error instanceof SettingError) throw new StartError(`--trace: ${error.message}`);
    if (error instanceof Error && (error.name === "StoreOpenError" || error.message.startsWith("cannot listen"))) throw new StartError(`--trace: ${error.message}`, EXIT.LIVE);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Prints a link for each new run that is kept, and no more of them than somebody could follow. */
function runLinks(service: TraceService, settings: Settings, now: () => number, tell: (text: string) => void): (runId: string) => void {
  const base = settings.public_url?.replace(/\/$/, "") ?? service.address?.url ?? null;
  if (!settings.print_run_url || base === null) return () => undefined;
  let second = -1;
  let printed = 0;
  let left = 0;
  return (runId) => {
    if (!isSampled(runId, settings.sample_rate)) return;
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      printed = 0;
    }
    if (printed >= LINKS_PER_SECOND) {
      left += 1;
      return;
    }
    printed += 1;
    tell(`trace: ${base}/ui/#/runs/${encodeURIComponent(runId)}${left === 0 ? "" : ` (and ${left} more)`}`);
    left = 0;
  };
}
