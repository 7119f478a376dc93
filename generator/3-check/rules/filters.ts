/** Rules about filters: what each operator needs, what can be negated, and what the store can run (VB2004). */
import { COMPARISON_OPS, type Condition, type Filter, type Op, type Operand } from "../../../runtime/abi/filter.js";
import { fill } from "../../../runtime/abi/references.js";
import { CAPABILITIES, type Capabilities } from "../../../runtime/adapters/capabilities.js";
import { conditionDtype } from "../../dates.js";
import { show, type Reporter } from "../../diagnostics.js";
import type { Path, ResolvedCondition, ResolvedConnection, ResolvedParameter, ResolvedStaticFilters } from "../../ir.js";
import { directoriesOf, leavesOf, readsOf, type Rule, type Subject } from "../rule.js";

const COMPARISONS: ReadonlySet<Op> = new Set(COMPARISON_OPS);
const TESTS: ReadonlySet<Op> = new Set(["exists", "is_null"]);
const LISTS: ReadonlySet<Op> = new Set(["in", "nin", "contains_any", "contains_all"]);
const TEXTS: ReadonlySet<Op> = new Set(["like", "text_match"]);

export const operands: Rule = (subject, reporter) => {
  const { catalog } = subject;
  for (const tool of catalog.tools) {
    if (tool.origin === "user") checkOperands(tool.staticFilters, written, tool.name, reporter);
  }
  for (const { tool, resolve } of directoriesOf(subject)) checkOperands(resolve.staticFilters, written, tool.name, reporter);
  for (const { builtinDefaults: { staticFilters } } of catalog.connections) checkOperands(staticFilters, filled, null, reporter);
};

function checkOperands({ must, mustNot }: ResolvedStaticFilters, read: (condition: ResolvedCondition) => Condition, tool: string | null, reporter: Reporter): void {
  for (const condition of [...must, ...mustNot]) {
    const { op, value } = read(condition);
    const want = operandProblem(op, value);
    if (want !== null) reporter.report("TS0216", { op, want, got: show(value) }, { path: [...condition.at, "value"] }, { tool });
  }
  for (const { op, at } of mustNot) {
    if (!COMPARISONS.has(op)) reporter.report("VB2020", { op }, { path: [...at, "op"] }, { tool });
  }
}

/** What the operand should have been, or null when it fits. A single value counts as a list of one. */
function operandProblem(op: Op, value: Operand): string | null {
  const isScalar = (item: unknown): boolean => item === null || typeof item !== "object";
  if (LISTS.has(op)) return isScalar(value) || (Array.isArray(value) && value.every(isScalar)) ? null : "a list of values";
  if (TESTS.has(op)) return value === null || typeof value === "boolean" ? null : "true or false";
  if (TEXTS.has(op)) return typeof value === "string" ? null : "a text";
  return isScalar(value) ? null : "a single value";
}

export const staticFilters: Rule = (subject, reporter) => {
  for (const { tool, connection } of readsOf(subject)) {
    if (tool.origin !== "user") continue;
    const { must, mustNot } = tool.staticFilters;
    for (const condition of [...must, ...mustNot]) checkCondition(subject, typed(written(condition), tool.dates), condition.at, connection, tool.name, reporter);
  }
  for (const { tool, resolve, connection } of directoriesOf(subject)) {
    if (connection === null) continue;
    const { must, mustNot } = resolve.staticFilters;
    for (const condition of [...must, ...mustNot]) checkCondition(subject, typed(written(condition), resolve.dates), condition.at, connection, tool.name, reporter);
  }
  for (const connection of subject.catalog.connections) {
    const { must, mustNot } = connection.builtinDefaults.staticFilters;
    // Built-ins of one connection have the same dates; without any, what dtypes says.
    const dates = subject.catalog.tools.find(({ origin, target }) => origin !== "user" && target?.connection === connection.name)?.dates ?? [];
    for (const condition of [...must, ...mustNot]) checkCondition(subject, typed(filled(condition), dates), condition.at, connection, null, reporter);
  }
};

/** A condition as a plan will have it: on a point in time, or as typed. */
function typed(condition: Condition, dates: readonly string[]): Condition {
  const dtype = conditionDtype(condition, dates);
  return dtype === undefined ? condition : { ...condition, dtype };
}

/** A condition of a tool or a directory: references are not allowed there, so an object is no operand, whatever it looks like. */
function written({ path, op, value }: ResolvedCondition): Condition {
  return { path, op, value: value as Operand };
}

/** A condition of a connection's built-ins: references in it are filled when a program starts, always with text. */
function filled({ path, op, value }: ResolvedCondition): Condition {
  return { path, op, value: fill(value, new Map(), new Set()) as Operand };
}

export const parameterFilters: Rule = (subject, reporter) => {
  for (const { tool, connection } of readsOf(subject)) {
    if (tool.origin !== "user") continue;
    for (const parameter of tool.parameters) {
      if (parameter.path === null && parameter.op === null) continue;
      const op = parameter.op ?? "eq";
      if (parameter.dtype === "keyword[]" && !CAPABILITIES[connection.backend].arrays) {
        lack(connection, "list fields (dtype keyword[])", [...parameter.at, "dtype"], tool.name, reporter);
        continue;
      }
      const at = parameter.op === null ? [...parameter.at, "path"] : [...parameter.at, "op"];
      checkCondition(subject, { path: parameter.path ?? parameter.name, op, value: sampleOperand(parameter, op), ...dtypeOf(parameter) }, at, connection, tool.name, reporter);
    }
  }
};

export const retrieveFilters: Rule = (subject, reporter) => {
  for (const tool of subject.catalog.tools) {
    for (const step of tool.steps) {
      const connection = step.kind === "retrieve" ? subject.connections.get(step.target.connection) : undefined;
      if (step.kind !== "retrieve" || step.filter === null || connection === undefined) continue;
      const at = [...step.at, "filter"];
      for (const leaf of leavesOf(step.filter)) {
        if ("param" in leaf && !tool.parameters.some((parameter) => parameter.name === leaf.param)) {
          reporter.report("TS0210", { name: leaf.param }, { path: at }, { tool: tool.name });
        }
        const parameter = "param" in leaf ? (tool.parameters.find(({ name }) => name === leaf.param) ?? null) : null;
        const value = "param" in leaf ? sampleOperand(parameter, leaf.op) : leaf.value;
        const want = operandProblem(leaf.op, value);
        if (want !== null) reporter.report("TS0216", { op: leaf.op, want, got: show(value) }, { path: at }, { tool: tool.name });
        else checkCondition(subject, "param" in leaf ? { path: leaf.path, op: leaf.op, value, ...dtypeOf(parameter) } : typed(leaf, tool.dates), at, connection, tool.name, reporter);
      }
    }
  }
};

export const reads: Rule = (subject, reporter) => {
  for (const { tool, connection, can, target, query } of readsOf(subject)) {
    if (tool.origin !== "user") continue;
    const what = unreadable(tool.kind, can, query === null, hasFilters(tool));
    if (what !== null) lack(connection, what, tool.kind === "search" || tool.kind === "pipeline" ? target.at : [...tool.at, "kind"], tool.name, reporter);
  }
};

function hasFilters(tool: { readonly staticFilters: { readonly must: readonly unknown[]; readonly mustNot: readonly unknown[] }; readonly parameters: readonly ResolvedParameter[] }): boolean {
  return tool.staticFilters.must.length + tool.staticFilters.mustNot.length > 0 || tool.parameters.some((parameter) => parameter.path !== null || parameter.op !== null);
}

function unreadable(kind: string, can: Capabilities, withoutQuery: boolean, filtered: boolean): string | null {
  if (kind === "scroll" && !can.scroll) return "kind scroll";
  if (kind === "count" && filtered && !can.countWithFilter) return "counting with a filter";
  if (kind === "lookup" && !can.scroll) return "kind lookup (filter-only reads)";
  if ((kind === "search" || kind === "pipeline") && withoutQuery && !can.scroll) return "filter-only reads (the tool has no query)";
  return null;
}

function checkCondition(subject: Subject, condition: Condition, at: Path, connection: ResolvedConnection, tool: string | null, reporter: Reporter): void {
  const can = CAPABILITIES[connection.backend];
  const { path, op } = condition;
  if (!COMPARISONS.has(op) && !(can.extendedOps as readonly Op[]).includes(op)) return lack(connection, `the operator ${op}`, at, tool, reporter);
  if (path.includes(".") && !can.nestedPaths) return lack(connection, `nested paths ('${path}')`, at, tool, reporter);
  const problem = operandProblem(op, condition.value) === null ? subject.refusal(connection.backend, condition as Filter) : null;
  if (problem !== null) lack(connection, `this filter: ${problem}`, at, tool, reporter);
}

function lack(connection: ResolvedConnection, what: string, path: Path, tool: string | null, reporter: Reporter): void {
  reporter.report("VB2004", { backend: connection.backend, connection: connection.name, what }, { path }, { severity: "error", tool });
}

function dtypeOf(parameter: ResolvedParameter | null): { readonly dtype?: "datetime" } {
  return parameter?.dtype === "datetime" ? { dtype: "datetime" } : {};
}

/** A value of the parameter's type, to try the store's own filter compiler with. */
function sampleOperand(parameter: ResolvedParameter | null, op: Op): Operand {
  if (TESTS.has(op)) return true;
  const dtype = parameter?.dtype ?? "keyword";
  const one = dtype === "integer" ? 1 : dtype === "float" ? 1.5 : dtype === "boolean" ? true : dtype === "datetime" ? "2024-01-31" : "text";
  return LISTS.has(op) ? [one] : one;
}
