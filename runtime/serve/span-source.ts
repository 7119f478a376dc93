/** Spans of the catalogs that ask for them: one pipeline for each place that spans go to, shared by catalogs and reloads. */
import { fileURLToPath } from "node:url";
import type { Program } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import { SPAN_EXPORTERS, type SpanExporterName } from "../abi/tracing.js";
import { isRecord } from "../base/paths.js";
import { PackageError } from "../base/optional-package.js";
import { fillProgram } from "../call/fill-program.js";
import { EXIT, StartError } from "../config/exit.js";
import { createScrub } from "../observe/credentials.js";
import { createSpanIds } from "../observe/spans/ids.js";
import { SpanPipeline } from "../observe/spans/pipeline.js";
import { createSpanRecorder, type SpanRecorder } from "../observe/spans/recorder.js";
import type { ObservabilityOptions } from "./observability.js";
import { version } from "./version.js";

interface TracingSettings {
  readonly exporter: SpanExporterName;
  readonly endpoint: string;
  readonly serviceName: string;
  readonly semconv: boolean;
}

export interface SpanSource {
  /** `null` when the catalog does not ask for spans. After it, and before a call is recorded, comes `prepare`. */
  record(program: Program): SpanRecorder | null;
  /** Loads what new pipelines need. @throws StartError when a package is missing. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

const TRANSPORTS = { http: "tcp", stdio: "pipe" } as const;

/** @throws StartError when a package is missing; ToolError tds_invalid for an endpoint that is no address. */
export async function createSpanSource(options: ObservabilityOptions): Promise<SpanSource> {
  const { env, log, learned, io, transport } = options;
  const pipelines = new Map<string, SpanPipeline>();
  /** By their keys, with the programs that asked for them first. */
  const unstarted = new Map<string, { readonly pipeline: SpanPipeline; readonly program: Program }>();
  const ids = createSpanIds();
  const pipelineOf = (program: Program, { exporter, endpoint, serviceName }: TracingSettings): SpanPipeline => {
    const key = JSON.stringify([exporter, exporter === "otlp" ? endpoint : "", serviceName]);
    const before = pipelines.get(key);
    if (before !== undefined) return before;
    const pipeline = new SpanPipeline({
      kind: exporter, endpoint, serviceName, version: version(), base: fileURLToPath(program.base), log, scrub: createScrub(program, env, learned), write: io.note, now: io.now,
    });
    pipelines.set(key, pipeline);
    unstarted.set(key, { pipeline, program });
    return pipeline;
  };
  const start = async (key: string, { pipeline, program }: { readonly pipeline: SpanPipeline; readonly program: Program }): Promise<void> => {
    unstarted.delete(key);
    try {
      await pipeline.start();
    } catch (error) {
      // The next reload tries again.
      pipelines.delete(key);
      refuseStart(program, error);
    }
  };
  const source: SpanSource = {
    record(program) {
      const settings = tracingOf(program, env);
      if (settings === null) return null;
      const pipeline = pipelineOf(program, settings);
      // A server's own process has no context of an application.
      return createSpanRecorder(program, { semconv: settings.semconv, transport: transport === null ? null : TRANSPORTS[transport] }, pipeline, ids, transport === null ? () => pipeline.isSuppressed() : null);
    },
    async prepare() {
      await Promise.all([...unstarted].map(([key, added]) => start(key, added)));
    },
    async close() {
      await Promise.all([...pipelines.values()].map((pipeline) => pipeline.close()));
    },
  };
  // What is missing is found at the start and not by the first call.
  for (const { program } of options.projects) source.record(program);
  await source.prepare();
  return source;
}

function tracingOf(program: Program, env: ObservabilityOptions["env"]): TracingSettings | null {
  if (program.settings.observability?.["tracing"] === undefined) return null;
  const tracing = fillProgram(program, env).settings.observability?.["tracing"];
  if (!isRecord(tracing)) throw new ToolError("tds_invalid", `${program.catalog.file}: observability.tracing is not a mapping`);
  const { exporter: named, endpoint, service_name: serviceName, semconv } = tracing;
  const exporter = SPAN_EXPORTERS.find((one) => one === named);
  if (exporter === undefined || typeof endpoint !== "string" || typeof serviceName !== "string") throw new ToolError("tds_invalid", `${program.catalog.file}: observability.tracing needs exporter, endpoint and service_name`);
  if (exporter === "otlp" && !isHttpUrl(endpoint)) throw new ToolError("tds_invalid", `${program.catalog.file}: observability.tracing.endpoint is not an address such as http://localhost:4318`);
  return { exporter, endpoint, serviceName, semconv: semconv === true };
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function refuseStart({ catalog }: Program, error: unknown): never {
  if (!(error instanceof PackageError)) throw error;
  throw new StartError(`${catalog.file} asks for spans (observability.tracing): ${error.message}`, EXIT.USAGE);
}
