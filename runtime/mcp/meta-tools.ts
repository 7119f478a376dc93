/**
 * list_available_tools and run_tool: the way to new tools for hosts that froze their list when they connected.
 * run_tool is no bypass: the inner name is resolved before anything else happens, and from there on the call is the
 * call of that tool.
 */
import type { ToolDefinition } from "../abi/params.js";
import type { Json } from "../abi/plan.js";
import { isObject } from "./jsonrpc.js";

export const LIST_TOOL = "list_available_tools";
export const RUN_TOOL = "run_tool";

const ROWS_SCHEMA = { rows: { type: "array", items: { type: "object" } }, count: { type: "integer" } } as const;

export const META_TOOLS: readonly (ToolDefinition & { readonly outputSchema: Json })[] = [
  {
    name: LIST_TOOL,
    title: "List available tools",
    description: "Lists every tool of this server with its description and input schema, as they are now. Use when a tool that should be there is missing from the list you were given.",
    inputSchema: { type: "object", properties: {} },
    outputSchema: { type: "object", properties: { ...ROWS_SCHEMA, message: { type: "string" } }, required: ["rows", "count", "message"] },
  },
  {
    name: RUN_TOOL,
    title: "Run a tool by name",
    description: "Runs a tool that list_available_tools names, and returns what that tool returns. Use when the tool cannot be called directly.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "Name of the tool, as list_available_tools gives it" },
        arguments: { type: "object", additionalProperties: true, description: "Arguments of that tool, as its inputSchema describes them" },
      },
      required: ["name"],
    },
    outputSchema: { type: "object", properties: ROWS_SCHEMA, required: ["rows", "count"] },
  },
];

/** What a call is really about, once run_tool has been seen through; `via` names the meta tools it goes through. */
export type Target = { readonly via: readonly string[] } & (
  | { readonly kind: "tool"; readonly name: string; readonly args: unknown }
  | { readonly kind: "list" }
  /** run_tool was used in a way that names no call: an ordinary result that says so. */
  | { readonly kind: "unusable"; readonly message: string }
);

const BY_RUN: readonly string[] = [RUN_TOOL];

export function isMetaTool(name: string): boolean {
  return name === LIST_TOOL || name === RUN_TOOL;
}

/** The tool and arguments that a call of a meta tool is about. */
export function resolveTarget(metaTool: string, args: unknown): Target {
  return metaTool === LIST_TOOL ? { kind: "list", via: [LIST_TOOL] } : resolveInner(args);
}

function resolveInner(args: unknown): Target {
  const unusable = (message: string): Target => ({ kind: "unusable", message, via: BY_RUN });
  const given = isObject(args) ? args : {};
  const inner = given["name"];
  if (typeof inner !== "string" || inner.trim() === "") {
    return unusable("run_tool needs the name of a tool; list_available_tools returns the names");
  }
  const name = inner.trim();
  if (name === RUN_TOOL) return unusable("run_tool cannot call itself");
  if (name === LIST_TOOL) return { kind: "list", via: [RUN_TOOL, LIST_TOOL] };
  const innerArgs = readArguments(given["arguments"]);
  if (innerArgs === null) return unusable(`arguments of '${name.slice(0, 128)}' must be an object`);
  return { kind: "tool", name, args: innerArgs, via: BY_RUN };
}

/** An object, or a text that holds one (some models quote it); nothing and a blank text are no arguments. */
function readArguments(value: unknown): { readonly [key: string]: unknown } | null {
  if (value === undefined || value === null) return {};
  if (isObject(value)) return value;
  if (typeof value !== "string") return null;
  if (value.trim() === "") return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
