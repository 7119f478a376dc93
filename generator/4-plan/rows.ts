/** What is known of the rows that a tool returns: their fields, and the types that the catalog states. */
import { covers } from "../../runtime/base/paths.js";
import { unreachable } from "../bug.js";
import type { Dtype, ResolvedTarget, ResolvedTool, RowField, RowShape } from "../ir.js";

const UNKNOWN: RowField["type"] = null;

/** The shape of a tool's rows; `null` where they hold whatever the store has. `tools` are all of the catalog. */
export function rowsOf(tool: ResolvedTool, tools: readonly ResolvedTool[]): RowShape | null {
  switch (tool.kind) {
    case "count":
      return { fields: [{ name: "count", type: "integer" }], id: false, score: false };
    case "meta":
      return { fields: [{ name: "collection", type: "string" }, { name: "approx_count", type: "integer", nullable: true }], id: false, score: false };
    case "search":
    case "scroll":
    case "lookup":
    case "pipeline": {
      const { fields, includeId: id, includeScore: score, redact } = tool.output;
      if (fields === null) return null;
      const names = fields.filter((name) => name !== "_id" && name !== "_score" && !redact.some(({ mode, path }) => mode === "omit" && covers(path, name)));
      const beside = tools.filter((other) => sameRecords(tool, other));
      return { fields: [...new Set(names)].map((name) => fieldOf(name, tool, beside)), id, score };
    }
    default:
      return unreachable(tool.kind);
  }
}

/** Whether two tools read the same collection: what one says of a field, the other may rely on. */
function sameRecords(one: ResolvedTool, other: ResolvedTool): boolean {
  const [mine, theirs] = [targetOf(one), targetOf(other)];
  return mine !== null && theirs !== null && typeof mine.collection === "string" && mine.connection === theirs.connection && mine.collection === theirs.collection;
}

function targetOf({ target, steps }: ResolvedTool): ResolvedTarget | null {
  const [first] = steps;
  return first?.kind === "retrieve" ? first.target : target;
}

/** A field that a record lacks is null. Tools that disagree about a type state none. */
function fieldOf(name: string, tool: ResolvedTool, beside: readonly ResolvedTool[]): RowField {
  // Of a redacted value only some is left, as a text; which, depends on the value.
  if (tool.output.redact.some(({ path }) => covers(path, name) || covers(name, path))) return { name, type: UNKNOWN };
  const types = beside.flatMap((each) => statedBy(each, name));
  const [first] = types;
  if (first === undefined || first.type === UNKNOWN || types.some(({ type, list }) => type !== first.type || list !== first.list)) return { name, type: UNKNOWN };
  return { name, ...first, nullable: true };
}

type FieldType = Pick<RowField, "type" | "list">;

/** `dtypes` states the type; without it a parameter on the same path says what the field is compared with. */
function statedBy({ dtypes, parameters }: ResolvedTool, name: string): readonly FieldType[] {
  const stated = Object.hasOwn(dtypes, name) ? dtypes[name] : undefined;
  if (stated !== undefined) return [typeOf(stated)];
  return parameters.filter(({ path, op }) => path === name && op !== "exists" && op !== "is_null").map(({ dtype, op }) => {
    const type = typeOf(dtype);
    if (op === "contains_any" || op === "contains_all") return type.type === UNKNOWN ? type : { ...type, list: true };
    // Then the argument is a list; of the field that says nothing.
    return type.list === true && (op === "in" || op === "nin") ? { type: UNKNOWN } : type;
  });
}

function typeOf(dtype: Dtype): FieldType {
  switch (dtype) {
    case "keyword":
      return { type: "string" };
    case "keyword[]":
      return { type: "string", list: true };
    case "integer":
      return { type: "integer" };
    case "float":
      return { type: "number" };
    case "boolean":
      return { type: "boolean" };
    // A point in time is stored as a text or as a number.
    case "datetime":
    case "unknown":
      return { type: UNKNOWN };
    default:
      return unreachable(dtype);
  }
}
