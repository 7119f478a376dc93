/**
 * Filters as Chroma's `where` objects, with record ids beside them: Chroma addresses ids, it does not filter on them.
 * Pure. An object has one key, so two conditions need `$and`. Metadata has no nulls, lists or nested objects.
 * The server cuts the fraction of an operand off before it compares it with stored whole numbers (5 equals 5.5, and is
 * not below 5.2); `fractional` writes such comparisons so that both kinds of stored numbers are compared as they are.
 */
import { Hole, isLate, isNumber, later, laterAll, place, type Slot } from "../hole.js";
import { flatPath, operandOf, operandsOf, reduceFilter, refuse, refuseInstants, type Compiled } from "../reduce.js";
import { isReadAlike, type Shape, type ShapeCondition } from "../shape.js";
import { type Comparison, compareWhere, compileWhere, groupWheres, joinWheres, type Where } from "../where.js";

export interface ChromaFilter {
  readonly where?: Where;
  /** Only these records; empty where no record has all ids that are asked for. */
  readonly ids?: readonly string[];
}

/** @throws BackendError unsupported for lists, nested paths, nulls, orders of texts, and ids inside an `or`. */
export function compileFilter(filter: Shape): Compiled<ChromaFilter> {
  const reduced = reduceFilter(filter);
  if (typeof reduced === "string") return reduced;
  const parts = "and" in reduced ? reduced.and : [reduced];
  const ids = parts.filter(isId).map(idsOf);
  const rest = parts.filter((part) => !isId(part)).map((part) => compileWhere(part, compileCondition));
  const where = joinWheres("$and", rest);
  const wanted = ids.length === 0 ? null : common(ids);
  if (where === "none" || (wanted !== null && !isLate(wanted) && wanted.length === 0)) return "none";
  if (where === "all" && wanted === null) return "all";
  return { ...(where === "all" ? {} : { where }), ...(wanted === null ? {} : { ids: wanted }) };
}

function isId(filter: Shape): filter is ShapeCondition {
  return "path" in filter && filter.path === "id";
}

function idsOf(condition: ShapeCondition): readonly Slot[] {
  if (condition.op !== "eq" && condition.op !== "in") return refuse("chroma", `the operator ${condition.op} on record ids`);
  refuseUnwritable(condition);
  return operandsOf(condition);
}

/** The ids that all conditions name; they may be known in a call only. */
function common([first = [], ...others]: readonly (readonly Slot[])[]): readonly string[] {
  if (others.length === 0) return first.map((id) => place(id as string | Hole));
  const sizes = [first, ...others].map((some) => some.length);
  return laterAll([first, ...others].flat(), (all) => {
    const lists = sizes.map((size, index) => all.slice(sum(sizes.slice(0, index)), sum(sizes.slice(0, index)) + size).map(String));
    return (lists[0] ?? []).filter((id) => lists.every((list) => list.includes(id)));
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/**
 * What the server reads in no request (half a surrogate pair, a whole number that JSON writes with over 64 bits) or as
 * another value: a number of more digits than 53 bits have may be its neighbour to the server, in rows as well.
 */
function refuseUnwritable(condition: ShapeCondition): void {
  for (const value of operandsOf(condition)) {
    if (typeof value === "string" && /\p{Surrogate}/u.test(value)) refuse("chroma", "texts with half a surrogate pair");
    if (typeof value === "number" && Math.abs(value) >= MAX_WHOLE && Math.abs(value) < FIRST_WITH_EXPONENT) refuse("chroma", "whole numbers beyond 64 bits");
    if (typeof value === "number" && !isWholeText(value) && !isReadAlike(value)) refuse("chroma", `numbers that its server reads inexactly (${value}); give fewer digits`);
  }
}

/** JSON writes it with digits alone. */
function isWholeText(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < FIRST_WITH_EXPONENT;
}

const TYPES = ["string", "number", "boolean"] as const;

function compileCondition(condition: ShapeCondition): Compiled<Where> {
  if (isId(condition)) return refuse("chroma", "record ids inside an 'or'");
  const path = flatPath("chroma", condition);
  // No stored field has such a name; in a filter the server takes it for an operator or for a key of its own.
  if (/^[$#]/.test(path)) refuse("chroma", `fields whose name begins with $ or # ('${path}')`);
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

function compareOne(path: string, op: Comparison, condition: ShapeCondition): Compiled<Where> {
  const value = operandOf(condition);
  return isNumber(value) && !isWhole(value) ? fractional(path, op, value) : compareWhere("chroma", path, op, condition);
}

function fractions(path: string, op: "eq" | "ne", condition: ShapeCondition): readonly Where[] {
  return operandsOf(condition).flatMap((value) => (isNumber(value) && !isWhole(value) ? [fractional(path, op, value)] : []));
}

/** Whole numbers of the server have 64 bits; beyond them a number is one with a fraction, to its lists as well. */
const MAX_WHOLE = 2 ** 63;
/** From here on JSON writes a number with an exponent, which the server reads as one with a fraction. */
const FIRST_WITH_EXPONENT = 1e21;

/** Everything but a number that the server reads as one with a fraction. */
function isWhole(value: Slot): boolean {
  if (value instanceof Hole) return value.kind !== "fraction";
  return typeof value !== "number" || (Number.isInteger(value) && Math.abs(value) < MAX_WHOLE);
}

/** A comparison with a number that has a fraction. Whole numbers stand beside it on either side, never on it. */
function fractional(path: string, op: Comparison, value: number | Hole): Where {
  const own: Where = { [path]: { [`$${op}`]: place(value) } };
  // So large that no stored whole number is near.
  if (!(value instanceof Hole) && Math.trunc(value) === value) return own;
  const cut = later(value, Math.trunc);
  const isNegative = value instanceof Hole ? value.isNegative : value < 0;
  switch (op) {
    case "eq":
      return { $and: [own, { [path]: { $ne: cut } }] };
    case "ne":
      return { $or: [own, { [path]: { $eq: cut } }] };
    case "gt":
      return { $or: [own, { [path]: { $gte: later(value, Math.ceil) } }] };
    case "lt":
      return { $or: [own, { [path]: { $lte: later(value, Math.floor) } }] };
    case "gte":
      return isNegative ? own : { $and: [own, { [path]: { $ne: cut } }] };
    case "lte":
      return !isNegative ? own : { $and: [own, { [path]: { $ne: cut } }] };
  }
}
