/**
 * Filters as Pinecone's metadata filters. Pure. Metadata is flat and has text, numbers, booleans and lists of texts;
 * `$in` on a list field matches when one of its elements is among the operands. Records are not filtered by id.
 */
import type { Slot } from "../hole.js";
import { flatPath, operandsOf, reduceFilter, refuse, refuseInstants, type Compiled } from "../reduce.js";
import type { Shape, ShapeCondition } from "../shape.js";
import { compareWhere, compileWhere, groupWheres, joinWheres, type Where } from "../where.js";

/** Longest list that the service accepts. */
const MAX_LIST = 10_000;

/** @throws BackendError unsupported for ids, nested paths, nulls, orders of texts, and lists over 10,000. */
export function compileFilter(filter: Shape): Compiled<Where> {
  const reduced = reduceFilter(filter);
  return typeof reduced === "string" ? reduced : compileWhere(reduced, compileCondition);
}

function compileCondition(condition: ShapeCondition): Compiled<Where> {
  const path = flatPath("pinecone", condition);
  // No stored field has such a name; in a filter the service takes it for an operator.
  if (path.startsWith("$")) refuse("pinecone", `fields whose name begins with $ ('${path}')`);
  refuseInstants("pinecone", condition);
  if (path === "id") return refuse("pinecone", "filters on record ids");
  const { op } = condition;
  switch (op) {
    case "eq":
    case "ne":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return compareWhere("pinecone", path, op, condition);
    case "in":
    case "contains_any":
      return joinWheres("$or", among(path, "$in", operandsOf(condition)));
    case "nin":
      return joinWheres("$and", among(path, "$nin", operandsOf(condition)));
    case "contains_all":
      return joinWheres("$and", operandsOf(condition).map((value) => joinWheres("$or", among(path, "$in", [value]))));
    case "exists":
    case "is_null":
    case "like":
    case "text_match":
      return refuse("pinecone", `the operator ${op}`);
    default:
      return op satisfies never;
  }
}

/** Texts and numbers go into lists; booleans are compared one by one. */
function among(path: string, op: "$in" | "$nin", values: readonly Slot[]): readonly Where[] {
  if (values.length > MAX_LIST) refuse("pinecone", `lists of more than ${MAX_LIST} values`);
  const booleans = values.filter((value) => typeof value === "boolean");
  return [
    ...groupWheres(path, op, values, ["string", "number"]),
    ...booleans.map((value): Where => ({ [path]: { [op === "$in" ? "$eq" : "$ne"]: value } })),
  ];
}
