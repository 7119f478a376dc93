/** Steps that a call can do without: their failure is a warning of the result, never the end of the call. */
import type { CallContext } from "../../abi/call.js";
import type { Code } from "../../abi/codes.js";

/** Longer is no time limit for a timer. */
const MAX_STEP_MS = 3_600_000;

export interface Optional<T> {
  /** Part of the plan that the step is of. */
  readonly part: object;
  readonly code: Code;
  /** Name of the step for observers. */
  readonly operation: string;
  /** What of the time that the call has left the step may take: a provider that hangs must leave time for an answer. */
  readonly share: number;
  readonly work: (signal: AbortSignal) => Promise<T>;
  readonly count: (result: T) => number;
}

/**
 * What the step returns, or `null` when it failed; then its code is among the warnings of the call.
 * @throws the reason of the call's own signal when that aborts.
 */
export async function tryStep<T>({ part, code, operation, share, work, count }: Optional<T>, call: CallContext): Promise<T | null> {
  const { signal, services, watch } = call;
  const leftMs = call.deadlineMs - (services.now() - call.startedMs);
  const step = watch?.step("pipeline", operation, call.tool, { step_kind: operation });
  try {
    const result = await work(AbortSignal.any([signal, AbortSignal.timeout(Math.min(MAX_STEP_MS, Math.max(1, Math.floor(leftMs * share))))]));
    step?.end(count(result));
    services.degraded(part, code, null);
    return result;
  } catch (error) {
    step?.fail(error);
    signal.throwIfAborted();
    services.degraded(part, code, error);
    if (!call.warnings.includes(code)) call.warnings.push(code);
    return null;
  }
}
