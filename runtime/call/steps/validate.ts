/** Arguments against the tool's schema: the one place that turns a validator's issues into a message for the model. */
import { ToolError } from "../../abi/errors.js";
import { checkArgs, ownOnly, type ValidationIssue, type Validator } from "../../abi/params.js";
import type { CallArgs } from "../../abi/call.js";

/** Issues in one message; more add nothing the model could act on. */
const MAX_ISSUES = 5;

/**
 * The arguments as the schema returns them: defaults applied, unknown names dropped.
 * @throws ToolError invalid_arguments that names each argument and what was expected of it.
 */
export function validateArgs(validator: Validator, args: unknown): CallArgs {
  const result = checkArgs(validator, args ?? {});
  if (result.success) return ownOnly(result.data) as CallArgs;
  const { issues } = result.error;
  const lines = issues.slice(0, MAX_ISSUES).map(describeIssue);
  if (issues.length > MAX_ISSUES) lines.push(`and ${issues.length - MAX_ISSUES} more`);
  throw new ToolError("invalid_arguments", lines.join("; "), { issues: issues.slice(0, MAX_ISSUES).map((issue) => ({ path: issue.path.map(String), message: describeIssue(issue) })) });
}

/** `min_rating: expected number, received string`; an argument that is missing is called required. */
function describeIssue(issue: ValidationIssue): string {
  const where = issue.path.length === 0 ? "arguments" : issue.path.map(String).join(".");
  const what = issue.message.replace(/^(?:Invalid|Too|Unrecognized)[^:]*: /, "");
  const missing = /^(expected .*), received undefined$/.exec(what);
  return missing === null ? `${where}: ${what}` : `${where}: required, ${missing[1]}`;
}
