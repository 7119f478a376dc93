/**
 * Pipelines: retrieve more than was asked for, run the steps, and retrieve more again while too little is left.
 * How much is retrieved is bounded by the catalog alone; the caller's limit bounds only what is returned.
 */
import type { BoundRead, CallArgs, CallContext, CallRows, CallWatch } from "../../abi/call.js";
import type { PipelinePlan, PipelineStep } from "../../abi/plan.js";
import { bindLimit } from "../steps/bind.js";
import type { ExprScope } from "./expression.js";
import { redactRows } from "../steps/redact.js";
import { rerankRows } from "../steps/rerank.js";
import { search } from "../steps/search.js";
import { needsAllRows, runStep } from "./steps.js";

/** Result warning: a comparison of a post_filter met a null, so it did not hold. */
const NULL_COMPARED = "VB4002";

/** How many times a pipeline retrieves: the second time three times as much, the last time all it may. */
const ATTEMPTS = 3;
const WIDENING = 3;

/**
 * The rows of a pipeline, at most as many as the caller asked for. `mayBeIncomplete` says that the store had more
 * candidates than the catalog allows to look at, and that they could have changed the result, or that the search itself
 * may have missed some.
 */
export async function pipeline(plan: PipelinePlan, bound: BoundRead, args: CallArgs, call: CallContext): Promise<CallRows> {
  const requested = bindLimit(plan.limit, args);
  const { max_candidates: most, overfetch_factor: factor } = plan.retrieve;
  const { rerank } = plan;
  const ordering = plan.steps.some(needsAllRows);
  // Without a ranking, the first candidates are any candidates: to sort or group them, all are needed.
  let k = ordering && bound.text === null ? most : Math.min(Math.max(requested * factor, bound.text === null ? 0 : (rerank?.retrieve_k ?? 0)), most);
  for (let attempt = 1; ; attempt++) {
    const found = await search({ ...bound, limit: k }, call);
    const redacted = await redactRows(found.rows, plan.output, call);
    const ranked = rerank === undefined || bound.text === null ? redacted : await rerankRows(rerank, redacted, bound.text, call);
    const rows = runSteps(plan, ranked, args, call);
    const exhausted = found.rows.length < k;
    if (exhausted || rows.length >= requested || k >= most) {
      const cutShort = !exhausted && (rows.length < requested || (ordering && bound.text === null));
      return { ...found, rows: rows.slice(0, requested), mayBeIncomplete: cutShort || found.mayBeIncomplete, redacted: true };
    }
    k = attempt >= ATTEMPTS - 1 ? most : Math.min(k * WIDENING, most);
  }
}

function runSteps(plan: PipelinePlan, retrieved: CallRows["rows"], args: CallArgs, call: CallContext): CallRows["rows"] {
  let comparedNull = false;
  const scope = { args, onNull: () => void (comparedNull = true) };
  const { watch } = call;
  const rows = plan.steps.reduce((left, step) => (watch === null ? runStep(step, left, scope) : watchStep(watch, step, left, scope, call.tool)), retrieved);
  if (comparedNull && !call.warnings.includes(NULL_COMPARED)) call.warnings.push(NULL_COMPARED);
  call.signal.throwIfAborted();
  return rows;
}

function watchStep(watch: CallWatch, step: PipelineStep, rows: CallRows["rows"], scope: ExprScope, tool: string): CallRows["rows"] {
  const observed = watch.step("pipeline", step.kind, tool, { step_kind: step.kind, rows_in: rows.length });
  try {
    const left = runStep(step, rows, scope);
    observed.end(left.length);
    return left;
  } catch (error) {
    observed.fail(error);
    throw error;
  }
}
