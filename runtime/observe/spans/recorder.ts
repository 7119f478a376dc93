/**
 * Calls and their steps as spans. A call is part of the trace that its caller names, else of one of its own. Where the
 * caller does not record its trace, neither do we. Spans are made when the call has ended.
 */
import type { Program } from "../../abi/call.js";
import { planId } from "../../abi/fingerprint.js";
import type { CallObserver, ObservedCall, ObservedStep } from "../../abi/observer.js";
import type { ToolPlan } from "../../abi/plan.js";
import type { SpanIds } from "./ids.js";
import { toolFacts, type ToolFacts } from "./names.js";
import { CallSpan, StepSpan, type SpanSettings } from "./span.js";

/** Takes ended spans; neither waits nor throws. */
export interface SpanSink {
  add(span: CallSpan | StepSpan): void;
}

export interface SpanRecorder {
  readonly observer: CallObserver;
  /** The span of a call that runs or has just ended; `null` for one that is not recorded. */
  spanOf(call: ObservedCall): { readonly traceId: string; readonly spanId: string } | null;
}

interface OpenCall {
  readonly traceId: string;
  readonly spanId: string;
  readonly steps: ObservedStep[];
}

export function createSpanRecorder(program: Pick<Program, "catalog" | "plans">, settings: SpanSettings, sink: SpanSink, ids: SpanIds): SpanRecorder {
  const open = new Map<ObservedCall, OpenCall>();
  const factsOf = factsTable(program, settings);
  return {
    spanOf: (call) => open.get(call) ?? null,
    observer: {
      begin(call) {
        const { trace } = call;
        if (trace !== null && !trace.sampled) return;
        open.set(call, { traceId: trace === null ? ids.traceId() : trace.traceId, spanId: ids.spanId(), steps: [] });
      },
      steps: {
        begin: (call, step) => void open.get(call)?.steps.push(step),
        end: () => undefined,
      },
      end(call) {
        const state = open.get(call);
        if (state === undefined) return;
        open.delete(call);
        const { traceId, spanId, steps } = state;
        for (const step of steps) sink.add(new StepSpan(settings, { traceId, spanId: ids.spanId() }, call, step, spanId));
        sink.add(new CallSpan(settings, { traceId, spanId }, call, factsOf(call), call.trace === null ? null : call.trace.spanId));
      },
    },
  };
}

/** What is the same for all calls of a tool is made once. */
function factsTable({ catalog }: Pick<Program, "catalog" | "plans">, { transport }: SpanSettings): (call: ObservedCall) => ToolFacts | null {
  const facts = new Map<string, ToolFacts>();
  return ({ tool, plan }) => {
    if (plan === null) return null;
    const before = facts.get(tool);
    if (before !== undefined) return before;
    const read = readOf(plan);
    const made = toolFacts({
      tool, planId: planId(plan), catalogHash: catalog.hash, catalogVersion: catalog.version ?? null,
      connection: read.connection, collection: "collection" in read && typeof read.collection === "string" ? read.collection : null, tenantMode: read.tenant?.from ?? null,
    }, transport);
    facts.set(tool, made);
    return made;
  };
}

function readOf(plan: ToolPlan) {
  return plan.kind === "pipeline" ? plan.retrieve : plan;
}
