/**
 * What observes the calls of one server, or of one connection of the library: made in one place from the settings of
 * the catalogs and from the flags, and closed in one place. Each kind of record is an `ObserverSource`; a catalog that
 * asks for nothing has no observer, and its calls cost nothing more.
 */
import type { Program } from "../abi/call.js";
import { observeWith, type CallObserver } from "../abi/observer.js";
import type { Project } from "../abi/projects.js";
import { ToolError } from "../abi/errors.js";
import { isRecord } from "../base/paths.js";
import { fillProgram } from "../call/fill-program.js";
import { META_TOOLS } from "../call/meta-tools.js";
import type { Observing } from "../call/observe.js";
import type { TraceOption } from "../config/serve-options.js";
import { createCallLog } from "../observe/call-log.js";
import type { AuditFlags } from "../observe/audit/settings.js";
import type { AuditStream } from "../observe/audit/stream.js";
import { createScrub, LearnedSecrets } from "../observe/credentials.js";
import { createLog, type Log, type LogFormat } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import type { SpanRecorder } from "../observe/spans/recorder.js";
import { processIo, type ServeIo, sharedStdout } from "./io.js";
import type { SpanSource } from "./span-source.js";

/** One kind of record, for all programs of a server. */
export interface ObserverSource {
  /** `null` when the catalog does not ask for these records. Called again for each reload of a catalog. */
  observe(program: Program, project: string): CallObserver | null;
  /** Writes what is queued, within a bounded time. */
  close(): Promise<void>;
}

export interface Observability {
  /** The observer of a program's calls; `null` for none. A program that was not there at the start needs `prepare` before its first call. */
  observe(program: Program, project: string): Observing | null;
  /** Opens and loads what records of reloaded programs need. @throws StartError, or ToolError tds_invalid, when they cannot be written. */
  prepare(): Promise<void>;
  /** `null` when no catalog asks for metrics. */
  readonly metrics: ServedMetrics | null;
  /** Audit records that were lost since the start. */
  auditDropped(): number;
  /** Writes what the observers have queued, each within a bounded time. No call may end after it. */
  close(): Promise<void>;
}

/** What is served at /metrics. */
export interface ServedMetrics extends Pick<Metrics, "contentType" | "text"> {
  /** To authenticated callers only: one of the catalogs that are counted demands it. */
  readonly requireAuth: boolean;
}

export interface ObservabilityOptions {
  readonly projects: readonly Project[];
  /** Name of the server, as clients know it. */
  readonly name: string;
  /** The programs may be replaced while the server runs, by some that ask for other records. */
  readonly reloads: boolean;
  /** Values for the references that the programs left open. */
  readonly env: ReadonlyMap<string, string>;
  readonly log: Log;
  readonly logFormat: LogFormat;
  /** Write a line of the log for each call. */
  readonly logCalls: boolean;
  /** How calls come in; `null` for the library. */
  readonly transport: "http" | "stdio" | null;
  /** `--audit-log`, `--audit-sink` and `--audit-url`. */
  readonly audit: AuditFlags | null;
  /** `--trace`. */
  readonly trace: TraceOption | null;
  /** Credentials that became known while the programs ran. */
  readonly learned: LearnedSecrets;
  readonly io: Pick<ServeIo, "note" | "environment" | "now" | "takeStdout">;
  /** Milliseconds since the epoch. */
  readonly wallNow: () => number;
}

/** @throws StartError when something that a catalog or a flag asks for cannot be recorded. */
export async function createObservability(options: ObservabilityOptions): Promise<Observability> {
  const { log, wallNow } = options;
  const audit = await auditSource(options);
  const metrics = await metricsOf(options);
  const spans = await spanSource(options);
  const sources = [audit, ...(await traceSource(options)), ...(metrics === null ? [] : [metricsSource(metrics)])];
  return {
    auditDropped: audit.dropped,
    metrics: metrics === null ? null : { ...metrics, requireAuth: options.projects.some(({ program }) => requiresAuth(program)) },
    observe(program, project) {
      const recorders = sources.flatMap((source) => source.observe(program, project) ?? []);
      const recorded = spans.record(program);
      // Spans are the last to end: until then the others can ask for the span of a call.
      const observer = observeWith([...recorders, ...callLog(program, options, recorded?.spanOf), ...(recorded === null ? [] : [recorded.observer])]);
      // Above info the log costs only the calls that fail.
      return observer === null ? null : { observer, wallNow, failuresOnly: recorders.length === 0 && recorded === null && !log.enabled("info") };
    },
    async prepare() {
      await Promise.all([audit.prepare(), spans.prepare()]);
    },
    async close() {
      await Promise.all([...sources, spans].map((source) => source.close()));
    },
  };
}

function callLog(program: Program, { log, logFormat, logCalls, env, learned }: ObservabilityOptions, spanOf: SpanRecorder["spanOf"] | undefined): readonly CallObserver[] {
  if (!logCalls || !log.enabled("error")) return [];
  const scrub = createScrub(program, env, learned);
  return [createCallLog({ log, format: logFormat, scrub, ...(spanOf === undefined ? {} : { traceOf: (call) => spanOf(call) ?? call.trace }) })];
}

/** What makes spans is large, and most printed servers make none. */
async function spanSource(options: ObservabilityOptions): Promise<SpanSource> {
  const wanted = ({ settings }: Program): boolean => settings.observability?.["tracing"] !== undefined;
  if (options.reloads || options.projects.some(({ program }) => wanted(program))) return (await import("./span-source.js")).createSpanSource(options);
  return {
    record(program) {
      if (wanted(program)) throw new Error("a program that asks for spans came to a server whose programs do not change");
      return null;
    },
    prepare: async () => undefined,
    close: async () => undefined,
  };
}

async function metricsOf({ projects, transport, log }: ObservabilityOptions): Promise<Metrics | null> {
  const [wanting] = projects.filter(({ program }) => wantsMetrics(program));
  if (wanting === undefined) return null;
  if (transport === "http") return (await import("../observe/metrics.js")).createMetrics();
  if (transport === "stdio") log.warn(`${wanting.program.catalog.file} asks for metrics (observability.metrics), and on stdio nothing can read them: serve it with --http`);
  return null;
}

function wantsMetrics({ settings }: Program): boolean {
  return settings.observability?.["metrics"] !== undefined;
}

/** Whether only authenticated callers may see the metrics of a program. */
export function requiresAuth({ settings }: Program): boolean {
  const metrics = settings.observability?.["metrics"];
  return isRecord(metrics) && metrics["require_auth"] === true;
}

/** Catalogs of one server share the metrics: no two of them have a tool of the same name. */
function metricsSource(metrics: Metrics): ObserverSource {
  return {
    observe: (program) => (wantsMetrics(program) ? metrics.observe([...Object.keys(program.plans), ...META_TOOLS.map(({ name }) => name)]) : null),
    close: async () => undefined,
  };
}

/** Time for audit records that wait when the server ends. */
const AUDIT_GRACE_MS = 5000;

interface AuditSource extends ObserverSource {
  prepare(): Promise<void>;
  dropped(): number;
}

/** Audit of all programs; none of its code is loaded where nobody asks for it. */
async function auditSource(options: ObservabilityOptions): Promise<AuditSource> {
  const { audit: flags, projects, env, learned, log, wallNow } = options;
  if (flags === null && !projects.some(({ program }) => wantsAudit(program))) return NO_AUDIT;
  const { createAudit } = await import("../observe/audit/open.js");
  const audit = createAudit({ flags, log, now: wallNow, stdout: stdoutOf(options) });
  const observe = (program: Program): CallObserver | null => audit.observe({ program, settings: fillProgram(program, env).settings, scrub: createScrub(program, env, learned) });
  // A sink that cannot be used is found now and not by the first call.
  for (const { program } of projects) observe(program);
  await audit.prepare();
  return { observe, prepare: () => audit.prepare(), dropped: () => audit.dropped(), close: () => audit.close(AUDIT_GRACE_MS) };
}

function wantsAudit({ settings }: Program): boolean {
  return settings.observability?.["audit"] !== undefined;
}

const NO_AUDIT: AuditSource = {
  observe(program) {
    if (wantsAudit(program)) throw new ToolError("tds_invalid", "observability.audit is on now; restart the server to write its records");
    return null;
  },
  prepare: async () => undefined,
  dropped: () => 0,
  close: async () => undefined,
};

/** Standard output for records; on stdio the protocol has it. */
function stdoutOf({ transport, io }: ObservabilityOptions): (() => AuditStream) | null {
  if (transport === "stdio") return null;
  if (transport === null) return sharedStdout;
  return () => {
    const output = io.takeStdout();
    // The error of a failed write is also an event, which would end the server.
    output.on("error", () => undefined);
    return output;
  };
}

/** The trace service in this process; none of its code is loaded without the flag. */
async function traceSource({ trace: option, projects, name, log, logFormat, io }: ObservabilityOptions): Promise<readonly ObserverSource[]> {
  if (option === null) return [];
  const { startCallTrace } = await import("./call-trace.js");
  const trace = await startCallTrace({ option, programs: projects.map(({ program }) => program), io, log, logFormat });
  if (trace === null) return [];
  return [{ observe: (program, project) => trace.observe(program, projects.length === 1 ? name : `${name}/${project}`), close: () => trace.close() }];
}

/** The observers of a program that the library calls in its own process: what its catalog asks for, and no log of calls. */
export async function observeLibrary(program: Program, env: ReadonlyMap<string, string>, name: string): Promise<Observability> {
  const io = processIo(new AbortController().signal);
  return createObservability({
    projects: [{ name, program }], name, reloads: false, env, log: createLog({ format: "text", level: "warn", write: io.note }), logFormat: "text", logCalls: false,
    transport: null, trace: null, audit: null, learned: new LearnedSecrets(), io, wallNow: () => Date.now(),
  });
}
