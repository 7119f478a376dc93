/**
 * Filters as Chroma's `where` objects, with record ids beside them: Chroma addresses ids, it does not filter on them.
 * Pure. An object has one key, so two conditions need `$and`. Metadata has no nulls, lists or nested objects.
 * The server cuts the fraction of an operand off before it compares it with stored whole numbers (5 equals 5.5, and is
 * not below 5.2); `fractional` writes such comparisons so that both kinds of stored numbers are compared as they are.
 */
import type { Condition, Filter, Scalar } from "../../abi/filter.js";
import { flatPath, operandOf, operandsOf, reduceFilter, refuse, refuseInstants, type Compiled } from "../reduce.js";
import { type Comparison, compareWhere, compileWhere, groupWheres, joinWheres, type Where } from "../where.js";

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
  refuseUnwritable(condition);
  return operandsOf(condition).map(String);
}

/** What the server reads in no request: half a surrogate pair, and a whole number that JSON writes with over 64 bits. */
function refuseUnwritable(condition: Condition): void {
  for (const value of operandsOf(condition)) {
    if (typeof value === "string" && /\p{Surrogate}/u.test(value)) refuse("chroma", "texts with half a surrogate pair");
    if (typeof value === "number" && Math.abs(value) >= MAX_WHOLE && Math.abs(value) < FIRST_WITH_EXPONENT) refuse("chroma", "whole numbers beyond 64 bits");
  }
}

const TYPES = ["string", "number", "boolean"] as const;

function compileCondition(condition: Condition): Compiled<Where> {
  if (isId(condition)) return refuse("chroma", "record ids inside an 'or'");
  const path = flatPath("chroma", condition);
  refuseUnwritable(condition);
  refuseInstants("chroma", condition);
  const { op } = condition;
  switch (op) {
    case "eq":
    case "ne":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return compareOne(path, op, condition);
    case "in":
      return joinWheres("$or", [...groupWheres(path, "$in", operandsOf(condition).filter(isWhole), TYPES), ...fractions(path, "eq", condition)]);
    case "nin":
      return joinWheres("$and", [...groupWheres(path, "$nin", operandsOf(condition).filter(isWhole), TYPES), ...fractions(path, "ne", condition)]);
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

function compareOne(path: string, op: Comparison, condition: Condition): Compiled<Where> {
  const value = operandOf(condition);
  return typeof value === "number" && !isWhole(value) ? fractional(path, op, value) : compareWhere("chroma", path, op, condition);
}

function fractions(path: string, op: "eq" | "ne", condition: Condition): readonly Where[] {
  return operandsOf(condition).flatMap((value) => (typeof value === "number" && !isWhole(value) ? [fractional(path, op, value)] : []));
}

/** Whole numbers of the server have 64 bits; beyond them a number is one with a fraction, to its lists as well. */
const MAX_WHOLE = 2 ** 63;
/** From here on JSON writes a number with an exponent, which the server reads as one with a fraction. */
const FIRST_WITH_EXPONENT = 1e21;

/** Everything but a number that the server reads as one with a fraction. */
function isWhole(value: Scalar): boolean {
  return typeof value !== "number" || (Number.isInteger(value) && Math.abs(value) < MAX_WHOLE);
}

/** A comparison with a number that has a fraction. Whole numbers stand beside it on either side, never on it. */
function fractional(path: string, op: Comparison, value: number): Where {
  const own: Where = { [path]: { [`$${op}`]: value } };
  const cut = Math.trunc(value);
  // So large that no stored whole number is near.
  if (cut === value) return own;
  switch (op) {
    case "eq":
      return { $and: [own, { [path]: { $ne: cut } }] };
    case "ne":
      return { $or: [own, { [path]: { $eq: cut } }] };
    case "gt":
      return { $or: [own, { [path]: { $gte: Math.ceil(value) } }] };
    case "lt":
      return { $or: [own, { [path]: { $lte: Math.floor(value) } }] };
    case "gte":
      return value < 0 ? own : { $and: [own, { [path]: { $ne: cut } }] };
    case "lte":
      return value > 0 ? own : { $and: [own, { [path]: { $ne: cut } }] };
  }
}
