/**
 * What post_filter expressions mean. A row keeps its place only where its expression is true.
 * null is contagious in arithmetic, and no comparison with it holds, not even `null == null`; `and`, `or` and `not`
 * take it for false. Numbers meet numbers and texts texts; a text that is written like a number meets numbers too.
 * A comparison of points in time compares instants, whatever their spelling.
 */
import type { CallArgs } from "../../abi/call.js";
import { ToolError } from "../../abi/errors.js";
import { compareText, type Row, type Scalar } from "../../abi/filter.js";
import { instantKey } from "../../base/instant.js";
import { readField } from "../../base/paths.js";
import type { Expr } from "../../abi/plan.js";

/** What an expression may read beyond its row. */
export interface ExprScope {
  readonly args: CallArgs;
  /** Called for every comparison that a null decided. */
  readonly onNull: () => void;
}

/** Whether the row stays: true, or a number other than 0. @throws ToolError expr_error for an argument that was not given. */
export function isKept(expr: Expr, row: Row, scope: ExprScope): boolean {
  return truth(evaluateExpr(expr, row, scope));
}

/** The value of an expression; lists and objects are no values, they read as null. */
export function evaluateExpr(expr: Expr, row: Row, scope: ExprScope): Scalar {
  if ("lit" in expr) return expr.lit;
  if ("field" in expr) return scalarOf(readField(row, expr.field));
  if ("param" in expr) return argument(expr.param, scope.args);
  if ("not" in expr) return !truth(evaluateExpr(expr.not, row, scope));
  if ("neg" in expr) return calculate("*", evaluateExpr(expr.neg, row, scope), -1);
  switch (expr.op) {
    case "or":
      return truth(evaluateExpr(expr.l, row, scope)) || truth(evaluateExpr(expr.r, row, scope));
    case "and":
      return truth(evaluateExpr(expr.l, row, scope)) && truth(evaluateExpr(expr.r, row, scope));
    case "+":
    case "-":
    case "*":
    case "/":
      return calculate(expr.op, evaluateExpr(expr.l, row, scope), evaluateExpr(expr.r, row, scope));
    default: {
      const [l, r] = [evaluateExpr(expr.l, row, scope), evaluateExpr(expr.r, row, scope)];
      return expr.dtype === undefined ? compare(expr.op, l, r, scope) : compare(expr.op, instantOf(l), instantOf(r), scope);
    }
  }
}

function scalarOf(value: unknown): Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

/** A point in time as a text that sorts; what is none reads as null. */
function instantOf(value: Scalar): Scalar {
  return typeof value === "string" ? instantKey(value) : null;
}

function argument(name: string, args: CallArgs): Scalar {
  const value = args[name];
  if (value === undefined || value === null) {
    throw new ToolError("expr_error", `${name}: needed by this tool's post_filter; give the argument, or give the parameter a default`);
  }
  return scalarOf(value);
}

function truth(value: Scalar): boolean {
  return value === true || (typeof value === "number" && value !== 0);
}

function calculate(op: "+" | "-" | "*" | "/", l: Scalar, r: Scalar): Scalar {
  const [a, b] = [numberOf(l), numberOf(r)];
  if (a === null || b === null) return null;
  const result = op === "+" ? a + b : op === "-" ? a - b : op === "*" ? a * b : a / b;
  // A division by zero, and whatever leaves the range of numbers.
  return Number.isFinite(result) ? result : null;
}

/** The number a value is, or is written as. */
function numberOf(value: Scalar): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || !/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

function compare(op: "==" | "!=" | ">=" | "<=" | ">" | "<", l: Scalar, r: Scalar, scope: ExprScope): boolean {
  if (l === null || r === null) {
    scope.onNull();
    return false;
  }
  const order = orderOf(l, r);
  switch (op) {
    case "==":
      return order === 0;
    case "!=":
      return order !== 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    default:
      return op satisfies never;
  }
}

/** NaN where two values have no order: then they are not equal either. */
function orderOf(l: Scalar, r: Scalar): number {
  if (typeof l === "string" && typeof r === "string") return compareText(l, r);
  if (typeof l === "boolean" || typeof r === "boolean") return typeof l === typeof r ? Number(l) - Number(r) : Number.NaN;
  const [a, b] = [numberOf(l), numberOf(r)];
  return a === null || b === null ? Number.NaN : a - b;
}
