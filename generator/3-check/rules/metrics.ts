/** Rules about metrics. */
import type { Rule } from "../rule.js";

/** The specification serves metrics to everybody, so this is a warning, and only where the catalog wants to be strict. */
export const metricsGuarded: Rule = ({ catalog, enterprise }, reporter) => {
  const metrics = catalog.parsed.value.observability?.metrics;
  if (enterprise && metrics?.enabled === true && metrics.require_auth !== true) reporter.report("TS0271", {}, { path: ["observability", "metrics"], on: "key" });
};
