/** What isolates rows, fields and callers. Whatever cannot be shown to be at least as strict counts as loosened. */
import type { Condition, Filter, FilterTemplate } from "../../runtime/abi/filter.js";
import type { Guard, OutputPlan, RedactPlan, TenantPlan } from "../../runtime/abi/plan.js";
import { covers } from "../../runtime/base/paths.js";
import { same, show, without, type Changes } from "./change.js";
import { compareDocumentAcl } from "./document-acl.js";
import { conjunctsOf, impliedBy } from "./implication.js";
import type { Read } from "./read.js";

export function conditionText({ path, op, value }: Condition): string {
  return `${path} ${op} ${JSON.stringify(value)}`;
}

/** Guard, tenant, document access, route, reachable collections and the step's own filter. */
export function compareIsolation(old: Read, next: Read, changes: Changes): void {
  compareGuards(old.guard, next.guard, "guard", changes);
  compareTenants(old.tenant, next.tenant, changes);
  compareDocumentAcl(old.documentAcl, next.documentAcl, null, changes);
  for (const key of ["namespace", "tenant"] as const) {
    const [before, after] = [old.route?.[key], next.route?.[key]];
    if (same(before, after)) continue;
    changes.add(before === undefined ? "behavioural" : "isolation-weakening", "route", `the connection's ${key} is ${show(after)} instead of ${show(before)}`);
  }
  compareReach(old, next, changes);
  compareDirectories(old, next, changes);
  compareGuards(constantPart(old.filter), constantPart(next.filter), "retrieve filter", changes);
  for (const part of without(choicesOf(old.filter), choicesOf(next.filter))) changes.add("isolation-weakening", "retrieve filter", `${show(part)} is no longer always ANDed`);
}

/** Alternatives that arguments fill in: what they let through cannot be compared, only that they are there. */
function choicesOf(filter: FilterTemplate | undefined): readonly FilterTemplate[] {
  if (filter === undefined) return [];
  if ("and" in filter) return filter.and.flatMap(choicesOf);
  return "or" in filter && hasParam(filter) ? [filter] : [];
}

function compareGuards(old: Guard | null | undefined, next: Guard | null | undefined, subject: string, changes: Changes): void {
  const [before, after] = [conjunctsOf(old), conjunctsOf(next)];
  const lost = before.filter((condition) => !impliedBy(after, condition));
  for (const condition of lost) {
    const instead = after.filter(({ path }) => path === condition.path).map(conditionText);
    changes.add("isolation-weakening", subject, `${conditionText(condition)} is no longer always ANDed${instead.length === 0 ? "" : `; ${instead.join(" and ")} lets more through`}`);
  }
  const gained = after.filter((condition) => !impliedBy(before, condition));
  for (const condition of gained) changes.add("behavioural", subject, `${conditionText(condition)} is now always ANDed`);
}

/** The part of a template that no argument can change. */
function constantPart(filter: FilterTemplate | undefined): Filter | null {
  if (filter === undefined || "param" in filter) return null;
  if ("or" in filter) return hasParam(filter) ? null : (filter as Filter);
  if (!("and" in filter)) return filter;
  const parts = filter.and.map(constantPart).filter((part) => part !== null);
  return parts.length === 0 ? null : { and: parts };
}

function hasParam(filter: FilterTemplate): boolean {
  if ("and" in filter) return filter.and.some(hasParam);
  return "or" in filter ? filter.or.some(hasParam) : "param" in filter;
}

/** `override` and `warn` both replace the argument by the caller's tenant; only `strict` refuses. */
const STRICTNESS: { readonly [E in TenantPlan["enforce"]]: number } = { warn: 0, override: 0, strict: 1 };

function compareTenants(old: TenantPlan | undefined, next: TenantPlan | undefined, changes: Changes): void {
  if (same(old, next)) return;
  const subject = "tenancy";
  if (old === undefined) return changes.add("breaking", subject, "callers without a tenant are refused now");
  if (next === undefined) return changes.add("isolation-weakening", subject, `rows are no longer restricted to the caller's tenant (${old.path})`);
  if (!same({ ...old, enforce: "" }, { ...next, enforce: "" })) {
    return changes.add("isolation-weakening", subject, `the tenant is ${next.from} '${next.name}' on ${next.path} instead of ${old.from} '${old.name}' on ${old.path}`);
  }
  const gain = STRICTNESS[next.enforce] - STRICTNESS[old.enforce];
  changes.add(gain < 0 ? "isolation-weakening" : gain > 0 ? "breaking" : "behavioural", subject, `an argument that names another tenant is handled as '${next.enforce}' instead of '${old.enforce}'`);
}

function compareReach(old: Read, next: Read, changes: Changes): void {
  const subject = "collection";
  if (old.connection !== next.connection) return changes.add("behavioural", subject, `reads connection '${next.connection}' instead of '${old.connection}'`);
  if (typeof old.collection === "string" && typeof next.collection === "string") {
    if (old.collection !== next.collection) changes.add("behavioural", subject, `reads collection '${next.collection}' instead of '${old.collection}'`);
    return;
  }
  if (same(old.allowed, next.allowed)) return;
  if (next.allowed === null) return changes.add("isolation-weakening", subject, `any collection can be named; before only ${show(old.allowed)}`);
  const [gone, added] = old.allowed === null ? [["others"], []] : [without(old.allowed, next.allowed), without(next.allowed, old.allowed)];
  if (added.length > 0) changes.add("isolation-weakening", subject, `collections ${show(added)} can be named as well`);
  if (gone.length > 0) changes.add("breaking", subject, `only collections ${show(next.allowed)} can be named now`);
}

/** Names that a directory offers are rows too. */
function compareDirectories(old: Read, next: Read, changes: Changes): void {
  for (const { arg, resolve } of next.bind) {
    const before = old.bind.find((binding) => binding.arg === arg)?.resolve;
    if (resolve === undefined) continue;
    const subject = `directory of ${arg}`;
    // Without a directory before, its names are rows of a tool that returned none of them.
    if (before === undefined) {
      if (resolve.connection !== next.connection || resolve.collection !== next.collection) changes.add("isolation-weakening", subject, `names of '${resolve.collection}' are offered to callers`);
      continue;
    }
    if (before.connection !== resolve.connection || before.collection !== resolve.collection || before.field !== resolve.field) {
      changes.add("isolation-weakening", subject, `names come from ${resolve.field} of '${resolve.collection}' instead of ${before.field} of '${before.collection}'`);
    }
    compareGuards(before.guard, resolve.guard, subject, changes);
    compareTenants(before.tenant, resolve.tenant, changes);
    compareDocumentAcl(before.document_acl, resolve.document_acl, subject, changes);
  }
}

/** Whether a field, or a part of it, leaves the process. */
export function leaves(output: OutputPlan, path: string): boolean {
  return output.fields === undefined || output.fields.some((field) => field === path || field.startsWith(`${path}.`) || path.startsWith(`${field}.`));
}

/** The rule of each path; of several the last one applies. */
function rulesOf(output: OutputPlan): ReadonlyMap<string, RedactPlan> {
  return new Map((output.redact ?? []).map((rule) => [rule.path, rule]));
}

export function compareRedaction(old: OutputPlan, next: OutputPlan, changes: Changes): void {
  const [before, after] = [rulesOf(old), rulesOf(next)];
  for (const [path, rule] of before) {
    const now = after.get(path);
    if (same(rule, now)) continue;
    if (!leaves(next, path)) continue;
    // The rule of a whole record that held the field.
    if (now === undefined && next.redact?.some((other) => other.path !== path && covers(other.path, path) && other.mode === "omit") === true) continue;
    if (now === undefined) changes.add("isolation-weakening", "redaction", `${path} leaves as it is stored; before it was redacted (${rule.mode})`);
    else if (isStricter(rule, now)) changes.add(now.mode === "omit" ? "breaking" : "behavioural", "redaction", `${path} is redacted by '${now.mode}' instead of '${rule.mode}'`);
    else changes.add("isolation-weakening", "redaction", `${path} is redacted by ${describe(now)} instead of ${describe(rule)}`);
  }
  for (const [path, rule] of after) {
    if (before.has(path) || !leaves(old, path)) continue;
    changes.add(rule.mode === "omit" ? "breaking" : "behavioural", "redaction", `${path} is redacted now (${rule.mode})`);
  }
}

/** Omitting is stricter than anything, and the same patterns with further ones are stricter; other modes cannot be compared. */
function isStricter(old: RedactPlan, next: RedactPlan): boolean {
  if (next.mode === "omit") return true;
  if (old.mode !== "pattern" || next.mode !== "pattern") return false;
  const [before, after] = [old.patterns ?? [], next.patterns ?? []];
  return before.every((pattern, index) => same(pattern, after[index]));
}

function describe({ mode, patterns }: RedactPlan): string {
  return patterns === undefined ? `'${mode}'` : `'${mode}' ${show(patterns)}`;
}
