/** Document access of two catalogs: whether what a caller could see before still bounds what they see now. */
import type { AclRule, DocumentAclPlan } from "../../runtime/abi/plan.js";
import { same, without, type Changes } from "./change.js";

const SUBJECT = "document access";

/**
 * Whether every row that `next` shows a caller was shown by `old`, for all callers and rows. `next` shows a row where
 * one of its alternatives holds, `old` demands each of its clauses; so each alternative must contain a rule of each clause.
 * A refused caller sees nothing, which is within anything.
 */
export function isWithin(next: DocumentAclPlan | undefined, old: DocumentAclPlan | undefined): boolean {
  if (old === undefined) return true;
  if (next === undefined) return false;
  const alternatives = next.combine === "all" ? [next.rules] : next.rules.map((rule) => [rule]);
  const clauses = old.combine === "any" ? [old.rules] : old.rules.map((rule) => [rule]);
  return alternatives.every((alternative) => clauses.every((clause) => clause.some((rule) => alternative.some((other) => same(rule, other)))));
}

/** Removing a rule under `all`, adding one under `any`, another claim or field, and `all` → `any` loosen it. */
export function compareDocumentAcl(old: DocumentAclPlan | undefined, next: DocumentAclPlan | undefined, subject: string | null, changes: Changes): void {
  if (same(old, next)) return;
  const about = subject === null ? SUBJECT : `${subject}, ${SUBJECT}`;
  if (old === undefined && next !== undefined) return changes.add("breaking", about, `callers see only rows where ${aclText(next)}; without the claims they are refused`);
  if (old !== undefined && next === undefined) return changes.add("isolation-weakening", about, `rows are no longer restricted to those where ${aclText(old)}`);
  if (old === undefined || next === undefined) return;
  const message = `callers see rows where ${aclText(next)} instead of ${aclText(old)}${detail(old, next)}`;
  if (!isWithin(next, old)) changes.add("isolation-weakening", about, message);
  else if (!isWithin(old, next)) changes.add("breaking", about, message);
}

function detail(old: DocumentAclPlan, next: DocumentAclPlan): string {
  const [gone, added] = [without(old.rules, next.rules), without(next.rules, old.rules)] as readonly [readonly AclRule[], readonly AclRule[]];
  const part = (what: string, rules: readonly AclRule[]): string => (rules.length === 0 ? "" : `; ${what}: ${rules.map(ruleText).join(", ")}`);
  return `${part("gone", gone)}${part("new", added)}`;
}

const TEXTS = { any_of: "has one of claim", equals: "equals claim", at_most: "is at most claim" } as const;

function ruleText({ match, claim, field }: AclRule): string {
  return `${field} ${TEXTS[match]} '${claim}'`;
}

function aclText({ combine, rules }: DocumentAclPlan): string {
  return rules.map(ruleText).join(combine === "all" ? " and " : " or ");
}
