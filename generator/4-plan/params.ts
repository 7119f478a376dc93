/** What the model may pass to a tool, in the order it is advertised: query, parameters, limit. */
import { ARGUMENT_BOUNDS, inputSchemaOf, type ParamSpec, type ToolDefinition, type ToolInput } from "../../runtime/abi/params.js";
import type { Json, LimitPlan } from "../../runtime/abi/plan.js";
import { unreachable } from "../bug.js";
import type { Dtype, ResolvedParameter, ResolvedTool } from "../ir.js";
import { compact } from "./compact.js";
import { queryBlockOf, type QueryBlock } from "./query.js";

/** Operators whose operand is a list, whatever the field's own type. */
const LIST_OPS: ReadonlySet<string> = new Set(["in", "nin", "contains_any", "contains_all"]);

function jsonType(dtype: Dtype): ParamSpec["type"] {
  switch (dtype) {
    case "integer":
      return "integer";
    case "float":
      return "number";
    case "boolean":
      return "boolean";
    case "keyword":
    case "keyword[]":
    case "datetime":
    case "unknown":
      return "string";
    default:
      return unreachable(dtype);
  }
}

/** `isQuery`: the parameter takes the place of the query text. */
function parameterSpec(parameter: ResolvedParameter, isQuery: boolean): ParamSpec {
  const { dtype } = parameter;
  const list = dtype === "keyword[]" || (parameter.op !== null && LIST_OPS.has(parameter.op));
  const type = jsonType(dtype);
  const isEnum = parameter.enum !== null && parameter.resolve?.kind !== "directory";
  return compact<ParamSpec>({
    name: parameter.name,
    type,
    list: list ? true : undefined,
    format: dtype === "datetime" ? "date-time" : undefined,
    // A directory resolves free text, so its known members must not limit what the model may write.
    enum: parameter.resolve?.kind === "directory" ? undefined : (parameter.enum ?? undefined),
    description: parameter.description || undefined,
    default: (parameter.default as Json | undefined) ?? undefined,
    maximum: type === "integer" || type === "number" ? (parameter.max ?? undefined) : undefined,
    maxLength: type === "string" && !isEnum ? (parameter.maxLength ?? (isQuery ? ARGUMENT_BOUNDS.queryLength : ARGUMENT_BOUNDS.textLength)) : undefined,
    maxItems: list ? ARGUMENT_BOUNDS.listItems : undefined,
    required: parameter.required ? true : undefined,
  });
}

function querySpec(query: QueryBlock): ParamSpec {
  return { name: query.param, type: "string", maxLength: ARGUMENT_BOUNDS.queryLength, ...(query.required ? { required: true, nonEmpty: true } : {}) };
}

/**
 * The arguments of a tool. A user parameter named like the query or the limit keeps the user's own schema
 * at the automatic argument's place, and is required when either is.
 */
export function paramsOf(tool: ResolvedTool, limit: LimitPlan | null): readonly ParamSpec[] {
  const specs = new Map<string, ParamSpec>();
  const query = queryBlockOf(tool);
  if (query !== null) specs.set(query.param, querySpec(query));
  for (const parameter of tool.parameters) {
    const spec = parameterSpec(parameter, parameter.name === query?.param);
    specs.set(spec.name, specs.get(spec.name)?.required === true ? { ...spec, required: true } : spec);
  }
  if (limit !== null && !specs.has(limit.arg)) {
    specs.set(limit.arg, { name: limit.arg, type: "integer", default: limit.default, minimum: 1, maximum: limit.max });
  }
  return [...specs.values()];
}

/** A display name made of the tool's name: `search_movies` → `Search movies`. */
export function titleOf(name: string): string {
  const words = name.split("_").filter((word) => word !== "").join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Everything the model may know of a tool. */
export function inputOf(tool: ResolvedTool, limit: LimitPlan | null): ToolInput {
  return { name: tool.name, title: titleOf(tool.name), description: tool.description, params: paramsOf(tool, limit) };
}

/** The tool as tools/list sends it. */
export function definitionOf(input: ToolInput): ToolDefinition {
  return { name: input.name, title: input.title, description: input.description, inputSchema: inputSchemaOf(input.params) };
}
