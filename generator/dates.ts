/**
 * Where a catalog compares points in time: with a field that is one, or a parameter of dtype datetime. The check and the
 * planner decide it here; the proof decides it a second time from the written catalog.
 */
import { comparesInstants, isIdPath, type Op } from "../runtime/abi/filter.js";
import type { Expr } from "../runtime/abi/plan.js";

/** `datetime` where a written condition compares instants. null is no instant: a comparison with it stays one of presence. */
export function conditionDtype(condition: { readonly path: string; readonly op: Op; readonly value?: unknown }, dates: readonly string[]): "datetime" | undefined {
  const { path, op, value } = condition;
  if (value === null || !dates.includes(path)) return undefined;
  return comparesInstants({ path, op, value: null, dtype: "datetime" }) ? "datetime" : undefined;
}

/** What an expression reads that is a point in time. */
export interface Instants {
  readonly fields: readonly string[];
  readonly params: readonly string[];
}

/** Parameters that are one point in time. */
export function instantParams(parameters: readonly { readonly name: string; readonly dtype: string }[]): readonly string[] {
  return parameters.filter(({ dtype }) => dtype === "datetime").map(({ name }) => name);
}

/** Whether a part of an expression is a point in time. */
export function isInstant(expr: Expr, { fields, params }: Instants): boolean {
  return ("field" in expr && fields.includes(expr.field) && !isIdPath(expr.field)) || ("param" in expr && params.includes(expr.param));
}

const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", ">=", "<=", ">", "<"]);

/** The expression with each comparison of a point in time marked as one. */
export function withInstants(expr: Expr, instants: Instants): Expr {
  if ("not" in expr) return { not: withInstants(expr.not, instants) };
  if ("neg" in expr) return { neg: withInstants(expr.neg, instants) };
  if (!("op" in expr)) return expr;
  const { op, l, r } = expr;
  const marked = { op, l: withInstants(l, instants), r: withInstants(r, instants) };
  return COMPARISONS.has(op) && (isInstant(l, instants) || isInstant(r, instants)) ? { ...marked, dtype: "datetime" } : marked;
}
