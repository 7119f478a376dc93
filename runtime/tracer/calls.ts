/**
 * The tool server's own calls as events: a run for each call, under its request id, with a step for each use of an
 * embedder or a store and for each step of a pipeline. A run's id in the trace is the id in the logs.
 */
import type { Program } from "../abi/call.js";
import { planId as planIdOf, shortHash } from "../abi/fingerprint.js";
import type { ExplainedTool, ExplainedTools } from "../abi/explained.js";
import type { CallObserver, CallOutcome, ObservedCall, ObservedStep } from "../abi/observer.js";
import type { ToolPlan } from "../abi/plan.js";
import { argumentRules, type KeptArguments } from "../observe/arguments.js";
import type { TraceEvent, TraceSink } from "./sink.js";

export interface CallRecorderOptions {
  readonly sink: TraceSink;
  readonly program: Pick<Program, "catalog" | "plans" | "settings">;
  /** Name of the server, as clients know it. */
  readonly server: string;
  /** What is shown of the tools beside their calls; `null` until it is loaded, and where there is nothing. */
  readonly explained?: () => ExplainedTools | null;
  /** Ids of steps. */
  readonly newId: () => string;
  /** A run begins. Must not throw. */
  readonly onRun?: (runId: string) => void;
}

/** What is known of a call while it runs. */
interface OpenCall {
  readonly kept: KeptArguments;
  readonly common: { readonly [field: string]: unknown };
  readonly steps: Map<ObservedStep, string>;
}

const SUMMARY_ARGS = 300;
/** Of the start of a call: an `ExplainedTool`, which the pages show as the plan of the step. */
const PLAN_ATTRIBUTE = "toolsrv.plan";

/** An observer that emits events; it neither waits nor throws, as its sink. */
export function createCallRecorder(options: CallRecorderOptions): CallObserver {
  const { sink, program, server, newId } = options;
  const rules = argumentRules(program.settings);
  const catalog = { file: program.catalog.file, hash: program.catalog.hash, version: program.catalog.version ?? null };
  const identities = new Map<ToolPlan | null, Identity>();
  // A plan is that of one tool, so what is constant of its calls is made once.
  const identityOf = (plan: ToolPlan | null, tool: string): Identity => {
    const before = identities.get(plan);
    if (before !== undefined) return before;
    const explained = options.explained?.() ?? null;
    const made = identify(plan, program.catalog, plan === null || explained === null || !Object.hasOwn(explained, tool) ? null : (explained[tool] ?? null));
    // Calls that come before it is loaded are recorded without it.
    if (options.explained === undefined || explained !== null) identities.set(plan, made);
    return made;
  };
  const open = new Map<ObservedCall, OpenCall>();

  return {
    begin(call) {
      const kept = rules.keep(call.tool, call.plan, call.args);
      if (kept === null) return;
      const { requestId, tool } = call;
      const identity = identityOf(call.plan, tool);
      const common = { run_id: requestId, root_run_id: requestId, tool_name: tool, mcp_server: server };
      open.set(call, { kept, common, steps: new Map() });
      options.onRun?.(requestId);
      sink.emit({
        ...common, event_type: "tool_start", timestamp: call.startedAt, summary: `${tool}(${clip(kept.json)})`,
        tags: identity.tags, session_id: call.session, user_id: call.principal,
        attributes: { "toolsrv.request_id": requestId, ...identity.attributes },
        // Payloads are searched, attributes are not.
        payload: { input: JSON.parse(kept.json) as unknown, request_id: requestId, plan_id: identity.planId, catalog },
      });
    },
    steps: {
      begin(call, step) {
        const state = open.get(call);
        if (state === undefined) return;
        const id = newId();
        state.steps.set(step, id);
        sink.emit(stepEvent(call, step, id, "start", step.startedMs));
      },
      end(call, step) {
        const id = open.get(call)?.steps.get(step);
        if (id !== undefined) sink.emit(stepEvent(call, step, id, step.failure === null ? "end" : "error", step.endedMs));
      },
    },
    end(call) {
      const state = open.get(call);
      open.delete(call);
      if (state === undefined || call.outcome === null) return;
      sink.emit({ ...state.common, timestamp: timeOf(call, call.endedMs), ...endOf(call.tool, call.outcome, state.kept) });
    },
  };
}

interface Identity {
  readonly planId: string | null;
  readonly tags: readonly string[];
  readonly attributes: { readonly [name: string]: unknown };
}

/** What a plan is found by; the same for all calls of a tool. */
function identify(plan: ToolPlan | null, catalog: Program["catalog"], explained: ExplainedTool | null): Identity {
  const planId = plan === null ? null : planIdOf(plan);
  const read = plan === null || plan.kind === "meta" ? null : plan.kind === "pipeline" ? plan.retrieve : plan;
  const connection = read?.connection ?? (plan?.kind === "meta" ? plan.connection : null);
  const version = catalog.version ?? null;
  const hash = shortHash(catalog.hash);
  const tags = [`catalog:${hash}`, ...(version === null ? [] : [`version:${version}`]), ...(connection === null ? [] : [`connection:${connection}`]), ...(planId === null ? [] : [`plan:${planId}`])];
  return {
    planId, tags,
    attributes: {
      "toolsrv.catalog.hash": catalog.hash,
      ...(version === null ? {} : { "toolsrv.catalog.version": version }),
      ...(planId === null ? {} : { "toolsrv.plan.id": planId, "toolsrv.plan.kind": plan?.kind }),
      ...(connection === null ? {} : { "toolsrv.connection": connection }),
      ...(typeof read?.collection === "string" ? { "toolsrv.collection": read.collection } : {}),
      ...(explained === null ? {} : { [PLAN_ATTRIBUTE]: explained }),
    },
  };
}

/** Counts and codes; rows are not known here. */
function endOf(tool: string, outcome: CallOutcome, kept: KeptArguments): TraceEvent {
  if (outcome.kind === "ok") {
    const { count, truncated, mayBeIncomplete, exact, searchMode, warnings } = outcome;
    return {
      event_type: "tool_end", summary: `${tool} → ${counted(count, "row")}${warnings.length === 0 ? "" : `, ${warnings.join(" ")}`}`,
      payload: { output: { count, truncated, may_be_incomplete: mayBeIncomplete, exact_search: exact, search_mode: searchMode, warnings } },
    };
  }
  const message = kept.clean(outcome.message);
  return { event_type: "tool_error", error_message: `${outcome.code}: ${message}`, payload: { error: message, code: outcome.code } };
}

/** A read of a store is a retriever; everything else is a link of the chain. */
function stepEvent(call: ObservedCall, step: ObservedStep, id: string, side: "start" | "end" | "error", atMs: number): TraceEvent {
  const { kind, operation, target, attributes, count, failure } = step;
  const name = kind === "pipeline" ? operation : `${operation} ${target}`;
  const limit = attributes["limit"];
  const result = side === "end" ? ` → ${counted(count ?? 0, kind === "embed" ? "vector" : "row")}` : side === "start" && limit !== undefined ? ` limit ${limit}` : "";
  return {
    run_id: id, parent_run_id: call.requestId, root_run_id: call.requestId, event_type: `${kind === "store" ? "retriever" : "chain"}_${side}`,
    timestamp: timeOf(call, atMs), agent_name: name, summary: `${name}${result}`,
    ...(side === "start" ? { attributes } : {}), ...(kind === "embed" ? { model: String(attributes["model"]) } : {}),
    ...(failure === null ? {} : { error_message: failure }),
  };
}

/** Milliseconds since the epoch, with the fraction that the monotonic clock knows. */
function timeOf(call: ObservedCall, atMs: number): number {
  return call.startedAt + (atMs - call.startedMs);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function clip(text: string): string {
  return text.length <= SUMMARY_ARGS ? text : `${text.slice(0, SUMMARY_ARGS)}…`;
}
