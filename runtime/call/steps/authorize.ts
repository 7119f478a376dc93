/** Who may run what, decided before the arguments are read. */
import type { Access, Caller } from "../../abi/call.js";
import { ToolError } from "../../abi/errors.js";
import { nearestName } from "../../base/nearest.js";
import type { RunnableTool, RunnableTools } from "../tools.js";

/**
 * What runs a tool, for a caller who may call it.
 * @throws ToolError invalid_arguments with the nearest name that the caller may call, or for a client that lacks what
 * the tool needs (`missing_capabilities` in its data); auth_error.
 */
export function authorize(tools: RunnableTools, access: Access, tool: string, caller: Caller): RunnableTool {
  const { principal, via } = caller;
  if (via !== undefined && via !== null) refuseDenied(access, via);
  const runnable = tools.get(tool);
  if (runnable === undefined) throw unknownTool(tool, tools.names().filter((name) => access.refusal(name, principal) === null));
  // Every caller has the meta tools; no role needs to allow them.
  if (runnable.kind === "meta") refuseDenied(access, tool);
  const refusal = runnable.kind === "meta" ? null : access.refusal(tool, principal);
  if (refusal !== null) throw refusal;
  if (runnable.needs.length > 0) refuseMissing(tool, runnable.needs, caller);
  return runnable;
}

function refuseDenied(access: Access, tool: string): void {
  if (access.isDenied(tool)) throw new ToolError("auth_error", `tool '${tool}' is denied`);
}

function refuseMissing(tool: string, needs: readonly string[], caller: Caller): void {
  const missing = needs.filter((capability) => caller.lacks?.(capability) === true);
  if (missing.length > 0) throw new ToolError("invalid_arguments", `tool '${tool}' needs a client that declares ${missing.join(", ")}`, { missing_capabilities: missing });
}

/** The error for a name that is no tool, marked by `unknown_tool` in its data. */
export function unknownTool(tool: string, known: readonly string[]): ToolError {
  const meant = nearestName(tool, known);
  const hint = meant === null ? "" : ` (did you mean '${meant}'?)`;
  return new ToolError("invalid_arguments", `unknown tool '${tool.slice(0, 128)}'${hint}; list_available_tools returns the tools there are`, { unknown_tool: true });
}
