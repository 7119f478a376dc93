/**
 * What stores' filter compilers share: conditions that are always true or never true are decided here, so that no
 * native filter has an empty list, a useless branch or an operand of the wrong type. Pure; keeps the meaning that
 * `evaluate` of runtime/abi/filter.ts gives a filter.
 */
import { BackendError } from "../abi/errors.js";
import { comparesInstants, isIdPath } from "../abi/filter.js";
import type { BackendName } from "../abi/plan.js";
import { wordsOf } from "../base/text.js";
import type { Route } from "./adapter.js";
import { Hole, isNumber, isText, type Slot } from "./hole.js";
import { canonical, isScalarSlot, slots } from "./operands.js";
import type { Shape, ShapeCondition } from "./shape.js";

/** A filter that every record passes, or none does, needs no native form. */
export type Reduced = Shape | "all" | "none";

/** A store's own filter, or that there is nothing to filter or nothing to find. */
export type Compiled<Native> = Native | "all" | "none";

/** The filter without parts that cannot matter; `and` and `or` that are left have two or more members. */
export function reduceFilter(filter: Shape): Reduced {
  if ("and" in filter) return join("and", filter.and.map(reduceFilter));
  if ("or" in filter) return join("or", filter.or.map(reduceFilter));
  return reduceCondition({ ...filter, path: isIdPath(filter.path) ? "id" : filter.path, value: canonical(filter) });
}

function join(word: "and" | "or", parts: readonly Reduced[]): Reduced {
  const decisive = word === "and" ? "none" : "all";
  if (parts.includes(decisive)) return decisive;
  const rest = parts.filter((part): part is Shape => typeof part !== "string");
  const [only] = rest;
  if (only === undefined) return word === "and" ? "all" : "none";
  if (rest.length === 1) return only;
  return word === "and" ? { and: rest } : { or: rest };
}

/** @param condition Its operand in canonical form. */
function reduceCondition(condition: ShapeCondition): Reduced {
  const { op, value } = condition;
  const isId = condition.path === "id";
  switch (op) {
    case "eq":
      return isScalarSlot(value) && !(isId && !isText(value)) ? condition : "none";
    case "ne":
      return isScalarSlot(value) && !(isId && !isText(value)) ? condition : "all";
    case "in":
      return slots(value).length === 0 ? "none" : condition;
    case "nin":
      return slots(value).length === 0 ? "all" : condition;
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return isScalarSlot(value) && (isText(value) || (isNumber(value) && !isId)) ? condition : "none";
    case "exists":
      return isId ? (value === false ? "none" : "all") : condition;
    case "is_null":
      return isId ? (value === false ? "all" : "none") : condition;
    case "contains_any":
    case "contains_all":
      return isId || slots(value).length === 0 ? "none" : condition;
    case "like":
      return isScalarSlot(value) && isText(value) ? condition : "none";
    case "text_match":
      return isScalarSlot(value) && hasWords(value) ? condition : "none";
    default:
      return op satisfies never;
  }
}

function hasWords(value: Slot): boolean {
  return value instanceof Hole ? value.words > 0 : typeof value === "string" && wordsOf(value).length > 0;
}

/** Refuses what a store cannot do, in one wording. @throws BackendError unsupported */
export function refuse(backend: BackendName, what: string): never {
  throw new BackendError("unsupported", backend, `${backend} does not support ${what}`);
}

/** For adapters that have no address within a collection. @throws BackendError unsupported for any route */
export function refuseRoute(backend: BackendName, route: Route | undefined): void {
  const keys = Object.entries(route ?? {}).filter(([, value]) => value !== undefined).map(([key]) => key);
  if (keys.length > 0) refuse(backend, `isolation by ${keys.join(" and ")}`);
}

/** A condition whose path is one name. @throws BackendError unsupported for a nested path */
export function flatPath(backend: BackendName, { path }: ShapeCondition): string {
  return path.includes(".") ? refuse(backend, `nested paths ('${path}')`) : path;
}

/** The operands of a set operator; a scalar is a list of one. */
export function operandsOf({ value }: ShapeCondition): readonly Slot[] {
  return slots(value);
}

/** Refuses conditions on instants: the store has no type whose order is theirs. @throws BackendError unsupported */
export function refuseInstants(backend: BackendName, condition: ShapeCondition): void {
  if (comparesInstants(condition)) refuse(backend, "dtype datetime; store the time as a number and give the parameter dtype integer");
}

/** The operand of a scalar operator; reduceFilter leaves no other. */
export function operandOf({ value }: ShapeCondition): Slot {
  return isScalarSlot(value) ? value : (value[0] ?? null);
}
