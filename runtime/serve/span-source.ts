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
  /** `null` when the catalog does not ask for spans. */
  record(program: Program): SpanRecorder | null;
  close(): Promise<void>;
}

const TRANSPORTS = { http: "tcp", stdio: "pipe" } as const;

/** @throws StartError when a package is missing; ToolError tds_invalid for an endpoint that is no address. */
export async function createSpanSource(options: ObservabilityOptions): Promise<SpanSource> {
  const { env, log, learned, io, transport } = options;
  const pipelines = new Map<string, SpanPipeline>();
  const ids = createSpanIds();
  const pipelineOf = (program: Program, { exporter, endpoint, serviceName }: TracingSettings): { readonly pipeline: SpanPipeline; readonly isNew: boolean } => {
    const key = JSON.stringify([exporter, exporter === "otlp" ? endpoint : "", serviceName]);
    const before = pipelines.get(key);
    if (before !== undefined) return { pipeline: before, isNew: false };
    const pipeline = new SpanPipeline({
      kind: exporter, endpoint, serviceName, version: version(), base: fileURLToPath(program.base), log, scrub: createScrub(program, env, learned), write: io.note, now: io.now,
    });
    pipelines.set(key, pipeline);
    return { pipeline, isNew: true };
  };
  for (const { program } of options.projects) {
    const settings = tracingOf(program, env);
    if (settings === null) continue;
    const { pipeline, isNew } = pipelineOf(program, settings);
    if (isNew) await pipeline.start().catch((error: unknown) => refuseStart(program, error));
  }
  return {
    record(program) {
      const settings = tracingOf(program, env);
      if (settings === null) return null;
      const { pipeline, isNew } = pipelineOf(program, settings);
      // A reload that turns spans on: the first ones wait for the packages.
      if (isNew) void pipeline.start().catch((error: unknown) => log.error("spans cannot be exported", { error }));
      return createSpanRecorder(program, { semconv: settings.semconv, transport: transport === null ? null : TRANSPORTS[transport] }, pipeline, ids);
    },
    async close() {
      await Promise.all([...pipelines.values()].map((pipeline) => pipeline.close()));
    },
  };
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
