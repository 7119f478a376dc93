/** Steps of a pipeline that take rows or fields away. */
import type { Condition } from "../../runtime/abi/filter.js";
import type { Expr, PipelineStep, ToolPlan } from "../../runtime/abi/plan.js";
import { covers } from "../../runtime/base/paths.js";
import { same, show, type Changes } from "./change.js";
import { impliedBy } from "./implication.js";
import { outputOf } from "./read.js";

/** Reports rows and fields that the steps took away before and no longer do. */
export function compareSteps(old: ToolPlan, next: ToolPlan, changes: Changes): void {
  const [before, after] = [stepsOf(old), stepsOf(next)];
  const held = after.flatMap(conditionsOf);
  for (const wanted of before.flatMap(conditionsOf)) {
    if (!isHeld(held, wanted)) changes.add("isolation-weakening", "post_filter", `rows no longer have to pass '${exprText(wanted)}'`);
  }
  const [seen, shown] = [visibleOf(old), visibleOf(next)];
  if (!before.some(({ kind }) => kind === "project") || seen === null) return;
  const added = shown?.filter((path) => !seen.some((field) => covers(field, path)));
  if (shown === null) changes.add("isolation-weakening", "project", `rows are no longer projected to ${show(seen)}`);
  else if (added !== undefined && added.length > 0) changes.add("isolation-weakening", "project", `rows also carry ${show(added)}, which the pipeline took away before`);
}

function stepsOf(plan: ToolPlan): readonly PipelineStep[] {
  return plan.kind === "pipeline" ? plan.steps : [];
}

/** The parts of a filter that each row has to pass. */
function conditionsOf(step: PipelineStep): readonly Expr[] {
  const split = (expr: Expr): readonly Expr[] => ("op" in expr && expr.op === "and" ? [...split(expr.l), ...split(expr.r)] : [expr]);
  return step.kind === "post_filter" ? split(step.expr) : [];
}

/** Whether rows that pass all of `held` are shown to pass `wanted`. */
function isHeld(held: readonly Expr[], wanted: Expr): boolean {
  if (held.some((each) => same(each, wanted) || impliesBound(each, wanted))) return true;
  if (!("op" in wanted)) return false;
  if (wanted.op === "or") return isHeld(held, wanted.l) || isHeld(held, wanted.r);
  return wanted.op === "and" && isHeld(held, wanted.l) && isHeld(held, wanted.r);
}

const BOUNDS: { readonly [op: string]: Condition["op"] } = { ">": "gt", ">=": "gte", "<": "lt", "<=": "lte" };

/** Bounds of one field by numbers are compared as those of a filter; anything else counts only when it is the same. */
function impliesBound(held: Expr, wanted: Expr): boolean {
  const [a, b] = [boundOf(held), boundOf(wanted)];
  return a !== null && b !== null && impliedBy([a], b);
}

function boundOf(expr: Expr): Condition | null {
  if (!("op" in expr) || !("field" in expr.l) || !("lit" in expr.r) || typeof expr.r.lit !== "number") return null;
  const op = BOUNDS[expr.op];
  return op === undefined ? null : { path: expr.l.field, op, value: expr.r.lit };
}

/** Fields that can leave: those of the output that every projection keeps; null for all. */
export function visibleOf(plan: ToolPlan): readonly string[] | null {
  const lists = [outputOf(plan)?.fields, ...stepsOf(plan).map((step) => (step.kind === "project" ? step.fields : undefined))].filter((fields) => fields !== undefined);
  const [first, ...others] = lists;
  if (first === undefined) return null;
  return others.reduce<readonly string[]>((kept, fields) => [...kept.filter((path) => fields.some((field) => covers(field, path))), ...fields.filter((field) => kept.some((path) => path !== field && covers(path, field)))], first);
}

function exprText(expr: Expr): string {
  if ("lit" in expr) return JSON.stringify(expr.lit);
  if ("field" in expr) return expr.field;
  if ("param" in expr) return `params.${expr.param}`;
  if ("not" in expr) return `not (${exprText(expr.not)})`;
  if ("neg" in expr) return `-(${exprText(expr.neg)})`;
  const side = (each: Expr): string => ("op" in each ? `(${exprText(each)})` : exprText(each));
  return `${side(expr.l)} ${expr.op} ${side(expr.r)}`;
}
