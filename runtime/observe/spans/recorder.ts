/**
 * Calls and their steps on their way to spans. A call is part of the trace that its caller names, else of one of its
 * own. Where the caller does not record its trace, neither do we.
 */
import type { Program } from "../../abi/call.js";
import { planId } from "../../abi/fingerprint.js";
import type { CallObserver, ObservedCall } from "../../abi/observer.js";
import type { ToolPlan } from "../../abi/plan.js";
import type { SpanIds } from "./ids.js";
import { toolAttributes } from "./names.js";
import { type OwnIds, type Span, spansOf, type SpanSubject } from "./span.js";

/** Takes the spans of a call that has ended; neither waits nor throws. */
export interface SpanSink {
  add(spans: readonly Span[]): void;
}

export interface SpanRecorder {
  readonly observer: CallObserver;
  /** The span of a call that ends, for observers before this one; `null` for a call that is not recorded. */
  spanOf(call: ObservedCall): OwnIds | null;
}

/** @param isSuppressed whether the code that runs now wants no spans, as an application says in its context; `null` where no application runs in this process. */
export function createSpanRecorder(program: Pick<Program, "catalog">, settings: Pick<SpanSubject, "semconv" | "transport">, sink: SpanSink, ids: SpanIds, isSuppressed: (() => boolean) | null = null): SpanRecorder {
  const subjectOf = subjectTable(program, settings);
  // The context is that of the caller when a call begins; where it ends, it may be a pool's.
  const suppressed = isSuppressed === null ? null : new WeakSet<ObservedCall>();
  const isRecorded = (call: ObservedCall): boolean => (call.trace === null || call.trace.sampled) && suppressed?.has(call) !== true;
  // Observers of a call end one after another: only the call that ends now can have been asked for.
  let asked: { readonly call: ObservedCall; readonly span: OwnIds } | null = null;
  const idsOf = ({ trace }: ObservedCall): OwnIds => ({ traceId: trace?.traceId ?? ids.traceId(), spanId: ids.spanId() });
  return {
    spanOf(call) {
      if (!isRecorded(call)) return null;
      if (asked === null || asked.call !== call) asked = { call, span: idsOf(call) };
      return asked.span;
    },
    observer: {
      ...(isSuppressed === null ? {} : { begin: (call) => void (isSuppressed() && suppressed?.add(call)) }),
      steps: { begin: () => undefined, end: () => undefined },
      end(call) {
        if (!isRecorded(call)) return;
        const span = asked !== null && asked.call === call ? asked.span : idsOf(call);
        asked = null;
        sink.add(spansOf(call, subjectOf(call), span, ids));
      },
    },
  };
}

/** What is the same for all calls of a tool is made once. */
function subjectTable({ catalog }: Pick<Program, "catalog">, settings: Pick<SpanSubject, "semconv" | "transport">): (call: ObservedCall) => SpanSubject {
  const subjects = new Map<string | null, SpanSubject>();
  return ({ tool: called, plan }) => {
    const tool = plan === null ? null : called;
    const before = subjects.get(tool);
    if (before !== undefined) return before;
    const made = { ...settings, tool, attributes: tool === null || plan === null ? {} : attributesOf(tool, plan, catalog, settings) };
    subjects.set(tool, made);
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
