/**
 * What stores' filter compilers share: conditions that are always true or never true are decided here, so that no
 * native filter has an empty list, a useless branch or an operand of the wrong type. Pure; keeps the meaning that
 * `evaluate` of runtime/abi/filter.ts gives a filter.
 */
import { BackendError } from "../abi/errors.js";
import { comparesInstants, idOperand, isIdPath, toList, type Condition, type Filter, type Operand, type Scalar } from "../abi/filter.js";
import type { BackendName } from "../abi/plan.js";
import { canonicalInstant } from "../base/instant.js";
import { wordsOf } from "../base/text.js";
import type { Route } from "./adapter.js";

/** A filter that every record passes, or none does, needs no native form. */
export type Reduced = Filter | "all" | "none";

/** A store's own filter, or that there is nothing to filter or nothing to find. */
export type Compiled<Native> = Native | "all" | "none";

/** The filter without parts that cannot matter; `and` and `or` that are left have two or more members. */
export function reduceFilter(filter: Filter): Reduced {
  if ("and" in filter) return join("and", filter.and.map(reduceFilter));
  if ("or" in filter) return join("or", filter.or.map(reduceFilter));
  return reduceCondition(isIdPath(filter.path) ? { ...filter, path: "id", value: idOperand(filter.op, filter.value) } : filter);
}

function join(word: "and" | "or", parts: readonly Reduced[]): Reduced {
  const decisive = word === "and" ? "none" : "all";
  if (parts.includes(decisive)) return decisive;
  const rest = parts.filter((part): part is Filter => typeof part !== "string");
  const [only] = rest;
  if (only === undefined) return word === "and" ? "all" : "none";
  if (rest.length === 1) return only;
  return word === "and" ? { and: rest } : { or: rest };
}

function reduceCondition(written: Condition): Reduced {
  const condition = comparesInstants(written) ? { ...written, value: instantsOf(written) } : written;
  const { op, value } = condition;
  const isId = condition.path === "id";
  switch (op) {
    case "eq":
      return isScalar(value) && !(isId && typeof value !== "string") ? condition : "none";
    case "ne":
      return isScalar(value) && !(isId && typeof value !== "string") ? condition : "all";
    case "in":
      return setOf(condition, "none");
    case "nin":
      return setOf(condition, "all");
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return typeof value === "string" || (typeof value === "number" && !isId) ? condition : "none";
    case "exists":
      return isId ? (value === false ? "none" : "all") : { ...condition, value: value !== false };
    case "is_null":
      return isId ? (value === false ? "all" : "none") : { ...condition, value: value !== false };
    case "contains_any":
    case "contains_all":
      return isId ? "none" : setOf(condition, "none");
    case "like":
      return typeof value === "string" ? condition : "none";
    case "text_match":
      return typeof value === "string" && wordsOf(value).length > 0 ? condition : "none";
    default:
      return op satisfies never;
  }
}

/** The operands in canonical form; what is no instant equals nothing, like a list where one value belongs. */
function instantsOf({ value }: Condition): Operand {
  const instants = toList(value).flatMap((one) => (typeof one === "string" ? canonicalInstant(one) ?? [] : []));
  return isScalar(value) ? (instants[0] ?? []) : instants;
}

/** A set operator with its distinct operands; of one operand a set is left as it is. */
function setOf(condition: Condition, empty: "all" | "none"): Reduced {
  const values = toList(condition.value).filter((value) => condition.path !== "id" || typeof value === "string");
  return values.length === 0 ? empty : { ...condition, value: [...new Set(values)] };
}

function isScalar(value: Operand): value is Scalar {
  return value === null || typeof value !== "object";
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
export function flatPath(backend: BackendName, { path }: Condition): string {
  return path.includes(".") ? refuse(backend, `nested paths ('${path}')`) : path;
}

/** The operands of a set operator. */
export function operandsOf(condition: Condition): readonly Scalar[] {
  return toList(condition.value);
}

/** Refuses conditions on instants: the store has no type whose order is theirs. @throws BackendError unsupported */
export function refuseInstants(backend: BackendName, condition: Condition): void {
  if (comparesInstants(condition)) refuse(backend, "dtype datetime; store the time as a number and give the parameter dtype integer");
}

/** The operand of a scalar operator; reduceFilter leaves no other. */
export function operandOf({ value }: Condition): Scalar {
  return isScalar(value) ? value : (value[0] ?? null);
}
