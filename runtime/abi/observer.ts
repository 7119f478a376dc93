/**
 * Observers of the calls of a program: the call log and the trace recorder, and by the same interface audit, metrics
 * and spans. A call and each of its steps are records of one shape, so that every observer reads the same fields.
 * Records have counts and codes, never rows: an observer can't leak what it is not given. Arguments are as the caller
 * sent them; an observer that keeps them redacts them first (runtime/observe/arguments.ts).
 */
import type { TraceContext } from "../base/traceparent.js";
import type { ToolPlan } from "./plan.js";

/** Observes calls. No method may throw, wait or change its arguments. Without `steps` a call runs as if not observed. */
export interface CallObserver {
  /** A call came in; nothing of it is checked yet. */
  begin?(call: ObservedCall): void;
  readonly steps?: StepObserver;
  /** Whether calls need `ObservedCall.evidence`, which costs every read; absent is no. */
  readonly evidence?: true;
  /**
   * Once for each call, however it ended; `outcome` is set. `error` is what it failed with, `null` for a result: for the
   * log alone, because its text and its cause may hold anything.
   */
  end(call: ObservedCall, error: unknown): void;
}

/** Observes the steps of calls; not called any more for a call that has ended. */
export interface StepObserver {
  begin(call: ObservedCall, step: ObservedStep): void;
  end(call: ObservedCall, step: ObservedStep): void;
}

/** One call. Times in milliseconds of the engine's monotonic clock. */
export interface ObservedCall {
  /** As in logs. */
  readonly requestId: string;
  /** Calls of one connection have the same one; `null` where there are no connections that last. */
  readonly session: string | null;
  /** The trace that the caller is part of; `null` when it named none. */
  readonly trace: TraceContext | null;
  /** As called; there may be no such tool. */
  readonly tool: string;
  /** `null` for a tool that is not in the program. */
  readonly plan: ToolPlan | null;
  /** `null` when nobody was authenticated. */
  readonly principal: string | null;
  /** As sent, before they are validated. */
  readonly args: unknown;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly startedMs: number;
  /** 0 until the call has ended. */
  readonly endedMs: number;
  readonly outcome: CallOutcome | null;
  /** Those that began before the call ended, in their order; empty unless an observer has `steps`. */
  readonly steps: readonly ObservedStep[];
  /** `null` unless an observer of the call asks for evidence. */
  readonly evidence: CallEvidence | null;
}

/** What a call asked its stores and which rows it returned; an observer keeps digests of it and nothing else. */
export interface CallEvidence {
  /** In the order the reads began, those of directories too. */
  readonly reads: readonly ObservedRead[];
  /** Record ids of the returned rows, in their order. */
  readonly rowIds: readonly (string | number)[];
}

export interface ObservedRead {
  readonly connection: string;
  /** search, fetch, count or collections. */
  readonly operation: string;
  /** `fingerprint` of the native query as `--show-plan` shows it; `null` where the store has none to show. */
  readonly digest: string | null;
}

/** How a call ended, as its caller sees it. */
export type CallOutcome =
  | {
      readonly kind: "ok";
      readonly count: number;
      readonly truncated: boolean;
      readonly mayBeIncomplete: boolean;
      readonly exact: boolean;
      readonly searchMode: "dense" | "hybrid" | "none";
      readonly warnings: readonly string[];
    }
  /** `code` is one of the code table; what is no ToolError is "internal". */
  | { readonly kind: "error"; readonly code: string; readonly message: string };

/** Something a call waits for, or works on. */
export interface ObservedStep {
  readonly kind: StepKind;
  /** embed; search, fetch, count or collections of a store; the kind of a pipeline step. */
  readonly operation: string;
  /** Embedding: provider and model. Store: connection and collection. Pipeline: the tool. */
  readonly target: string;
  /** What a span of the step says of it: `limit`, `backend`, …; values are the catalog's or counts, never a caller's. */
  readonly attributes: { readonly [name: string]: string | number };
  readonly startedMs: number;
  /** 0 until the step has ended. */
  readonly endedMs: number;
  /** Rows or vectors that came out, or what a count counted; `null` when it failed. */
  readonly count: number | null;
  /** Code of what went wrong; `null` when nothing did. */
  readonly failure: string | null;
}

export type StepKind = "embed" | "store" | "pipeline";

/** One observer for several; `null` for none, which costs nothing. */
export function observeWith(observers: readonly CallObserver[]): CallObserver | null {
  const [first] = observers;
  if (first === undefined) return null;
  if (observers.length === 1) return first;
  const steps = observers.flatMap((observer) => observer.steps ?? []);
  return {
    ...(observers.some(({ evidence }) => evidence === true) ? { evidence: true } : {}),
    begin(call) {
      for (const observer of observers) observer.begin?.(call);
    },
    end(call, error) {
      for (const observer of observers) observer.end(call, error);
    },
    ...(steps.length === 0 ? {} : {
      steps: {
        begin: (call, step) => steps.forEach((each) => each.begin(call, step)),
        end: (call, step) => steps.forEach((each) => each.end(call, step)),
      },
    }),
  };
}
