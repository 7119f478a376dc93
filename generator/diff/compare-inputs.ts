/** Fields that an argument gives away although no row carries them: by the names of a directory, or by guessing. */
import type { ToolPlan } from "../../runtime/abi/plan.js";
import { covers } from "../../runtime/base/paths.js";
import type { Changes } from "./change.js";
import { leaves } from "./compare-isolation.js";
import { visibleOf } from "./compare-steps.js";
import { outputOf, readOf } from "./read.js";

/** Reports arguments that are new, or test another field, and tell more than the rows of the old tool did. */
export function compareInputs(old: ToolPlan, next: ToolPlan, changes: Changes): void {
  const [before, after] = [readOf(old), readOf(next)];
  for (const { arg, path, op, resolve } of after.bind) {
    const known = before.bind.find((binding) => binding.arg === arg);
    const isOwn = resolve?.connection === after.connection && resolve.collection === after.collection;
    // Names of redacted fields are never suggested.
    if (resolve !== undefined && isOwn && known?.resolve === undefined && !isShown(old, resolve.field) && !isRedacted(next, resolve.field)) {
      changes.add("isolation-weakening", `directory of ${arg}`, `values of ${resolve.field} are offered to callers, and no row carried them`);
    }
    if (isRedacted(next, path) && (isRedacted(old, path) || !isShown(old, path)) && !before.bind.some((binding) => binding.path === path && binding.op === op)) {
      changes.add("isolation-weakening", `argument ${arg}`, `'${arg}' tests ${path}, which is redacted: its values can be guessed`);
    }
  }
}

/** Whether rows of a tool carry a field, redacted or not. */
function isShown(plan: ToolPlan, path: string): boolean {
  const output = outputOf(plan);
  if (output === undefined) return false;
  const fields = visibleOf(plan);
  return leaves({ ...output, ...(fields === null ? {} : { fields }) }, path);
}

function isRedacted(plan: ToolPlan, path: string): boolean {
  return (outputOf(plan)?.redact ?? []).some((rule) => covers(rule.path, path) || covers(path, rule.path));
}
