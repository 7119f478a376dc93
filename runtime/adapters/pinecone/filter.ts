/**
 * Filters as Pinecone's metadata filters. Pure. Metadata is flat and holds texts, numbers, booleans and lists of texts;
 * `$in` on a list field matches when one of its elements is among the operands. Records are not filtered by id.
 */
import type { Condition, Filter, Scalar } from "../../abi/filter.js";
import { flatPath, operandOf, operandsOf, reduceFilter, refuse, type Compiled } from "../reduce.js";

export type PineconeFilter =
  | { readonly [field: string]: { readonly [op: string]: string | number | boolean | readonly (string | number)[] } }
  | { readonly $and: readonly PineconeFilter[] }
  | { readonly $or: readonly PineconeFilter[] };

/** Longest list the service takes. */
const MAX_LIST = 10_000;

/** @throws BackendError unsupported for ids, nested paths, nulls, orders of texts, and lists over 10,000. */
export function compileFilter(filter: Filter): Compiled<PineconeFilter> {
  const reduced = reduceFilter(filter);
  return typeof reduced === "string" ? reduced : compile(reduced);
}

function compile(filter: Filter): Compiled<PineconeFilter> {
  if ("and" in filter) return join("$and", filter.and.map(compile));
  if ("or" in filter) return join("$or", filter.or.map(compile));
  return compileCondition(filter);
}

function join(word: "$and" | "$or", parts: readonly Compiled<PineconeFilter>[]): Compiled<PineconeFilter> {
  const decisive = word === "$and" ? "none" : "all";
  if (parts.includes(decisive)) return decisive;
  const rest = parts.filter((part): part is PineconeFilter => typeof part !== "string");
  const [only] = rest;
  if (only === undefined) return word === "$and" ? "all" : "none";
  return rest.length === 1 ? only : word === "$and" ? { $and: rest } : { $or: rest };
}

const OPERATORS = { eq: "$eq", ne: "$ne", gt: "$gt", gte: "$gte", lt: "$lt", lte: "$lte", in: "$in", nin: "$nin" } as const;

function compileCondition(condition: Condition): Compiled<PineconeFilter> {
  const path = flatPath("pinecone", condition);
  if (path === "id") return refuse("pinecone", "filters on record ids");
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
      return typeof value === "number" ? { [path]: { [OPERATORS[op]]: value } } : refuse("pinecone", "an order of texts or dates");
    }
    case "in":
    case "contains_any":
      return join("$or", among(path, "in", operandsOf(condition)));
    case "nin":
      return join("$and", among(path, "nin", operandsOf(condition)));
    case "contains_all":
      return join("$and", operandsOf(condition).map((value) => join("$or", among(path, "in", [value]))));
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
function among(path: string, op: "in" | "nin", values: readonly Scalar[]): readonly PineconeFilter[] {
  if (values.length > MAX_LIST) refuse("pinecone", `lists of more than ${MAX_LIST} values`);
  const groups = (["string", "number"] as const)
    .map((type) => values.filter((value): value is string | number => typeof value === type))
    .filter((group) => group.length > 0)
    .map((group): PineconeFilter => ({ [path]: { [OPERATORS[op]]: group } }));
  const booleans = values.filter((value) => typeof value === "boolean");
  return [...groups, ...booleans.map((value): PineconeFilter => ({ [path]: { [op === "in" ? "$eq" : "$ne"]: value } }))];
}
