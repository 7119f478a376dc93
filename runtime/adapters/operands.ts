/** Operands in the one form that stores' filter compilers read; holes stay where they are. Pure. */
import { comparesInstants, isIdPath } from "../abi/filter.js";
import { canonicalInstant } from "../base/instant.js";
import { Hole, isText, type Slot } from "./hole.js";
import type { ShapeCondition } from "./shape.js";

/**
 * The operand of a condition: of a record id as a text, of a point in time in its canonical spelling, of a set operator as
 * a list without repetitions, of exists and is_null as a boolean. What is no instant equals nothing, like a list where
 * one value belongs.
 */
export function canonical(condition: ShapeCondition): Slot | readonly Slot[] {
  const { path, op } = condition;
  const value = comparesInstants(condition) ? instantsOf(condition.value) : isIdPath(path) ? idOf(condition) : condition.value;
  switch (op) {
    case "in":
    case "nin":
    case "contains_any":
    case "contains_all": {
      const values = slots(value);
      return [...new Set(isIdPath(path) ? values.filter(isText) : values)];
    }
    case "exists":
    case "is_null":
      return value !== false;
    default:
      return value;
  }
}

function instantsOf(value: ShapeCondition["value"]): Slot | readonly Slot[] {
  const instants = slots(value).flatMap((one): readonly Slot[] => (one instanceof Hole ? [one] : typeof one === "string" ? instantOf(one) : []));
  return isScalarSlot(value) ? (instants[0] ?? []) : instants;
}

function instantOf(text: string): readonly Slot[] {
  const instant = canonicalInstant(text);
  return instant === null ? [] : [instant];
}

/** Ids are texts to the operators of equality. */
function idOf({ op, value }: ShapeCondition): Slot | readonly Slot[] {
  if (op !== "eq" && op !== "ne" && op !== "in" && op !== "nin") return value;
  const text = (one: Slot): Slot => (typeof one === "number" ? String(one) : one);
  return isScalarSlot(value) ? text(value) : value.map(text);
}

export function isScalarSlot(value: ShapeCondition["value"]): value is Slot {
  return value instanceof Hole || value === null || typeof value !== "object";
}

/** A scalar is a list of one. */
export function slots(value: ShapeCondition["value"]): readonly Slot[] {
  return isScalarSlot(value) ? [value] : value;
}
