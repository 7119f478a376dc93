/**
 * Rules about redaction: that each rule is in force, and that no other part of the tool gives the values away. A
 * caller who may filter, look up, sort or group by a hidden value learns it by asking often enough.
 */
import type { Expr } from "../../../runtime/abi/plan.js";
import { nearestName } from "../../../runtime/base/nearest.js";
import { compilePattern } from "../../../runtime/base/pattern.js";
import { show, type Reporter } from "../../diagnostics.js";
import { parseExpression } from "../../expression.js";
import type { Path, ResolvedStep, ResolvedTarget, ResolvedTool } from "../../ir.js";
import { directoriesOf, leavesOf, outputsOf, type Rule, type Subject } from "../rule.js";

/** Patterns were written for another dialect, so each is tried here rather than at the first call. */
export const patterns: Rule = ({ catalog }, reporter) => {
  for (const { tool, output } of outputsOf(catalog)) {
    for (const { path, mode, patterns: replacements, at } of output.redact) {
      if (mode === "pattern" && replacements.length === 0 && !isBroken(catalog.parsed.broken, at)) reporter.report("TS0223", { path }, { path: [...at, "mode"] }, { tool });
      for (const [index, { regex, replacement }] of replacements.entries()) {
        const detail = patternProblem(regex, replacement);
        if (detail !== null) reporter.report("TS0205", { regex: show(regex), detail }, { path: [...at, "patterns", index, "regex"] }, { tool });
      }
    }
  }
};

function isBroken(broken: readonly Path[], at: Path): boolean {
  return broken.some((path) => at.every((key, index) => path[index] === key));
}

function patternProblem(regex: string, replacement: string): string | null {
  try {
    compilePattern(regex, replacement);
    return null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message.replace(/^Invalid regular expression: /, "");
  }
}

/** Two rules for one path cannot both be applied; which of them was meant is not for us to guess. */
export const duplicates: Rule = ({ catalog }, reporter) => {
  for (const { tool, output } of outputsOf(catalog)) {
    const seen = new Set<string>();
    for (const { path, at } of output.redact) {
      if (seen.has(path)) reporter.report("TS0224", { path }, { path: [...at, "path"] }, { tool });
      seen.add(path);
    }
  }
};

/** A rule for a field that is not returned hides nothing; one that is nearly a field that is returned was meant for that. */
export const misspelt: Rule = ({ catalog, enterprise }, reporter) => {
  for (const { tool, output } of outputsOf(catalog)) {
    const { fields, redact } = output;
    if (fields === null) continue;
    const open = fields.filter((field) => !redact.some(({ path }) => overlap(path, field)));
    for (const { path, at } of redact) {
      const guess = fields.some((field) => overlap(path, field)) ? null : nearestName(path, open);
      if (guess !== null) reporter.report("TS0230", { path, field: guess }, { path: [...at, "path"] }, { tool, severity: enterprise ? "error" : "warning", help: `did you mean '${guess}'? Its values leave as they are` });
    }
  }
};

/**
 * A built-in reads the same records as the tools that somebody wrote, and nobody wrote what it returns: a rule of one of
 * them is easily taken to be in force everywhere.
 */
export const builtins: Rule = ({ catalog, enterprise }, reporter) => {
  const written = catalog.tools.filter(({ origin, output }) => origin === "user" && output.redact.length > 0);
  for (const builtin of catalog.tools) {
    const { target } = builtin;
    if (builtin.origin === "user" || target === null || (builtin.kind !== "search" && builtin.kind !== "lookup")) continue;
    const reported = new Set<string>();
    for (const tool of written.filter((one) => targetsOf(one).some((other) => readsAlso(target, other)))) {
      for (const { path } of tool.output.redact) {
        if (reported.has(path) || !returnsPlain(builtin, path)) continue;
        reported.add(path);
        reporter.report("TS0231", { builtin: builtin.name, path, tool: tool.name, connection: target.connection }, { path: builtin.at, on: "key" }, { tool: builtin.name, severity: enterprise ? "error" : "warning" });
      }
    }
  }
};

/** What a tool reads; a pipeline does so in a step. */
function targetsOf({ target, steps }: ResolvedTool): readonly ResolvedTarget[] {
  return [...(target === null ? [] : [target]), ...steps.flatMap((step) => (step.kind === "retrieve" ? [step.target] : []))];
}

/** Whether a built-in can read the records of another tool's target. */
function readsAlso({ connection, collection }: ResolvedTarget, other: ResolvedTarget): boolean {
  if (connection !== other.connection) return false;
  if (typeof other.collection !== "string" || typeof collection === "string") return collection === other.collection;
  return collection.allowed === null || collection.allowed.includes(other.collection);
}

/** Whether a tool returns the value at `path`, or a part of it, without a rule for it. */
function returnsPlain({ output: { fields, redact } }: ResolvedTool, path: string): boolean {
  return (fields === null || fields.some((field) => overlap(path, field))) && !redact.some((rule) => path === rule.path || path.startsWith(`${rule.path}.`));
}

/** A way by which a caller can learn the values of a field. */
interface Leak {
  readonly what: string;
  readonly field: string;
  readonly leak: string;
  readonly at: Path;
}

export const leaks: Rule = (subject, reporter) => {
  const directories = directoriesOf(subject);
  for (const tool of subject.catalog.tools) {
    if (tool.output.redact.length === 0) continue;
    const redacted = tool.output.redact.map(({ path }) => path);
    const own = directories.filter((directory) => directory.tool === tool && directory.isOwn);
    const found = [
      ...ofParameters(tool),
      ...own.map(({ resolve, parameter }): Leak => ({
        what: `the directory of '${parameter.name}' lists`, field: resolve.field, leak: "its values are what a caller is offered", at: [...parameter.at, "resolve"],
      })),
      ...tool.steps.flatMap((step) => ofStep(step)),
    ];
    for (const leak of found) if (redacted.some((path) => overlap(path, leak.field))) reportLeak(leak, tool, subject, reporter);
  }
};

function reportLeak({ what, field, leak, at }: Leak, tool: ResolvedTool, { enterprise }: Subject, reporter: Reporter): void {
  reporter.report("TS0225", { what, path: field, leak }, { path: at }, { tool: tool.name, severity: enterprise ? "error" : "warning" });
}

function ofParameters(tool: ResolvedTool): readonly Leak[] {
  return tool.parameters
    .filter(({ path, op }) => path !== null || op !== null)
    .map(({ name, path, op, at }) => ({ what: `the parameter '${name}' filters by`, field: path ?? name, leak: guessing(op ?? "eq"), at: [...at, path === null ? "name" : "path"] }));
}

function guessing(op: string): string {
  return op === "like" || op === "text_match" ? "a caller can spell its values out letter by letter" : "a caller can find its values by asking for each";
}

function ofStep(step: ResolvedStep): readonly Leak[] {
  switch (step.kind) {
    case "retrieve":
      return step.filter === null ? [] : leavesOf(step.filter).flatMap((leaf): readonly Leak[] => {
        return "param" in leaf ? [{ what: `the filter compares params.${leaf.param} with`, field: leaf.path, leak: guessing(leaf.op), at: [...step.at, "filter"] }] : [];
      });
    case "post_filter": {
      const parsed = parseExpression(step.expr);
      const fields = "error" in parsed ? [] : [...new Set(fieldsOf(parsed.expr))];
      return fields.map((field) => ({ what: "the expression reads", field, leak: "which rows are left says something of its values", at: [...step.at, "expr"] }));
    }
    case "group_by":
      return [
        ...step.keys.map((field, index): Leak => ({ what: "the rows are grouped by", field, leak: "which rows are together says something of its values", at: [...step.at, "keys", index] })),
        ...(step.perGroup === null ? [] : [{ what: "groups are sorted by", field: step.perGroup.sortBy, leak: ORDER, at: [...step.at, "per_group", "sort_by"] }]),
      ];
    case "sort":
      return [{ what: "the rows are sorted by", field: step.by, leak: ORDER, at: [...step.at, "by"] }];
    case "project":
      return [];
  }
}

const ORDER = "the order of the rows says something of its values";

function fieldsOf(expr: Expr): readonly string[] {
  if ("field" in expr) return [expr.field];
  if ("not" in expr) return fieldsOf(expr.not);
  if ("neg" in expr) return fieldsOf(expr.neg);
  return "op" in expr ? [...fieldsOf(expr.l), ...fieldsOf(expr.r)] : [];
}

/** Whether one path is the other or lies below it: `user.email` is part of what `user` redacts, and the other way round. */
function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}
