/**
 * Filters as Chroma's `where` objects, with record ids beside them: Chroma addresses ids, it does not filter on them.
 * Pure. An object holds one key, so two conditions need `$and`. Metadata holds no nulls, lists or nested objects.
 */
import type { Condition, Filter, Scalar } from "../../abi/filter.js";
import { flatPath, operandOf, operandsOf, reduceFilter, refuse, type Compiled } from "../reduce.js";

export type ChromaWhere =
  | { readonly [field: string]: { readonly [op: string]: string | number | boolean | readonly (string | number | boolean)[] } }
  | { readonly $and: readonly ChromaWhere[] }
  | { readonly $or: readonly ChromaWhere[] };

export interface ChromaFilter {
  readonly where?: ChromaWhere;
  /** Only these records; never empty. */
  readonly ids?: readonly string[];
}

/** @throws BackendError unsupported for lists, nested paths, nulls, orders of texts, and ids inside an `or`. */
export function compileFilter(filter: Filter): Compiled<ChromaFilter> {
  const reduced = reduceFilter(filter);
  if (typeof reduced === "string") return reduced;
  const parts = "and" in reduced ? reduced.and : [reduced];
  const ids = parts.filter(isId).map(idsOf);
  const rest = parts.filter((part) => !isId(part)).map(compile);
  const common = ids.reduce<readonly string[] | null>((kept, some) => (kept === null ? some : kept.filter((id) => some.includes(id))), null);
  if (rest.includes("none") || common?.length === 0) return "none";
  const wheres = rest.filter((part): part is ChromaWhere => typeof part !== "string");
  const where = wheres.length > 1 ? { $and: wheres } : wheres[0];
  if (where === undefined && common === null) return "all";
  return { ...(where === undefined ? {} : { where }), ...(common === null ? {} : { ids: common }) };
}

function isId(filter: Filter): filter is Condition {
  return "path" in filter && filter.path === "id";
}

function idsOf(condition: Condition): readonly string[] {
  if (condition.op !== "eq" && condition.op !== "in") return refuse("chroma", `the operator ${condition.op} on record ids`);
  return operandsOf(condition).map(String);
}

function compile(filter: Filter): Compiled<ChromaWhere> {
  if ("and" in filter) return join("$and", filter.and.map(compile));
  if ("or" in filter) return join("$or", filter.or.map(compile));
  if (isId(filter)) return refuse("chroma", "record ids inside an 'or'");
  return compileCondition(filter);
}

function join(word: "$and" | "$or", parts: readonly Compiled<ChromaWhere>[]): Compiled<ChromaWhere> {
  const decisive = word === "$and" ? "none" : "all";
  if (parts.includes(decisive)) return decisive;
  const rest = parts.filter((part): part is ChromaWhere => typeof part !== "string");
  const [only] = rest;
  if (only === undefined) return word === "$and" ? "all" : "none";
  return rest.length === 1 ? only : word === "$and" ? { $and: rest } : { $or: rest };
}

const OPERATORS = { eq: "$eq", ne: "$ne", gt: "$gt", gte: "$gte", lt: "$lt", lte: "$lte", in: "$in", nin: "$nin" } as const;

function compileCondition(condition: Condition): Compiled<ChromaWhere> {
  const path = flatPath("chroma", condition);
  const { op } = condition;
  switch (op) {
    case "eq":
    case "ne": {
      const value = operandOf(condition);
      // Metadata never holds a null, so nothing equals one.
      return value === null ? (op === "eq" ? "none" : "all") : { [path]: { [OPERATORS[op]]: value } };
    }
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const value = operandOf(condition);
      return typeof value === "number" ? { [path]: { [OPERATORS[op]]: value } } : refuse("chroma", "an order of texts or dates");
    }
    case "in":
    case "nin":
      return among(path, op, operandsOf(condition));
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

/** The lists of `$in` and `$nin` hold one type each. */
function among(path: string, op: "in" | "nin", values: readonly Scalar[]): Compiled<ChromaWhere> {
  const groups = (["string", "number", "boolean"] as const)
    .map((type) => values.filter((value): value is string | number | boolean => typeof value === type))
    .filter((group) => group.length > 0)
    .map((group): ChromaWhere => ({ [path]: { [OPERATORS[op]]: group } }));
  return join(op === "in" ? "$or" : "$and", groups);
}
