/**
 * Arguments that restrict every call. One that is always given, because it is required or has a default, and that takes
 * only certain values confines all calls to the rows of these values, as a static filter does.
 */
import type { Condition, FilterTemplate } from "../../runtime/abi/filter.js";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import type { Expr, ToolPlan } from "../../runtime/abi/plan.js";
import { isRecord } from "../../runtime/base/paths.js";
import { same, show, without, type Changes } from "./change.js";
import { conditionText } from "./compare-isolation.js";
import { conjunctsOf, impliedBy } from "./implication.js";
import { readOf } from "./read.js";

/** What the schema allows an argument that every call has. */
interface Bound {
  readonly members: readonly Condition["value"][] | null;
  readonly maximum: number | null;
}

/** An argument's condition, wherever in the plan it comes from. */
type Use = { readonly path: string; readonly op: Condition["op"]; readonly arg: string; readonly dtype?: "datetime" };

/** `null` for an argument that a call may lack, or that takes any value. */
function boundOf(arg: string, definition: ToolDefinition | undefined): Bound | null {
  const { properties, required } = (definition?.inputSchema ?? {}) as { readonly properties?: unknown; readonly required?: unknown };
  const property = isRecord(properties) && Object.hasOwn(properties, arg) ? properties[arg] : undefined;
  if (!isRecord(property)) return null;
  // An argument with a default cannot be left out: null is refused by its type.
  if (!(Array.isArray(required) && required.includes(arg)) && property["default"] === undefined) return null;
  const { items, maximum, type } = property;
  const members = isRecord(items) ? items["enum"] : property["enum"];
  const bound: Bound = { members: Array.isArray(members) ? (members as Condition["value"][]) : null, maximum: typeof maximum === "number" && type !== "array" ? maximum : null };
  return bound.members === null && bound.maximum === null ? null : bound;
}

/** Conditions that arguments always add, whatever their value. */
function usesOf(plan: ToolPlan): readonly Use[] {
  const { bind, filter } = readOf(plan);
  const ofTemplate = (template: FilterTemplate | undefined): readonly Use[] => {
    if (template === undefined) return [];
    if ("and" in template) return template.and.flatMap(ofTemplate);
    if (!("param" in template)) return [];
    const { param, ...rest } = template;
    return [{ ...rest, arg: param }];
  };
  return [...bind.filter(({ resolve }) => resolve === undefined), ...ofTemplate(filter)];
}

/** The conditions that every row of a tool passes because of its arguments. */
export function boundConditions(plan: ToolPlan, definition: ToolDefinition | undefined): readonly Condition[] {
  return usesOf(plan).flatMap(({ path, op, arg, dtype }) => {
    const bound = boundOf(arg, definition);
    const value = bound === null ? null : operandOf(op, bound);
    return value === null ? [] : [{ path, ...value, ...(dtype === undefined ? {} : { dtype }) }];
  });
}

function operandOf(op: Condition["op"], { members, maximum }: Bound): Pick<Condition, "op" | "value"> | null {
  switch (op) {
    case "eq":
    case "in":
      if (members !== null) return { op: "in", value: members as Condition["value"] };
      return op === "eq" && maximum !== null ? { op: "lte", value: maximum } : null;
    case "contains_any":
    case "contains_all":
      return members === null ? null : { op: "contains_any", value: members as Condition["value"] };
    case "lt":
    case "lte": {
      const numbers = (members ?? []).filter((one): one is number => typeof one === "number");
      if (members !== null) return numbers.length > 0 && numbers.length === members.length ? { op, value: Math.max(...numbers) } : null;
      return maximum === null ? null : { op, value: maximum };
    }
    case "gt":
    case "gte": {
      const numbers = (members ?? []).filter((one): one is number => typeof one === "number");
      return members !== null && numbers.length > 0 && numbers.length === members.length ? { op, value: Math.min(...numbers) } : null;
    }
    default: {
      const [only] = members ?? [];
      return members?.length === 1 && only !== undefined ? { op, value: only } : null;
    }
  }
}

/** Reports what arguments no longer keep out. */
export function compareBounds(old: { readonly plan: ToolPlan; readonly definition: ToolDefinition }, next: { readonly plan: ToolPlan; readonly definition: ToolDefinition }, changes: Changes): void {
  const [had, has] = [boundConditions(old.plan, old.definition), boundConditions(next.plan, next.definition)];
  const held = [...has, ...conjunctsOf(readOf(next.plan).guard)];
  for (const condition of had.filter((one) => !impliedBy(held, one))) changes.add("isolation-weakening", "argument", `a call is no longer restricted to ${conditionText(condition)}`);
  for (const arg of looseArguments(old.plan)) {
    const before = boundOf(arg, old.definition);
    if (before !== null && !isWithin(boundOf(arg, next.definition), before)) changes.add("isolation-weakening", "argument", `a call is no longer restricted to '${arg}' ${before.members === null ? `up to ${before.maximum}` : `among ${show(before.members)}`}`);
  }
}

function isWithin(next: Bound | null, old: Bound): boolean {
  if (same(next, old)) return true;
  if (next === null) return false;
  if (old.members !== null) return next.members !== null && without(next.members, old.members).length === 0;
  return next.maximum !== null && old.maximum !== null && next.maximum <= old.maximum;
}

/** Arguments in expressions and alternatives: what their values let through is not computed, so any further value counts as more. */
function looseArguments(plan: ToolPlan): ReadonlySet<string> {
  const ofExpr = (expr: Expr): readonly string[] => {
    if ("param" in expr) return [expr.param];
    if ("not" in expr) return ofExpr(expr.not);
    if ("neg" in expr) return ofExpr(expr.neg);
    return "op" in expr ? [...ofExpr(expr.l), ...ofExpr(expr.r)] : [];
  };
  const ofTemplate = (template: FilterTemplate | undefined, isChoice: boolean): readonly string[] => {
    if (template === undefined) return [];
    if ("and" in template) return template.and.flatMap((part) => ofTemplate(part, isChoice));
    if ("or" in template) return template.or.flatMap((part) => ofTemplate(part, true));
    return isChoice && "param" in template ? [template.param] : [];
  };
  const steps = plan.kind === "pipeline" ? plan.steps : [];
  return new Set([...ofTemplate(readOf(plan).filter, false), ...steps.flatMap((step) => (step.kind === "post_filter" ? ofExpr(step.expr) : []))]);
}
