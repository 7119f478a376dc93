/**
 * Phase 3: Resolved → Checked. Runs every rule and reports all problems; only a catalog without errors gets the brand
 * that the planner asks for. Rules know the resolved catalog, the capability table and the stores' pure filter
 * compilers, and nothing that does I/O.
 */
import { createReporter, hasErrors } from "../diagnostics.js";
import type { Checked, Pass, Resolved } from "../ir.js";
import { createSubject, type Rule } from "./rule.js";
import * as builtins from "./rules/builtins.js";
import * as catalog from "./rules/catalog.js";
import * as connections from "./rules/connections.js";
import * as filters from "./rules/filters.js";
import * as kinds from "./rules/kinds.js";
import * as output from "./rules/output.js";
import * as parameters from "./rules/parameters.js";
import * as pipelines from "./rules/pipelines.js";
import * as queries from "./rules/queries.js";
import * as security from "./rules/security.js";
import { reportUnsupported, type Target } from "./rules/unsupported.js";

/** All rules, in the order reports of one place appear. */
const RULES: readonly Rule[] = [catalog, connections, kinds, parameters, filters, queries, output, pipelines, builtins, security]
  .flatMap((room): readonly Rule[] => Object.values(room));

export type { Target };

/** Checks a resolved catalog. The value is null when there is any error. */
export function check(resolved: Resolved, options: { readonly target: Target }): Pass<Checked> {
  const reporter = createReporter(resolved.parsed.file.path);
  const subject = createSubject(resolved);
  for (const rule of RULES) rule(subject, reporter);
  reportUnsupported(resolved, options.target, reporter);
  const { diagnostics } = reporter;
  return { value: hasErrors(diagnostics) ? null : (resolved as Checked), diagnostics };
}
