/** What leaves a tool: fields, redaction, limits, and the steps of a pipeline that take rows or fields away. */
import { isRecord } from "../../runtime/base/paths.js";
import { treeOf } from "./expression.js";
import type { PlanParts } from "./planned.js";
import { same } from "./same.js";
import { comparesDates, NO_INSTANTS, type Instants, type Json, type ToolDemand } from "./written.js";

type Missing = (branch: string, guard: string) => void;

export function reportOutput(demand: ToolDemand, plan: Json, parts: PlanParts, missing: Missing): void {
  reportLimits(demand, plan, missing);
  if (demand.kind === "pipeline") reportSteps(demand, parts, missing);
  if (demand.kind === "count" || demand.kind === "meta") return;
  const { output } = demand;
  const held = parts.output ?? {};
  const fields = Array.isArray(output["fields"]) ? output["fields"] : undefined;
  if (!same(held["fields"], fields)) missing("output", fields === undefined ? "that all fields leave" : `the fields ${JSON.stringify(fields)}`);
  const redact = Array.isArray(output["redact"]) ? (output["redact"] as readonly unknown[]).filter(isRecord) : [];
  const rules = Array.isArray(held["redact"]) ? (held["redact"] as readonly unknown[]) : [];
  for (const [index, rule] of redact.entries()) if (!isRule(rules[index], rule)) missing("output", `the redaction of '${String(rule["path"])}'`);
  if (rules.length > redact.length) missing("output", "that there is no other redaction");
  if (!same(held["max_field_length"], output["max_field_length"])) missing("output", `max_field_length ${JSON.stringify(output["max_field_length"] ?? null)}`);
  for (const [key, written] of [["id", "include_id"], ["score", "include_score"]] as const) {
    if (held[key] !== (output[written] ?? true)) missing("output", `${written} ${String(output[written] ?? true)}`);
  }
}

function isRule(held: unknown, { path, mode = "omit", patterns }: Json): boolean {
  const list = Array.isArray(patterns) ? (patterns as readonly unknown[]).filter(isRecord) : [];
  const wanted = list.map(({ regex, replacement }) => ({ regex, replacement: replacement ?? "[redacted]" }));
  return isRecord(held) && held["path"] === path && held["mode"] === mode && same(held["patterns"], mode === "pattern" ? wanted : undefined);
}

function reportLimits({ kind, limits }: ToolDemand, plan: Json, missing: Missing): void {
  if (kind === "count" || kind === "meta") return;
  const max = kind === "lookup" ? plan["rows"] : isRecord(plan["limit"]) ? plan["limit"]["max"] : undefined;
  const wanted = kind === "lookup" ? Math.min(limits.default, limits.max) : limits.max;
  if (max !== wanted) missing("output", `at most ${wanted} rows`);
}

/** Steps that only sort or group show no less than they are given, so only their kinds are compared. */
function reportSteps(demand: ToolDemand, parts: PlanParts, missing: Missing): void {
  const [first = {}, ...others] = demand.steps;
  const retrieve = isRecord(first["retrieve"]) ? first["retrieve"] : {};
  const filter = parts.read?.["filter"];
  if (!same(filter, filterOf(retrieve["filter"], demand.instants) ?? undefined)) missing("retrieve", "the step's own filter");
  for (const [index, written] of others.entries()) {
    const step = parts.steps[index] ?? {};
    const [kind = "", body] = Object.entries(written)[0] ?? [];
    const inner = isRecord(body) ? body : {};
    if (step["kind"] !== kind) missing(`steps[${index + 1}]`, `the step '${kind}'`);
    else if (kind === "project" && !same(step["fields"], inner["fields"])) missing(`steps[${index + 1}]`, `the projection to ${JSON.stringify(inner["fields"])}`);
    else if (kind === "post_filter" && !isExpression(step, inner["expr"], demand.instants)) missing(`steps[${index + 1}]`, `the filter '${String(inner["expr"])}'`);
  }
  if (parts.steps.length !== others.length) missing("steps", `the ${others.length} written steps and no others`);
}

/** A filter as written in the form of plans: absent where it says nothing, lists of one without their list. */
function filterOf(written: unknown, instants: Instants): unknown {
  if (!isRecord(written)) return null;
  for (const word of ["and", "or"] as const) {
    if (!Array.isArray(written[word])) continue;
    const children = (written[word] as readonly unknown[]).map((child) => filterOf(child, instants)).filter((child) => child !== null);
    return children.length > 1 ? { [word]: children } : children[0] ?? null;
  }
  const { path, op = "eq", value, param } = written;
  if (path === undefined) return null;
  const named = param ?? (isRecord(value) ? value["param"] ?? value["$param"] : undefined);
  if (named === undefined) return { path, op, value, ...(comparesDates(instants.fields, path, op, value) ? { dtype: "datetime" } : {}) };
  // What the argument is decides, whatever the field is.
  const isDate = instants.params.has(String(named)) && !NO_INSTANTS.has(String(op));
  return { path, op, param: named, ...(isDate ? { dtype: "datetime" } : {}) };
}

/** The text is the written one, and the tree is the one of that text. */
function isExpression({ text, expr }: Json, written: unknown, instants: Instants): boolean {
  return typeof written === "string" && text === written && same(expr, treeOf(written, instants));
}
