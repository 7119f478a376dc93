/**
 * Whether one guard accepts only rows that another one accepts. Sound, not complete: "yes" is proved for every record,
 * "no" means that no proof was found, which counts as loosened.
 */
import { comparesInstants, compareText, evaluate, instantKeys, isIdPath, toList, type Condition, type Filter, type Scalar } from "../../runtime/abi/filter.js";
import type { Guard } from "../../runtime/abi/plan.js";
import { hasReferences } from "../../runtime/abi/references.js";
import { same } from "./change.js";

/** Conditions that are true for every row the filter accepts; of an `or` only what all its branches share. */
export function conjunctsOf(filter: Guard | Filter | undefined | null): readonly Condition[] {
  if (filter === undefined || filter === null) return [];
  if ("and" in filter) return filter.and.flatMap(conjunctsOf);
  // References stay as they are; `implies` never needs their values.
  if (!("or" in filter)) return [filter as Condition];
  const [first = [], ...others] = filter.or.map(conjunctsOf);
  return first.filter((condition) => others.every((branch) => branch.some((other) => implies(other, condition))));
}

/** Whether rows that pass all of `held` pass `wanted`. */
export function impliedBy(held: readonly Condition[], wanted: Condition): boolean {
  return held.some((condition) => implies(condition, wanted));
}

function implies(one: Condition, other: Condition): boolean {
  if (one.path !== other.path) return false;
  const [held, wanted] = [withKeys(one), withKeys(other)];
  // A text and a point in time are compared differently; whether a field is there is the same for both.
  if (held === null || wanted === null || (comparesInstants(one) !== comparesInstants(other) && !isPresence(other.op))) return false;
  if (held.op === wanted.op && same(held.value, wanted.value)) return true;
  // The value is not known before the program starts.
  if (hasReferences(held.value) || hasReferences(wanted.value)) return false;
  // Record ids are compared as texts, whatever their operand; nothing else is proved about them.
  if (isIdPath(held.path)) return false;
  switch (held.op) {
    case "eq":
      // The value is known, so the wanted condition can be evaluated.
      return evaluate({ ...wanted, path: "value" }, { value: held.value });
    case "in":
      return wanted.op === "in" && isSubset(toList(held.value), toList(wanted.value));
    case "contains_any":
      return wanted.op === "contains_any" && isSubset(toList(held.value), toList(wanted.value));
    case "nin":
      return (wanted.op === "nin" && isSubset(toList(wanted.value), toList(held.value))) || (wanted.op === "ne" && isSubset(toList(wanted.value), toList(held.value)));
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return boundImplies(held.op, held.value, wanted);
    default:
      return false;
  }
}

function isPresence(op: Condition["op"]): boolean {
  return op === "exists" || op === "is_null";
}

/** A condition on points in time as one on texts that sort as they do; null where one of its values is none. */
function withKeys(condition: Condition): Condition | null {
  if (!comparesInstants(condition) || hasReferences(condition.value)) return condition;
  const { path, op, value } = condition;
  const keys = instantKeys(value);
  return toList(keys).length === toList(value).length ? { path, op, value: keys } : null;
}

function isSubset(small: readonly Scalar[], large: readonly Scalar[]): boolean {
  return small.length > 0 && small.every((one) => large.includes(one));
}

/** A row that passes a bound has a number or a text there, on the bound's side of it. */
function boundImplies(op: "gt" | "gte" | "lt" | "lte", bound: Condition["value"], wanted: Condition): boolean {
  const upward = op === "gt" || op === "gte";
  const strict = op === "gt" || op === "lt";
  /** How far the bound lies beyond a value in its own direction; NaN across types. */
  const beyond = (value: Scalar): number => {
    const distance = typeof bound === "number" && typeof value === "number" ? bound - value : typeof bound === "string" && typeof value === "string" ? compareText(bound, value) : Number.NaN;
    return upward ? distance : -distance;
  };
  const excludes = (value: Scalar): boolean => typeof value !== typeof bound || (strict ? beyond(value) >= 0 : beyond(value) > 0);
  if (typeof bound !== "number" && typeof bound !== "string") return false;
  const target = wanted.value;
  switch (wanted.op) {
    case "gte":
    case "lte":
      return (wanted.op === "gte") === upward && !Array.isArray(target) && beyond(target as Scalar) >= 0;
    case "gt":
    case "lt":
      return (wanted.op === "gt") === upward && !Array.isArray(target) && (strict ? beyond(target as Scalar) >= 0 : beyond(target as Scalar) > 0);
    case "ne":
    case "nin":
      return toList(target).every(excludes);
    case "exists":
      return target !== false;
    case "is_null":
      return target === false;
    default:
      return false;
  }
}
