/** Audit of the programs of one process: a sink and a queue for each target, shared by the catalogs that name it. */
import type { Program, ServePlan } from "../../abi/call.js";
import { ToolError } from "../../abi/errors.js";
import type { CallObserver } from "../../abi/observer.js";
import type { Scrub } from "../credentials.js";
import type { Log } from "../log.js";
import { eventWriter, type EvidenceOf } from "./event.js";
import { fileSink } from "./file.js";
import { httpSink } from "./http.js";
import { otlpSink } from "./otlp.js";
import { createAuditQueue, type AuditQueue } from "./queue.js";
import { auditSettings, type AuditFlags, type AuditSettings, type AuditTarget } from "./settings.js";
import type { AuditSink } from "./sink.js";
import { streamSink, type AuditStream } from "./stream.js";

export interface AuditOptions {
  readonly flags: AuditFlags | null;
  /** Standard output; `null` where a protocol has it. */
  readonly stdout: (() => AuditStream) | null;
  readonly log: Pick<Log, "error" | "warn">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A program with the references of its settings filled. */
export interface AuditedProgram {
  readonly program: Pick<Program, "catalog" | "plans" | "certificates" | "base">;
  readonly settings: ServePlan;
  readonly scrub: Scrub;
}

export interface Audit {
  /**
   * Observes the calls of a program; `null` when nothing asks for it.
   * @throws ToolError tds_invalid for settings that cannot be in force.
   */
  observe(audited: AuditedProgram): CallObserver | null;
  /** Opens what can be opened before the first call that needs it. @throws ToolError tds_invalid; what failed is forgotten. */
  prepare(): Promise<void>;
  /** Records that were lost since the start. */
  dropped(): number;
  /** Writes what waits, for up to `graceMs`. */
  close(graceMs: number): Promise<void>;
}

interface Opened {
  isPrepared: boolean;
  readonly sink: AuditSink;
  readonly queue: AuditQueue;
  readonly chain: boolean;
}

/** Opens nothing yet. */
export function createAudit(options: AuditOptions): Audit {
  const opened = new Map<string, Opened>();
  const openFor = ({ target, chain }: AuditSettings, scrub: Scrub): Opened => {
    const key = keyOf(target);
    const before = opened.get(key);
    if (before !== undefined) {
      if (before.chain !== chain) throw new ToolError("tds_invalid", `audit: ${before.sink.name} is written with a chain and without one; give each catalog a file of its own, and restart the server after a change of chain`);
      return before;
    }
    const sink = sinkOf(target, options);
    const explain = (error: unknown): string => scrub(textOf(error));
    const made = { isPrepared: false, sink, chain, queue: createAuditQueue({ sink, log: options.log, explain }) };
    opened.set(key, made);
    return made;
  };
  return {
    observe({ program, settings, scrub }) {
      const found = auditSettings(settings, options.flags, program.base);
      if (found === null) return null;
      const evidence = found.chain ? evidenceOf(program) : null;
      const { queue } = openFor(found, scrub);
      const write = eventWriter(settings, found.include, evidence);
      return {
        ...(evidence === null ? {} : { evidence: true as const }),
        end(call) {
          const event = write(call);
          if (event !== null) queue.add(event);
        },
      };
    },
    async prepare() {
      await Promise.all([...opened].filter(([, { isPrepared }]) => !isPrepared).map(async ([key, added]) => {
        try {
          await added.sink.prepare();
          added.isPrepared = true;
        } catch (error) {
          opened.delete(key);
          throw error;
        }
      }));
    },
    dropped: () => [...opened.values()].reduce((sum, { queue }) => sum + queue.dropped(), 0),
    close: async (graceMs) => void (await Promise.all([...opened.values()].map(({ queue }) => queue.close(graceMs)))),
  };
}

function evidenceOf({ catalog, plans, certificates }: AuditedProgram["program"]): EvidenceOf {
  const without = Object.keys(plans).find((tool) => certificates === undefined || !Object.hasOwn(certificates, tool));
  if (certificates === undefined || without !== undefined) throw new ToolError("tds_invalid", "audit: the program has no certificates for audit.chain; run 'toolsrv build' again");
  return { catalog: catalog.hash, certificates };
}

function keyOf(target: AuditTarget): string {
  return target.kind === "stdout" ? "stdout" : target.kind === "file" ? `file ${target.path}` : `${target.kind} ${target.url.href}`;
}

function sinkOf(target: AuditTarget, { stdout, log, now }: AuditOptions): AuditSink {
  switch (target.kind) {
    case "stdout":
      if (stdout === null) throw new ToolError("tds_invalid", "audit: sink stdout cannot be used on stdio, where standard output has the protocol's messages; use sink file, http or otlp, or start with --audit-log FILE");
      return streamSink(stdout());
    case "file":
      return fileSink({ ...target, log, now });
    case "http":
      return httpSink(target);
    case "otlp":
      return otlpSink(target);
    default:
      return target satisfies never;
  }
}

/** What went wrong, with the cause that `fetch` hides. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? `${error.message}: ${error.cause.message}` : error.message;
}
