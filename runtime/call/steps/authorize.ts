/** Who may run what, decided before the arguments are looked at. */
import type { Access, Principal } from "../../abi/call.js";
import { ToolError } from "../../abi/errors.js";
import { nearestName } from "../../base/nearest.js";
import type { RunnableTool, RunnableTools } from "../tools.js";

/**
 * What runs a tool, for a caller who may call it.
 * @throws ToolError invalid_arguments with the nearest name that the caller may call, or auth_error.
 */
export function authorize(tools: RunnableTools, access: Access, tool: string, principal: Principal): RunnableTool {
  const runnable = tools.get(tool);
  if (runnable === undefined) throw unknownTool(tool, [...tools.keys()].filter((name) => access.refusal(name, principal) === null));
  const refusal = access.refusal(tool, principal);
  if (refusal !== null) throw refusal;
  return runnable;
}

/** The answer to a name that is no tool; also used for the names that meta tools are given. */
export function unknownTool(tool: string, known: readonly string[]): ToolError {
  const meant = nearestName(tool, known);
  const hint = meant === null ? "" : ` (did you mean '${meant}'?)`;
  return new ToolError("invalid_arguments", `unknown tool '${tool.slice(0, 128)}'${hint}; list_available_tools returns the tools there are`);
}
