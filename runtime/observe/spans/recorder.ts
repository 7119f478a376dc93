/**
 * Calls and their steps on their way to spans. A call is part of the trace that its caller names, else of one of its
 * own. Where the caller does not record its trace, neither do we.
 */
import type { Program } from "../../abi/call.js";
import { planId } from "../../abi/fingerprint.js";
import type { CallObserver, ObservedCall, ObservedStep } from "../../abi/observer.js";
import type { ToolPlan } from "../../abi/plan.js";
import { callTrace, type CallTrace, type SpanSubject } from "./call-trace.js";
import type { SpanIds } from "./ids.js";
import { toolAttributes } from "./names.js";

/** Takes calls that have ended; neither waits nor throws. */
export interface SpanSink {
  /** The number that calls name a subject by. */
  subject(subject: SpanSubject): number;
  add(trace: CallTrace): void;
}

export interface SpanRecorder {
  readonly observer: CallObserver;
  /** The span of a call that runs or has just ended; `null` for one that is not recorded. */
  spanOf(call: ObservedCall): { readonly traceId: string; readonly spanId: string } | null;
}

interface OpenCall {
  readonly traceId: string;
  readonly spanId: string;
  steps: ObservedStep[] | null;
}

const NO_STEPS: readonly ObservedStep[] = [];

export function createSpanRecorder(program: Pick<Program, "catalog">, settings: Pick<SpanSubject, "semconv" | "transport">, sink: SpanSink, ids: SpanIds): SpanRecorder {
  const open = new Map<ObservedCall, OpenCall>();
  const subjectOf = subjectTable(program, settings, sink);
  return {
    spanOf: (call) => open.get(call) ?? null,
    observer: {
      begin(call) {
        const { trace } = call;
        if (trace !== null && !trace.sampled) return;
        open.set(call, { traceId: trace === null ? ids.traceId() : trace.traceId, spanId: ids.spanId(), steps: null });
      },
      steps: {
        begin(call, step) {
          const state = open.get(call);
          if (state !== undefined) (state.steps ??= []).push(step);
        },
        end: () => undefined,
      },
      end(call) {
        const state = open.get(call);
        if (state === undefined) return;
        open.delete(call);
        sink.add(callTrace(call, subjectOf(call), state, state.steps ?? NO_STEPS));
      },
    },
  };
}

/** What is the same for all calls of a tool is made once. */
function subjectTable({ catalog }: Pick<Program, "catalog">, settings: Pick<SpanSubject, "semconv" | "transport">, sink: SpanSink): (call: ObservedCall) => number {
  const numbers = new Map<ToolPlan | null, Map<string, number>>();
  return ({ tool: called, plan }) => {
    const tool = plan === null ? "" : called;
    const ofPlan = numbers.get(plan) ?? new Map<string, number>();
    numbers.set(plan, ofPlan);
    const before = ofPlan.get(tool);
    if (before !== undefined) return before;
    const made = sink.subject({ ...settings, tool: plan === null ? null : tool, attributes: plan === null ? {} : attributesOf(tool, plan, catalog, settings) });
    ofPlan.set(tool, made);
    return made;
  };
}

function attributesOf(tool: string, plan: ToolPlan, catalog: Program["catalog"], { transport }: Pick<SpanSubject, "transport">): SpanSubject["attributes"] {
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  return toolAttributes({
    tool, planId: planId(plan), catalogHash: catalog.hash, catalogVersion: catalog.version ?? null,
    connection: read.connection, collection: "collection" in read && typeof read.collection === "string" ? read.collection : null, tenantMode: read.tenant?.from ?? null,
  }, transport);
}
