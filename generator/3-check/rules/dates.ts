/** Rules about points in time: literals that a field of dates is compared with, and dates that would be compared as text. */
import { toList, type Op, type Operand } from "../../../runtime/abi/filter.js";
import type { Expr } from "../../../runtime/abi/plan.js";
import { hasReferences } from "../../../runtime/abi/references.js";
import { INSTANT_FORM, parseInstant } from "../../../runtime/base/instant.js";
import { conditionDtype, instantParams, isInstant } from "../../dates.js";
import { show, type Reporter } from "../../diagnostics.js";
import { parseExpression } from "../../expression.js";
import type { FieldTypes, Path, ResolvedStaticFilters, ResolvedTool } from "../../ir.js";
import { directoriesOf, leavesOf, type Rule } from "../rule.js";

const FIELD_PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,2}$/;
/** Operators that compare with what is written. */
const COMPARING: ReadonlySet<Op> = new Set(["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains_any", "contains_all"]);

/** Where something is compared. */
interface Place {
  readonly dates: readonly string[];
  /** Types that are written; a field named there is what it says. */
  readonly dtypes: FieldTypes;
  /** What could have the key `dtypes`. */
  readonly where: string;
  readonly tool: string | null;
}

export const fieldTypes: Rule = ({ catalog }, reporter) => {
  const places = [
    ...catalog.tools.flatMap(({ origin, name, at, dtypes }) => (origin === "user" ? [{ at, dtypes, tool: name }] : [])),
    ...catalog.connections.map(({ at, builtinDefaults }) => ({ at: [...at, "builtin_defaults"], dtypes: builtinDefaults.dtypes, tool: null })),
  ];
  for (const { at, dtypes, tool } of places) {
    for (const path of Object.keys(dtypes)) {
      if (!FIELD_PATH.test(path)) reporter.report("TS0104", { key: "dtypes", got: show(path), want: "its keys are paths of fields, of at most three names" }, { path: [...at, "dtypes", path], on: "key" }, { tool });
    }
  }
};

export const comparedDates: Rule = (subject, reporter) => {
  for (const tool of subject.catalog.tools) {
    const place = placeOf(tool);
    checkFilters(tool.staticFilters, place, reporter);
    for (const step of tool.steps) {
      if (step.kind === "retrieve" && step.filter !== null) {
        for (const leaf of leavesOf(step.filter)) if ("value" in leaf) checkOperand(leaf, [...step.at, "filter"], place, reporter);
      } else if (step.kind === "post_filter") {
        const parsed = parseExpression(step.expr);
        if ("expr" in parsed) checkExpression(parsed.expr, [...step.at, "expr"], tool, reporter);
      }
    }
  }
  for (const { tool, resolve, isOwn } of directoriesOf(subject)) {
    checkFilters(resolve.staticFilters, { ...placeOf(tool), dates: resolve.dates, dtypes: isOwn ? tool.dtypes : {}, where: isOwn ? "the tool" : "a tool that reads this collection" }, reporter);
  }
};

function placeOf({ origin, name, dates, dtypes }: ResolvedTool): Place {
  // Built-ins share the filters of their connection, so a report is one of the connection.
  const isUser = origin === "user";
  return { dates, dtypes, where: isUser ? "the tool" : "builtin_defaults", tool: isUser ? name : null };
}

function checkFilters({ must, mustNot }: ResolvedStaticFilters, place: Place, reporter: Reporter): void {
  for (const { path, op, value, at } of [...must, ...mustNot]) checkOperand({ path, op, value }, [...at, "value"], place, reporter);
}

function checkOperand({ path, op, value }: { readonly path: string; readonly op: Op; readonly value: unknown }, at: Path, place: Place, reporter: Reporter): void {
  const { dates, dtypes, where, tool } = place;
  const isDate = conditionDtype({ path, op, value }, dates) !== undefined;
  for (const one of toList(value as Operand)) {
    // What the environment gives is looked at when a program starts.
    if (hasReferences(one)) continue;
    if (isDate && !isInstantText(one)) reporter.report("TS0280", { path, got: show(one), want: INSTANT_FORM }, { path: at }, { tool });
    else if (!isDate && COMPARING.has(op) && !Object.hasOwn(dtypes, path) && isInstantText(one)) warn(path, String(one), where, at, tool, reporter);
  }
}

/** Both sides of each comparison: a literal beside a point in time must be one, a literal that is one should be beside one. */
function checkExpression(expr: Expr, at: Path, tool: ResolvedTool, reporter: Reporter): void {
  if ("not" in expr) return checkExpression(expr.not, at, tool, reporter);
  if ("neg" in expr) return checkExpression(expr.neg, at, tool, reporter);
  if (!("op" in expr)) return;
  checkExpression(expr.l, at, tool, reporter);
  checkExpression(expr.r, at, tool, reporter);
  if (expr.op === "and" || expr.op === "or" || "+-*/".includes(expr.op)) return;
  const instants = { fields: tool.dates, params: instantParams(tool.parameters) };
  for (const [literal, other] of [[expr.l, expr.r], [expr.r, expr.l]] as const) {
    if (!("lit" in literal) || literal.lit === null) continue;
    const name = "field" in other ? other.field : "param" in other ? `params.${other.param}` : "";
    if (isInstant(other, instants)) {
      if (!isInstantText(literal.lit)) reporter.report("TS0280", { path: name, got: show(literal.lit), want: INSTANT_FORM }, { path: at }, { tool: tool.name });
    } else if ("field" in other && !Object.hasOwn(tool.dtypes, name) && isInstantText(literal.lit)) {
      warn(name, String(literal.lit), "the tool", at, tool.name, reporter);
    }
  }
}

function isInstantText(value: unknown): boolean {
  return typeof value === "string" && parseInstant(value) !== null;
}

function warn(path: string, got: string, where: string, at: Path, tool: string | null, reporter: Reporter): void {
  reporter.report("TS0281", { path, got, where }, { path: at }, { tool });
}
