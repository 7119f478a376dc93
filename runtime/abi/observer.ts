/**
 * What watches the calls of a program: the trace recorder, and by the same seam audit, metrics and spans. A call and
 * each of its steps are told as records of one shape, so that every watcher takes what it needs from the same place.
 * Records hold counts and codes, never rows: what a watcher is not given it can't leak. Arguments are as the caller
 * sent them; a watcher that keeps them redacts them first (runtime/observe/redact.ts).
 */
import type { ToolPlan } from "./plan.js";

/** Watches calls. No method may throw, wait or change what it is given. */
export interface CallObserver {
  /** A call came in; nothing of it is checked yet. */
  begin(call: ObservedCall): void;
  /** A step of the call begins, and ends; not told any more once its call has ended. */
  beginStep(call: ObservedCall, step: ObservedStep): void;
  endStep(call: ObservedCall, step: ObservedStep): void;
  /** Once for each call, however it ended; `outcome` is set. */
  end(call: ObservedCall): void;
}

/** One call. Times in milliseconds of the engine's monotonic clock. */
export interface ObservedCall {
  /** As in logs. */
  readonly requestId: string;
  /** Calls of one connection have the same one; `null` where there are no connections that last. */
  readonly session: string | null;
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
}

/** How a call ended, in the words of its caller. */
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

/** One observer for several; `null` for none, which is what costs nothing. */
export function observeWith(observers: readonly CallObserver[]): CallObserver | null {
  const [first] = observers;
  if (first === undefined) return null;
  if (observers.length === 1) return first;
  return {
    begin: (call) => observers.forEach((observer) => observer.begin(call)),
    beginStep: (call, step) => observers.forEach((observer) => observer.beginStep(call, step)),
    endStep: (call, step) => observers.forEach((observer) => observer.endStep(call, step)),
    end: (call) => observers.forEach((observer) => observer.end(call)),
  };
}
