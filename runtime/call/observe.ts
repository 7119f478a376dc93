/**
 * Observing a call. Without an observer none of this runs. A call whose steps are observed gets services that report
 * each use of a store or an embedder, so that the steps themselves need not know.
 */
import type { TraceContext } from "../base/traceparent.js";
import type { CallEnd, CallServices, Caller, CallWatch, Envelope, Program, StepWatch } from "../abi/call.js";
import { isBackendError, isToolError } from "../abi/errors.js";
import type { Row } from "../abi/filter.js";
import { fingerprint } from "../abi/fingerprint.js";
import { observeWith, type CallEvidence, type CallObserver, type CallOutcome, type ObservedCall, type ObservedRead, type ObservedStep, type StepKind, type StepObserver } from "../abi/observer.js";
import type { ExtraResult } from "../abi/extra-tools.js";
import type { ToolPlan } from "../abi/plan.js";
import { ObservedServices, type UseWatch } from "./observed-services.js";
import { idOfRow } from "./row-id.js";

/** The observer of an engine's calls. */
export interface Observing {
  readonly observer: CallObserver;
  /** Milliseconds since the epoch. */
  readonly wallNow: () => number;
  /** Observe only the end of calls that fail: a call that succeeds costs nothing. */
  readonly failuresOnly?: boolean;
}

interface Observed {
  readonly program: Program;
  readonly services: CallServices;
}

const NOTHING = (): void => undefined;

/** Observing for one call whose caller has a callback for its steps. */
export function withStepCallback(observing: Observing | null, onStep: (step: ObservedStep) => void): Observing {
  const steps: CallObserver = {
    steps: {
      begin: NOTHING,
      end: (_, step) => {
        if (step.failure === null) onStep(step);
      },
    },
    end: NOTHING,
  };
  if (observing === null) return { observer: steps, wallNow: () => 0 };
  return { ...observing, observer: observeWith([observing.observer, steps]) ?? steps };
}

/** An observed call: takes its end, reports it and passes it on unchanged. */
export class ObservedRun implements CallEnd {
  readonly services: CallServices;
  readonly watch: CallWatch | null;
  private readonly call: CallRecord;
  private readonly steps: Watch | null;
  private readonly observer: CallObserver;

  constructor({ program, services }: Observed, { observer, wallNow }: Observing, tool: string, args: unknown, caller: Caller, private readonly end: CallEnd) {
    this.observer = observer;
    const evidence = observer.evidence === true ? new Evidence() : null;
    this.call = new CallRecord(tool, planOf(program, tool), args, caller, wallNow(), services.now(), evidence);
    this.steps = observer.steps === undefined && evidence === null ? null : new Watch(observer.steps ?? null, this.call, evidence, services.now);
    this.watch = this.steps;
    this.services = this.steps === null ? services : new ObservedServices(program, services, this.steps);
    observer.begin?.(this.call);
  }

  done(envelope: Envelope): void {
    this.over(succeeded(envelope), null);
    this.end.done(envelope);
  }

  doneExtra(result: ExtraResult): void {
    this.over(succeededExtra(result), null);
    this.end.doneExtra(result);
  }

  failed(error: unknown): void {
    this.over(failed(error), error);
    this.end.failed(error);
  }

  private over(outcome: CallOutcome, error: unknown): void {
    const { call, steps } = this;
    call.outcome = outcome;
    call.endedMs = this.services.now();
    if (steps !== null) steps.over = true;
    this.observer.end(call, error);
  }
}

/** Reports the end of a failed call that was not observed before. */
export function observeFailure({ program, services }: Observed, { observer, wallNow }: Observing, tool: string, args: unknown, caller: Caller, startedMs: number, error: unknown): void {
  const endedMs = services.now();
  const call = new CallRecord(tool, planOf(program, tool), args, caller, wallNow() - (endedMs - startedMs), startedMs, null);
  call.outcome = failed(error);
  call.endedMs = endedMs;
  observer.end(call, error);
}

function planOf(program: Program, tool: string): ToolPlan | null {
  return Object.hasOwn(program.plans, tool) ? (program.plans[tool] ?? null) : null;
}

function succeeded({ count, truncated, may_be_incomplete, exact_search, search_mode, warnings }: Envelope): CallOutcome {
  return { kind: "ok", count, truncated, mayBeIncomplete: may_be_incomplete, exact: exact_search, searchMode: search_mode, warnings };
}

function succeededExtra(result: ExtraResult): CallOutcome {
  const count = "content" in result ? result.content.length : result.payload["count"];
  return { kind: "ok", count: typeof count === "number" ? count : 0, truncated: false, mayBeIncomplete: false, exact: true, searchMode: "none", warnings: [] };
}

/** What nobody expected keeps its text for the log. */
function failed(error: unknown): CallOutcome {
  return isToolError(error) ? { kind: "error", code: error.code, message: error.message } : { kind: "error", code: "internal", message: "internal error" };
}

/** What the caller would have to make first (its id, its trace) is asked of it when an observer wants it: metrics want none of it. */
class CallRecord implements ObservedCall {
  /** Private, so that nothing of a caller is in a copy of the record or in its JSON. */
  readonly #caller: Caller;
  endedMs = 0;
  outcome: CallOutcome | null = null;
  steps: readonly ObservedStep[] = NO_STEPS;

  constructor(
    readonly tool: string,
    readonly plan: ToolPlan | null,
    readonly args: unknown,
    caller: Caller,
    readonly startedAt: number,
    readonly startedMs: number,
    readonly evidence: CallEvidence | null,
  ) {
    this.#caller = caller;
  }

  get requestId(): string {
    return this.#caller.requestId;
  }

  get session(): string | null {
    return this.#caller.session ?? null;
  }

  get trace(): TraceContext | null {
    return this.#caller.trace ?? null;
  }

  get principal(): string | null {
    return this.#caller.principal.id;
  }
}

const NO_STEPS: readonly ObservedStep[] = [];

/** Collects the evidence of one call. */
class Evidence implements CallEvidence {
  readonly reads: ObservedRead[] = [];
  rowIds: readonly (string | number)[] = [];
}

/** The steps of one call on their way to the observer, and its evidence. */
class Watch implements UseWatch {
  /** The call has ended; a step that others wait for may go on. */
  over = false;

  constructor(
    private readonly observer: StepObserver | null,
    private readonly call: CallRecord,
    private readonly evidence: Evidence | null,
    private readonly now: () => number,
  ) {}

  step(kind: StepKind, operation: string, target: string, attributes: ObservedStep["attributes"]): StepWatch {
    const { observer, call, now } = this;
    if (observer === null) return UNWATCHED;
    const step = { kind, operation, target, attributes, startedMs: now(), endedMs: 0, count: null as number | null, failure: null as string | null };
    if (!this.over) {
      call.steps = [...call.steps, step];
      observer.begin(call, step);
    }
    const close = (count: number | null, failure: string | null): void => {
      step.endedMs = now();
      step.count = count;
      step.failure = failure;
      if (!this.over) observer.end(call, step);
    };
    return { end: (count) => close(count, null), fail: (error) => close(null, codeOf(error)) };
  }

  read(connection: string, operation: string, native: () => unknown): void {
    if (this.evidence === null || this.over) return;
    let digest: string | null = null;
    try {
      const query = native();
      if (query !== null) digest = fingerprint(query);
    } catch {
      // The adapter says why when it is asked to run the query.
    }
    this.evidence.reads.push({ connection, operation, digest });
  }

  returned(rows: readonly Row[], count: number): void {
    if (this.evidence === null || this.over) return;
    this.evidence.rowIds = rows.slice(0, count).flatMap((row) => idOfRow(row) ?? []);
  }
}

/** A step that nobody observes. */
const UNWATCHED: StepWatch = { end: NOTHING, fail: NOTHING };

function codeOf(error: unknown): string {
  if (isToolError(error)) return error.code;
  return isBackendError(error) ? error.kind : "internal";
}
