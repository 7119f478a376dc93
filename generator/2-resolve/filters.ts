/** Static filters in their three forms, and the filter tree of a retrieve step. */
import { COMPARISON_OPS, EXTENDED_OPS, type FilterTemplate, type Op, type Operand } from "../../runtime/abi/filter.js";
import type { GuardOperand } from "../../runtime/abi/plan.js";
import { formatPath, show, type Reporter } from "../diagnostics.js";
import type { Path, ResolvedCondition, ResolvedStaticFilters, tds } from "../ir.js";
import type { Interpolator } from "./interpolate.js";

const FIELD_PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,2}$/;

export const NO_FILTERS: ResolvedStaticFilters = { must: [], mustNot: [] };

/**
 * Static filters as written at `at`: nothing, a list (must), or {must, must_not}. Environment references are allowed
 * only where an interpolator is given.
 */
export function resolveStaticFilters(written: tds.StaticFilters | undefined, at: Path, interpolator: Interpolator | null): ResolvedStaticFilters {
  if (written === undefined || written === null) return NO_FILTERS;
  if (Array.isArray(written)) return { must: conditions(written, at, interpolator), mustNot: [] };
  return {
    must: conditions(written.must ?? [], [...at, "must"], interpolator),
    mustNot: conditions(written.must_not ?? [], [...at, "must_not"], interpolator),
  };
}

function conditions(written: readonly tds.StaticCondition[], at: Path, interpolator: Interpolator | null): readonly ResolvedCondition[] {
  return written.flatMap((entry: tds.StaticCondition | null, index) => {
    if (entry === null || !FIELD_PATH.test(entry.path)) return [];
    const path = [...at, index];
    const value = interpolator === null ? entry.value : interpolator.tree(entry.value, [...path, "value"]);
    return [{ path: entry.path, op: entry.op ?? "eq", value: value as GuardOperand, at: path }];
  });
}

const OPS: ReadonlySet<string> = new Set([...COMPARISON_OPS, ...EXTENDED_OPS]);

/** The filter tree of a retrieve step; null where it says nothing. Problems are reported as TS0207. */
export function resolveFilterTree(written: unknown, at: Path, reporter: Reporter): FilterTemplate | null {
  if (written === undefined || written === null) return null;
  if (Array.isArray(written) && written.length === 0) return null;
  if (typeof written !== "object" || Array.isArray(written)) {
    reporter.report("TS0207", { detail: `'${formatPath(at)}' is ${show(written)}, not a filter` }, { path: at });
    return null;
  }
  const node = written as { readonly [key: string]: unknown };
  const keys = Object.keys(node);
  if (keys.length === 0) return null;
  for (const word of ["and", "or"] as const) {
    if (node[word] === undefined) continue;
    if (keys.length > 1) {
      reporter.report("TS0207", { detail: `'${word}' cannot be combined with ${keys.filter((key) => key !== word).join(", ")}` }, { path: at });
      return null;
    }
    return branch(word, node[word], [...at, word], reporter);
  }
  return leaf(node, at, reporter);
}

function branch(word: "and" | "or", written: unknown, at: Path, reporter: Reporter): FilterTemplate | null {
  if (!Array.isArray(written)) {
    reporter.report("TS0207", { detail: `'${word}' needs a list of filters` }, { path: at });
    return null;
  }
  const children = written.map((child, index) => resolveFilterTree(child, [...at, index], reporter)).filter((child) => child !== null);
  const [only] = children;
  if (only === undefined) return null;
  if (children.length === 1) return only;
  return word === "and" ? { and: children } : { or: children };
}

function leaf(node: { readonly [key: string]: unknown }, at: Path, reporter: Reporter): FilterTemplate | null {
  const { path, op = "eq", value, param } = node;
  const problem = (detail: string, where: Path = at): null => {
    reporter.report("TS0207", { detail }, { path: where });
    return null;
  };
  const unknown = Object.keys(node).find((key) => !["path", "op", "value", "param"].includes(key));
  if (unknown !== undefined) return problem(`a condition has no key '${unknown}'`, [...at, unknown]);
  if (typeof path !== "string" || !FIELD_PATH.test(path)) return problem(`a condition needs a path, not ${show(path)}`);
  if (typeof op !== "string" || !OPS.has(op)) return problem(`${show(op)} is not an operator`, [...at, "op"]);
  const named = param ?? referencedParam(value);
  if (named !== undefined) {
    return typeof named === "string" ? { path, op: op as Op, param: named } : problem(`a parameter's name is a text, not ${show(named)}`, [...at, "param"]);
  }
  if (!("value" in node)) return problem("a condition needs a value or a param");
  return isOperand(value) ? { path, op: op as Op, value } : problem(`a condition's value is a scalar or a list of scalars, not ${show(value)}`, [...at, "value"]);
}

/** `{param: name}` or `{$param: name}` in the place of a value. */
function referencedParam(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  const [key, name] = entries[0] ?? [];
  return entries.length === 1 && (key === "param" || key === "$param") ? name : undefined;
}

function isOperand(value: unknown): value is Operand {
  return Array.isArray(value) ? value.every(isScalar) : isScalar(value);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== "object";
}
