/** Who may run what, decided before the arguments are looked at. */
import type { Principal, Program } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import { nearestName } from "../abi/nearest.js";

/** Whether tools/list shows the tool to this caller; a tool that may not be called does not exist for them. */
export function mayCall(program: Program, tool: string, _principal: Principal): boolean {
  return Object.hasOwn(program.plans, tool);
}

/**
 * Refuses a call of a tool that is not there.
 * @throws ToolError invalid_arguments, with the nearest name that the caller may call.
 */
export function authorize(program: Program, tool: string, principal: Principal): void {
  if (mayCall(program, tool, principal)) return;
  throw unknownTool(tool, Object.keys(program.plans).filter((name) => mayCall(program, name, principal)));
}

/** The answer to a name that is no tool; also used for the names that meta tools are given. */
export function unknownTool(tool: string, known: readonly string[]): ToolError {
  const meant = nearestName(tool, known);
  const hint = meant === null ? "" : ` (did you mean '${meant}'?)`;
  return new ToolError("invalid_arguments", `unknown tool '${tool.slice(0, 128)}'${hint}; list_available_tools returns the tools there are`);
}
