/**
 * list_available_tools and run_tool: the way to new tools for hosts that froze their list when they connected.
 * run_tool is no bypass: the inner name is resolved before anything else happens, and from there on the call is the
 * call of that tool. Only a call of run_tool that names no tool reaches its handler.
 */
import type { Access, Program, Principal } from "../abi/call.js";
import type { ExtraResult } from "../abi/extra-tools.js";
import type { ToolDefinition } from "../abi/params.js";
import type { Json } from "../abi/plan.js";
import { parseJson } from "../base/parse-json.js";
import { isRecord } from "../base/paths.js";

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

/** The tool that a call runs. */
export interface Target {
  readonly name: string;
  readonly args: unknown;
  /** The meta tool that named it; `null` for a tool that is called directly. */
  readonly via: string | null;
}

/** The tool and arguments of a call: those inside run_tool, where that names a tool. */
export function resolveTarget(name: string, args: unknown): Target {
  if (name !== RUN_TOOL) return { name, args, via: null };
  const inner = resolveInner(args);
  return typeof inner === "string" ? { name, args, via: null } : inner;
}

/** What runs a meta tool. */
export function metaHandler(name: string, program: Program, access: Access): (args: unknown, call: { readonly principal: Principal }) => Promise<ExtraResult> {
  if (name === LIST_TOOL) {
    const lists = createAvailable(program, access);
    return async (_, { principal }) => lists(principal);
  }
  return async (args) => {
    const inner = resolveInner(args);
    return { payload: { rows: [], count: 0, message: typeof inner === "string" ? inner : "run_tool runs the tool that it names" } };
  };
}

/** Audiences whose lists are kept; there are as many as combinations of roles in use. */
const MAX_AUDIENCES = 256;

/** The tools that a caller may call, as rows: one result for all callers who may call the same ones. */
function createAvailable(program: Program, access: Access): (principal: Principal) => ExtraResult {
  const { extra } = program;
  const made = new Map<string, ExtraResult>();
  let listed = extra?.definitions;
  return (principal) => {
    if (extra?.definitions !== listed) {
      listed = extra?.definitions;
      made.clear();
    }
    const audience = access.audience(principal);
    const before = made.get(audience);
    if (before !== undefined) return before;
    const result = available(program, access, principal);
    if (made.size < MAX_AUDIENCES) made.set(audience, result);
    return result;
  };
}

function available({ tools, extra }: Program, access: Access, principal: Principal): ExtraResult {
  const rows = [...tools, ...(extra?.definitions ?? [])]
    .filter(({ name }) => access.refusal(name, principal) === null)
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return { payload: { rows, count: rows.length, message: "Call run_tool with one of these names and the arguments its inputSchema describes." }, isFixed: true };
}

/** What run_tool names, or a text that says why that is nothing. */
function resolveInner(args: unknown): Target | string {
  const given = isRecord(args) ? args : {};
  const inner = given["name"];
  if (typeof inner !== "string" || inner.trim() === "") {
    return "run_tool needs the name of a tool; list_available_tools returns the names";
  }
  const name = inner.trim();
  if (name === RUN_TOOL) return "run_tool cannot call itself";
  const innerArgs = readArguments(given["arguments"]);
  if (innerArgs === null) return name === LIST_TOOL ? { name, args: {}, via: RUN_TOOL } : `arguments of '${name.slice(0, 128)}' must be an object`;
  return { name, args: innerArgs, via: RUN_TOOL };
}

/** An object, or a text that holds one (some models quote it); nothing and a blank text are no arguments. */
function readArguments(value: unknown): { readonly [key: string]: unknown } | null {
  if (value === undefined || value === null) return {};
  if (isRecord(value)) return value;
  if (typeof value !== "string") return null;
  if (value.trim() === "") return {};
  const parsed = parseJson(value);
  return isRecord(parsed) ? parsed : null;
}
