/**
 * Filters as objects of the kind `{field: {$eq: 1}}`, which Chroma and Pinecone both accept. Pure. An object has one
 * field, so two conditions need `$and`; metadata has no nulls, so nothing equals null.
 */
import type { BackendName } from "../abi/plan.js";
import { isNumber, place, type Slot, typeOf } from "./hole.js";
import { operandOf, refuse, type Compiled } from "./reduce.js";
import type { Shape, ShapeCondition } from "./shape.js";

type Value = string | number | boolean;

export type Where =
  | { readonly [field: string]: { readonly [op: string]: Value | readonly Value[] } }
  | { readonly $and: readonly Where[] }
  | { readonly $or: readonly Where[] };

/** The operators that compare one value. */
export type Comparison = "eq" | "ne" | "gt" | "gte" | "lt" | "lte";

/** A filter whose conditions are written by `condition`. */
export function compileWhere(filter: Shape, condition: (condition: ShapeCondition) => Compiled<Where>): Compiled<Where> {
  const compile = (part: Shape): Compiled<Where> => compileWhere(part, condition);
  if ("and" in filter) return joinWheres("$and", filter.and.map(compile));
  return "or" in filter ? joinWheres("$or", filter.or.map(compile)) : condition(filter);
}

/** The parts as one object, without those that cannot matter. */
export function joinWheres(word: "$and" | "$or", parts: readonly Compiled<Where>[]): Compiled<Where> {
  const decisive = word === "$and" ? "none" : "all";
  if (parts.includes(decisive)) return decisive;
  const rest = parts.filter((part): part is Where => typeof part !== "string");
  const [only] = rest;
  if (only === undefined) return word === "$and" ? "all" : "none";
  return rest.length === 1 ? only : word === "$and" ? { $and: rest } : { $or: rest };
}

/** A comparison with one value. @throws BackendError unsupported for an order of anything but numbers */
export function compareWhere(backend: BackendName, path: string, op: Comparison, condition: ShapeCondition): Compiled<Where> {
  const value = operandOf(condition);
  if (op !== "eq" && op !== "ne" && !isNumber(value)) return refuse(backend, "an order of texts or dates");
  if (value === null) return op === "eq" ? "none" : "all";
  return { [path]: { [`$${op}`]: place<Value>(value) } };
}

/** One list operator for each of the types among the operands: a list has one type. */
export function groupWheres(path: string, op: "$in" | "$nin", values: readonly Slot[], types: readonly ("string" | "number" | "boolean")[]): readonly Where[] {
  return types
    .map((type) => values.filter((value) => typeOf(value) === type))
    .filter((group) => group.length > 0)
    .map((group) => ({ [path]: { [op]: group as readonly Value[] } }));
}
