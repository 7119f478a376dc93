/**
 * Filters as Chroma's `where` objects, with record ids beside them: Chroma addresses ids, it does not filter on them.
 * Pure. An object has one key, so two conditions need `$and`. Metadata has no nulls, lists or nested objects.
 */
import type { Condition, Filter } from "../../abi/filter.js";
import { flatPath, operandsOf, reduceFilter, refuse, refuseInstants, type Compiled } from "../reduce.js";
import { compareWhere, compileWhere, groupWheres, joinWheres, type Where } from "../where.js";

export interface ChromaFilter {
  readonly where?: Where;
  /** Only these records; never empty. */
  readonly ids?: readonly string[];
}

/** @throws BackendError unsupported for lists, nested paths, nulls, orders of texts, and ids inside an `or`. */
export function compileFilter(filter: Filter): Compiled<ChromaFilter> {
  const reduced = reduceFilter(filter);
  if (typeof reduced === "string") return reduced;
  const parts = "and" in reduced ? reduced.and : [reduced];
  const ids = parts.filter(isId).map(idsOf);
  const rest = parts.filter((part) => !isId(part)).map((part) => compileWhere(part, compileCondition));
  const common = ids.reduce<readonly string[] | null>((kept, some) => (kept === null ? some : kept.filter((id) => some.includes(id))), null);
  const where = joinWheres("$and", rest);
  if (where === "none" || common?.length === 0) return "none";
  if (where === "all" && common === null) return "all";
  return { ...(where === "all" ? {} : { where }), ...(common === null ? {} : { ids: common }) };
}

function isId(filter: Filter): filter is Condition {
  return "path" in filter && filter.path === "id";
}

function idsOf(condition: Condition): readonly string[] {
  if (condition.op !== "eq" && condition.op !== "in") return refuse("chroma", `the operator ${condition.op} on record ids`);
  return operandsOf(condition).map(String);
}

const TYPES = ["string", "number", "boolean"] as const;

function compileCondition(condition: Condition): Compiled<Where> {
  if (isId(condition)) return refuse("chroma", "record ids inside an 'or'");
  const path = flatPath("chroma", condition);
  refuseInstants("chroma", condition);
  const { op } = condition;
  switch (op) {
    case "eq":
    case "ne":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return compareWhere("chroma", path, op, condition);
    case "in":
      return joinWheres("$or", groupWheres(path, "$in", operandsOf(condition), TYPES));
    case "nin":
      return joinWheres("$and", groupWheres(path, "$nin", operandsOf(condition), TYPES));
    case "exists":
    case "is_null":
    case "contains_any":
    case "contains_all":
    case "like":
    case "text_match":
      return refuse("chroma", `the operator ${op}`);
    default:
      return op satisfies never;
  }
}
