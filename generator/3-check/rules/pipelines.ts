/** Rules about pipelines: their steps, and expressions checked against the parameters before anything runs. */
import { isScalar } from "yaml";
import type { Expr } from "../../../runtime/abi/plan.js";
import type { Reporter } from "../../diagnostics.js";
import { parseExpression } from "../../expression.js";
import type { Path, ResolvedParameter, ResolvedStep, ResolvedTool } from "../../ir.js";
import type { Rule, Subject } from "../rule.js";

export const steps: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    if (tool.kind !== "pipeline") continue;
    const [first, ...others] = tool.steps;
    if (first !== undefined && first.kind !== "retrieve") reporter.report("VB2101", {}, { path: first.at }, { tool: tool.name });
    for (const step of others) {
      if (step.kind === "retrieve" && first?.kind === "retrieve") reporter.report("TS0213", {}, { path: step.at, on: "key" }, { tool: tool.name });
    }
  }
};

/** `take: params.NAME` needs the parameter it names. */
export const takes: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const step of tool.steps) {
      const take = step.kind === "group_by" ? step.perGroup?.take : undefined;
      if (step.kind !== "group_by" || take === undefined) continue;
      const at = { path: [...step.at, "per_group", "take"] };
      if (typeof take === "number") {
        if (take < 1) reporter.report("TS0106", { key: "take", want: "at least 1", got: take }, at, { tool: tool.name });
        continue;
      }
      const name = /^\s*params\s*\.\s*(\w+)\s*$/.exec(take)?.[1];
      if (name === undefined) reporter.report("TS0104", { key: "take", got: `'${take}'`, want: "write a number or params.NAME" }, at, { tool: tool.name });
      else if (!argumentsOf(tool).has(name)) reporter.report("TS0210", { name }, at, { tool: tool.name });
    }
  }
};

export const expressions: Rule = (subject, reporter) => {
  for (const tool of subject.catalog.tools) {
    for (const step of tool.steps) if (step.kind === "post_filter") checkExpression(step, tool, subject, reporter);
  }
};

function checkExpression(step: ResolvedStep & { kind: "post_filter" }, tool: ResolvedTool, subject: Subject, reporter: Reporter): void {
  const path = [...step.at, "expr"];
  if (step.expr.trim() === "") {
    reporter.report("VB2102", {}, { path }, { tool: tool.name });
    return;
  }
  const parsed = parseExpression(step.expr);
  if ("error" in parsed) {
    const offset = offsetInFile(subject, path, step.expr, parsed.offset);
    reporter.report("TS0208", { detail: parsed.error }, { path }, { tool: tool.name, ...(offset === null ? {} : { offset }) });
    return;
  }
  const known = argumentsOf(tool);
  const problems: string[] = [];
  for (const name of paramsOf(parsed.expr)) {
    if (!known.has(name)) reporter.report("TS0210", { name }, { path }, { tool: tool.name, help: known.size === 0 ? "declare it under parameters" : `parameters: ${[...known.keys()].join(", ")}` });
  }
  for (const name of new Set(paramsOf(parsed.expr))) {
    const parameter = tool.parameters.find((declared) => declared.name === name);
    const isGiven = parameter === undefined || parameter.required || (parameter.default !== undefined && parameter.default !== null);
    if (!isGiven) reporter.report("TS0227", { name }, { path }, { tool: tool.name });
  }
  typeOf(parsed.expr, known, problems);
  for (const detail of problems) reporter.report("TS0209", { detail }, { path }, { tool: tool.name });
}

/** File offset of a place in the expression; null where the file has the text in another form (escapes, folded lines). */
function offsetInFile(subject: Subject, path: Path, text: string, offset: number): number | null {
  const { doc, file } = subject.catalog.parsed;
  const node: unknown = doc.getIn(path, true);
  const start = isScalar(node) ? node.range?.[0] : undefined;
  if (start === undefined) return null;
  const found = file.text.indexOf(text, start);
  return found >= start && found <= start + 1 ? found + offset : null;
}

type Kind = "number" | "text" | "boolean" | "list" | "null" | "any";

/** Every argument an expression may name: the parameters and the row limit. */
function argumentsOf(tool: ResolvedTool): ReadonlyMap<string, Kind> {
  const first = tool.steps[0];
  const limit = first?.kind === "retrieve" ? first.kParam : "limit";
  return new Map<string, Kind>([[limit, "number"], ...tool.parameters.map((parameter) => [parameter.name, kindOf(parameter)] as const)]);
}

function kindOf({ dtype, op }: ResolvedParameter): Kind {
  if (dtype === "keyword[]" || op === "in" || op === "nin" || op === "contains_any" || op === "contains_all") return "list";
  if (dtype === "integer" || dtype === "float") return "number";
  return dtype === "boolean" ? "boolean" : dtype === "unknown" ? "any" : "text";
}

function paramsOf(expr: Expr): readonly string[] {
  if ("param" in expr) return [expr.param];
  if ("not" in expr) return paramsOf(expr.not);
  if ("neg" in expr) return paramsOf(expr.neg);
  return "op" in expr ? [...new Set([...paramsOf(expr.l), ...paramsOf(expr.r)])] : [];
}

const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/"]);

/** The kind of an expression's value; type clashes that hold for every record are added to `problems`. Fields can be anything. */
function typeOf(expr: Expr, params: ReadonlyMap<string, Kind>, problems: string[]): Kind {
  if ("lit" in expr) return expr.lit === null ? "null" : typeof expr.lit === "number" ? "number" : typeof expr.lit === "string" ? "text" : "boolean";
  if ("field" in expr) return "any";
  if ("param" in expr) return params.get(expr.param) ?? "any";
  if ("not" in expr) {
    typeOf(expr.not, params, problems);
    return "boolean";
  }
  if ("neg" in expr) {
    mustCount(typeOf(expr.neg, params, problems), "unary -", problems);
    return "number";
  }
  const l = typeOf(expr.l, params, problems);
  const r = typeOf(expr.r, params, problems);
  if (ARITHMETIC.has(expr.op)) {
    mustCount(l, expr.op, problems);
    mustCount(r, expr.op, problems);
    return "number";
  }
  if (expr.op !== "and" && expr.op !== "or" && l !== r && l !== "any" && r !== "any" && l !== "null" && r !== "null") {
    problems.push(`'${expr.op}' compares a ${l} with a ${r}`);
  }
  return "boolean";
}

function mustCount(kind: Kind, op: string, problems: string[]): void {
  if (kind === "text" || kind === "boolean" || kind === "list") problems.push(`'${op}' needs numbers, not a ${kind}`);
}
