/** Rules about what leaves the process. */
import type { Rule } from "../rule.js";

export const limits: Rule = ({ catalog }, reporter) => {
  for (const { name, output, origin } of catalog.tools) {
    if (origin !== "user" || output.limitDefault <= output.limitMax) continue;
    reporter.report("TS0203", { default: output.limitDefault, max: output.limitMax }, { path: [...output.at, "limit_default"] }, { tool: name });
  }
};
