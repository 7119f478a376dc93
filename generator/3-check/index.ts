/**
 * Phase 3: Resolved → Checked. Runs every rule and reports all problems; only a catalog without errors gets the brand
 * that the planner asks for. Rules know the resolved catalog, the capability table and the stores' pure filter
 * compilers, and nothing that does I/O.
 */
import { createReporter, distinct, hasErrors } from "../diagnostics.js";
import type { Checked, Pass, Resolved } from "../ir.js";
import { reportPackages } from "./packages.js";
import { reportEnterprise, reportHardening, reportPacks } from "./profiles.js";
import { createSubject, type Rule, type Target } from "./rule.js";
import * as audit from "./rules/audit.js";
import * as builtins from "./rules/builtins.js";
import * as catalog from "./rules/catalog.js";
import * as connections from "./rules/connections.js";
import * as dates from "./rules/dates.js";
import * as filters from "./rules/filters.js";
import * as hosts from "./rules/hosts.js";
import * as kinds from "./rules/kinds.js";
import * as metrics from "./rules/metrics.js";
import * as output from "./rules/output.js";
import * as documentAcl from "./rules/document-acl.js";
import * as directories from "./rules/directories.js";
import * as parameters from "./rules/parameters.js";
import * as pipelines from "./rules/pipelines.js";
import * as queries from "./rules/queries.js";
import * as rates from "./rules/rates.js";
import * as redaction from "./rules/redaction.js";
import * as auth from "./rules/auth.js";
import * as security from "./rules/security.js";
import { reportProviders } from "./rules/providers.js";
import * as tracing from "./rules/tracing.js";

/** All rules, in the order reports of one place appear. */
const RULES: readonly Rule[] = [catalog, connections, kinds, parameters, filters, dates, directories, queries, output, redaction, pipelines, builtins, security, rates, audit, auth, documentAcl, tracing, metrics, hosts]
  .flatMap((room): readonly Rule[] => Object.values(room));

export type { Target };

export interface CheckOptions {
  readonly target: Target;
  /** Rules of the enterprise profile too. */
  readonly enterprise?: boolean;
  /** Built-in policy packs to apply. */
  readonly packs?: readonly string[];
  /** Whether an optional package is there; packages are not looked at when absent. */
  readonly isInstalled?: (name: string) => boolean;
}

/** Checks a resolved catalog. The value is null when there is any error. */
export function check(resolved: Resolved, options: CheckOptions): Pass<Checked> {
  const reporter = createReporter(resolved.parsed.file.path);
  const packs = options.packs ?? [];
  const subject = createSubject(resolved, options.enterprise === true || packs.includes("enterprise") || resolved.settings.hardening !== undefined);
  for (const rule of RULES) rule(subject, reporter);
  if (options.target !== "describe") reportHardening(resolved, reporter);
  if (options.enterprise === true) reportEnterprise(resolved, true, reporter);
  reportPacks(resolved, packs, reporter);
  if (options.isInstalled !== undefined) reportPackages(resolved, options.isInstalled, reporter);
  reportProviders(resolved, options.target, reporter);
  // Two rule sets may say the same of the same place.
  const diagnostics = distinct(reporter.diagnostics);
  return { value: hasErrors(diagnostics) ? null : (resolved as Checked), diagnostics };
}
