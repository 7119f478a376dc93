/**
 * describe_collection and define_tool as tools of a running server. They come from this side because a proposal is judged
 * by the compiler; the engine runs them as it runs every tool, with the same access check, deadline and observers.
 */
import { isToolError, ToolError } from "../../runtime/abi/errors.js";
import type { ExtraCall, ExtraResult, ExtraTool, ExtraTools } from "../../runtime/abi/extra-tools.js";
import type { Json } from "../../runtime/abi/plan.js";
import type { FieldInfo } from "../../runtime/adapters/adapter.js";
import { isRecord } from "../../runtime/base/paths.js";
import { systemProblem } from "../../runtime/base/system-error.js";
import type { Host } from "../host.js";
import { defineTool } from "./define.js";
import { DraftsProblem } from "./drafts-file.js";
import type { Base } from "./examine.js";
import { connectionOf, openCollections } from "./guardrails.js";
import { DRAFTS_FILE, type JsonMap } from "./record.js";

export interface AuthoringParts {
  readonly host: Host;
  /** Folder of the drafts file. */
  readonly cwd: string;
  /** The catalog that is served; made by the first call that needs it. */
  readonly base: () => Base;
}

export const DESCRIBE_TOOL = "describe_collection";
export const DEFINE_TOOL = "define_tool";

const ROWS: Json = { type: "array", items: { type: "object" } };

/** As clients of existing servers know them. */
export const AUTHORING_TOOLS: readonly ExtraTool[] = [
  {
    name: DESCRIBE_TOOL,
    title: "Describe a collection",
    description: "Lists the fields of a collection with their types, without any values. Use before define_tool, to learn which fields a tool can filter on.",
    inputSchema: { type: "object", properties: { connection: { type: "string" }, collection: { type: "string" } }, required: ["connection", "collection"] },
    outputSchema: { type: "object", properties: { rows: ROWS, count: { type: "integer" } }, required: ["rows", "count"] },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: DEFINE_TOOL,
    title: "Propose a tool",
    description: "Proposes a new read-only tool as a draft. A person reviews it; until it is approved it cannot be called. Use when no tool answers a question that comes up often.",
    inputSchema: { type: "object", properties: { name: { type: "string" }, description: { type: "string" }, spec: { type: "object" } }, required: ["name", "description", "spec"] },
    outputSchema: { type: "object", properties: { rows: ROWS, count: { type: "integer" }, warnings: { type: "array", items: { type: "string" } }, message: { type: "string" } }, required: ["rows", "count", "message"] },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  },
];

/** The two tools for one served catalog. */
export function authoringTools(parts: AuthoringParts): ExtraTools {
  let made: Base | null = null;
  const base = (): Base => (made ??= parts.base());
  return {
    definitions: AUTHORING_TOOLS,
    call: (tool, args, call) => (tool === DESCRIBE_TOOL ? describe(base(), args, call) : define(parts, base(), args, call)),
  };
}

function textOf(args: JsonMap, name: string): string {
  const value = args[name];
  if (typeof value !== "string" || value === "") throw new ToolError("invalid_arguments", `${name}: expected a text`);
  return value;
}

/** Names and types only: values of rows, and how many rows have one, would cross tenants and static filters. */
async function describe({ stock }: Base, args: JsonMap, { services, signal }: ExtraCall): Promise<ExtraResult> {
  const [name, collection] = [textOf(args, "connection"), textOf(args, "collection")];
  if (connectionOf(stock, name) === null) throw new ToolError("invalid_arguments", `connection: there is none of this name; there are ${Object.keys(connectionsOf(stock)).join(", ")}`);
  const open = openCollections(stock, name);
  const isOpen = open === null || open.has(collection);
  const info = isOpen ? await (await services.adapter(name)).describe(collection, signal) : null;
  // The same answer for both: which other collections the store has is nothing that callers may find out.
  if (info === null) throw new ToolError("invalid_arguments", `collection: connection '${name}' has none of this name that may be described${open === null ? "" : `; open are ${[...open].join(", ")}`}`);
  const rows = info.fields.map(rowOf);
  return { payload: { rows, count: rows.length } };
}

function connectionsOf({ connections }: JsonMap): JsonMap {
  return isRecord(connections) ? connections : {};
}

function rowOf({ path, dtype, nullable, indexed, sampled }: FieldInfo): { readonly [key: string]: Json } {
  return { path, dtype, null_rate: null, enum: null, examples: [], provenance: sampled === true ? "sample" : "native", nullable, indexed };
}

async function define({ host, cwd }: AuthoringParts, base: Base, args: JsonMap, { principal }: ExtraCall): Promise<ExtraResult> {
  const { spec } = args;
  if (!isRecord(spec)) throw new ToolError("invalid_arguments", "spec: expected an object");
  const proposal = { name: textOf(args, "name"), description: textOf(args, "description"), spec, principal: principal.id };
  try {
    return { payload: { ...(await defineTool(host, cwd, base, proposal)) } as unknown as { readonly [key: string]: Json } };
  } catch (error) {
    throw isToolError(error) ? error : callerError(error);
  }
}

/** What the operator has to mend. A path of the machine is for the log, which has the cause, not for the caller. */
function callerError(error: unknown): unknown {
  if (error instanceof DraftsProblem) return new ToolError("internal", "drafts cannot be saved: the drafts file cannot be used as it is; its owner has to look at it", {}, { cause: error });
  if (systemProblem(error) !== null) return new ToolError("internal", `drafts cannot be saved: ${DRAFTS_FILE} cannot be written`, {}, { cause: error });
  return error;
}
