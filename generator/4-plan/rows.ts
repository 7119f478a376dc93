/** What is known of the rows that a tool returns: their fields, and the types that the catalog states. */
import { covers } from "../../runtime/base/paths.js";
import { unreachable } from "../bug.js";
import type { Dtype, ResolvedTarget, ResolvedTool, RowField, RowShape } from "../ir.js";

const UNKNOWN: RowField["type"] = null;

/** The shape of a tool's rows; `null` where they hold whatever the store has. */
export function rowsOf(tool: ResolvedTool, stated: StatedTypes): RowShape | null {
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
      return { fields: [...new Set(names)].map((name) => fieldOf(name, tool, stated)), id, score };
    }
    default:
      return unreachable(tool.kind);
  }
}

/** What the tools of a collection say together of one of its fields. */
export type StatedTypes = (tool: ResolvedTool, name: string) => FieldType;

/** Looked up once for each collection and field: a catalog may have thousands of tools over one collection. */
export function statedTypes(tools: readonly ResolvedTool[]): StatedTypes {
  const collections = new Map(tools.map((tool) => [tool, collectionOf(tool)]));
  const readers = new Map<string, ResolvedTool[]>();
  for (const [tool, collection] of collections) {
    if (collection === null) continue;
    const others = readers.get(collection);
    if (others === undefined) readers.set(collection, [tool]);
    else others.push(tool);
  }
  const known = new Map<string, Map<string, FieldType>>();
  return (tool, name) => {
    const collection = collections.get(tool) ?? null;
    if (collection === null) return { type: UNKNOWN };
    const fields = known.get(collection) ?? new Map<string, FieldType>();
    known.set(collection, fields);
    const type = fields.get(name) ?? agreed((readers.get(collection) ?? []).flatMap((each) => statedBy(each, name)));
    fields.set(name, type);
    return type;
  };
}

/** The collection that a tool reads; `null` where an argument names it. */
function collectionOf(tool: ResolvedTool): string | null {
  const target = targetOf(tool);
  return target !== null && typeof target.collection === "string" ? JSON.stringify([target.connection, target.collection]) : null;
}

function targetOf({ target, steps }: ResolvedTool): ResolvedTarget | null {
  const [first] = steps;
  return first?.kind === "retrieve" ? first.target : target;
}

/** A field that a record lacks is null. */
function fieldOf(name: string, tool: ResolvedTool, stated: StatedTypes): RowField {
  // Of a redacted value only some is left, as a text; which, depends on the value.
  if (tool.output.redact.some(({ path }) => covers(path, name) || covers(name, path))) return { name, type: UNKNOWN };
  const type = stated(tool, name);
  return type.type === UNKNOWN ? { name, type: UNKNOWN } : { name, ...type, nullable: true };
}

/** Tools that disagree about a type state none. */
function agreed(types: readonly FieldType[]): FieldType {
  const [first] = types;
  return first === undefined || types.some(({ type, list }) => type !== first.type || list !== first.list) ? { type: UNKNOWN } : first;
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
