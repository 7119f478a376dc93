/** Programs whose calls are audited, with sinks that a test can read. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import type { Caller, Engine, Program, ServePlan } from "../../../runtime/abi/call.js";
import type { Json, PlanTable } from "../../../runtime/abi/plan.js";
import type { Adapter } from "../../../runtime/adapters/adapter.js";
import { createEngine } from "../../../runtime/call/engine.js";
import type { LogFields } from "../../../runtime/observe/log.js";
import { createAudit, type Audit } from "../../../runtime/observe/audit/open.js";
import type { AuditEvent } from "../../../runtime/observe/audit/event.js";
import type { AuditFlags } from "../../../runtime/observe/audit/settings.js";
import { memoryAdapter, program } from "../../call/program.js";

export const ROWS = [{ _id: "row-one", name: "a", owner: "ann", secret: "row-secret" }, { _id: 2, name: "b", owner: "ann", secret: "row-secret" }];
const read = { connection: "main", collection: "things", guard: { path: "owner", op: "eq", value: "ann" }, bind: [{ arg: "name", path: "name", op: "eq" }], limit: { arg: "limit", default: 5, max: 9 }, output: { id: true, score: true } } as const;
export const PLANS: PlanTable = {
  find: { kind: "search", ...read, query: { arg: "query", required: true, embedding: "default", mode: "dense" } },
  list: { kind: "scroll", ...read },
  any: { kind: "scroll", ...read, collection: { arg: "collection", allowed: ["things"] } },
  owned: { kind: "scroll", ...read, tenant: { from: "claim", name: "org", path: "org", enforce: "strict" } },
  names: { kind: "meta", connection: "main" },
  piped: { kind: "pipeline", retrieve: { connection: "main", collection: "things", bind: [], overfetch_factor: 2, max_candidates: 10 }, limit: read.limit, output: read.output, steps: [{ kind: "project", fields: ["name"] }] },
};

/** Lines of a log, as a test reads them. */
export function memoryLog() {
  const lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];
  const at = (level: string) => (message: string, fields: LogFields = {}): void => void lines.push({ level, message, fields });
  return { lines, log: { error: at("error"), warn: at("warn") } };
}

export interface AuditedWorld {
  readonly engine: Engine;
  readonly audit: Audit;
  readonly log: ReturnType<typeof memoryLog>["lines"];
  /** Ends audit and returns what is in standard output. */
  ended(): Promise<readonly { readonly [key: string]: Json }[]>;
}

export interface AuditedParts {
  /** The plan of observability.audit. */
  readonly audit?: Json;
  readonly settings?: ServePlan;
  readonly flags?: AuditFlags | null;
  readonly adapter?: Partial<Adapter>;
  readonly certificates?: Program["certificates"];
  readonly base?: string;
}

export function audited({ audit: plan = { sink: "stdout" }, settings = {}, flags = null, adapter = {}, certificates, base = "/" }: AuditedParts = {}): AuditedWorld {
  const served = {
    ...program({ plans: PLANS, adapter: memoryAdapter(ROWS, adapter), settings: { ...settings, observability: { audit: plan } }, validators: { list: z.object({ name: z.string().optional(), password: z.string().optional(), deep: z.unknown().optional() }) } }),
    ...(certificates === undefined ? {} : { certificates }), base: pathToFileURL(base.endsWith("/") ? base : `${base}/`),
  };
  const { lines, log } = memoryLog();
  let text = "";
  const audit = createAudit({ flags, log, now: () => 1_700_000_000_000, stdout: () => ({ write: (more, done) => { text += more; done(); } }) });
  const observer = audit.observe({ program: served, settings: served.settings, scrub: (message) => message });
  const engine = createEngine(served, { env: new Map(), metaTools: true, observing: observer === null ? null : { observer, wallNow: () => 1_700_000_000_000 } });
  return {
    engine, audit, log: lines,
    async ended() {
      await audit.close(5000);
      return linesOf(text);
    },
  };
}

export function linesOf(text: string): readonly { readonly [key: string]: Json }[] {
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as { readonly [key: string]: Json });
}

/** How a call ended, whatever way it did. */
export async function ended(engine: Engine, tool: string, args: unknown, caller: Caller): Promise<void> {
  await new Promise<void>((over) => engine.run(tool, args, caller, { done: () => over(), doneExtra: () => over(), failed: () => over() }));
}

export function eventOf(n: number, more: Partial<AuditEvent> = {}): AuditEvent {
  return { body: `{"audit_version":"1","timestamp":"2026-01-31T12:00:00Z","request_id":"r${n}","tool":"find"`, tool: "find", requestId: `r${n}`, trace: null, rowIds: null, ...more };
}

/** A folder that is removed when the tests are over. */
export function temporary(suite: { after(hook: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-audit-"));
  suite.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
