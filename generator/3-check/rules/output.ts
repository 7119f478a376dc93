/** Rules about what leaves the process. */
import { compilePattern } from "../../../runtime/base/pattern.js";
import { show } from "../../diagnostics.js";
import type { Rule } from "../rule.js";

export const limits: Rule = ({ catalog }, reporter) => {
  for (const { name, output, origin } of catalog.tools) {
    if (origin !== "user" || output.limitDefault <= output.limitMax) continue;
    reporter.report("TS0203", { default: output.limitDefault, max: output.limitMax }, { path: [...output.at, "limit_default"] }, { tool: name });
  }
};

/** Patterns were written for another dialect, so each is tried here rather than at the first call. */
export const redactPatterns: Rule = ({ catalog }, reporter) => {
  for (const { name, output } of catalog.tools) {
    for (const { patterns, at } of output.redact) {
      for (const [index, { regex, replacement }] of patterns.entries()) {
        const detail = patternProblem(regex, replacement);
        if (detail !== null) reporter.report("TS0205", { regex: show(regex), detail }, { path: [...at, "patterns", index, "regex"] }, { tool: name });
      }
    }
  }
};

function patternProblem(regex: string, replacement: string): string | null {
  try {
    compilePattern(regex, replacement);
    return null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message.replace(/^Invalid regular expression: /, "");
  }
}
