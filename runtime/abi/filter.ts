/**
 * Filters: the one tree that plans, adapters and the guard checker speak, and its reference meaning.
 * Pure data and pure functions; knows no backend. Every backend's compiled filter must select exactly
 * the rows for which `evaluate` is true (the contract suite compares them).
 */

/** A JSON scalar as it stands in a catalog or an argument. */
export type Scalar = string | number | boolean | null;

/** The operand of a condition: one scalar, or a list for `in`, `nin`, `contains_any`, `contains_all`. */
export type Operand = Scalar | readonly Scalar[];

export const COMPARISON_OPS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"] as const;
export const EXTENDED_OPS = ["exists", "is_null", "contains_any", "contains_all", "like", "text_match"] as const;
export type ComparisonOp = (typeof COMPARISON_OPS)[number];
export type ExtendedOp = (typeof EXTENDED_OPS)[number];
export type Op = ComparisonOp | ExtendedOp;

/** One test of one payload path. `path` is dotted, at most three segments; `id` names the record id. */
export interface Condition {
  readonly path: string;
  readonly op: Op;
  readonly value: Operand;
}

/** A bound filter: no parameters left in it. An absent filter is `null`, never an empty `and`. */
export type Filter = Condition | { readonly and: readonly Filter[] } | { readonly or: readonly Filter[] };

/** A filter as a pipeline's retrieve step may write it: operands may be arguments of the call. */
export type FilterTemplate =
  | Condition
  | { readonly path: string; readonly op: Op; readonly param: string }
  | { readonly and: readonly FilterTemplate[] }
  | { readonly or: readonly FilterTemplate[] };

/** A stored record as plain JSON; `_id` is the record id, `_score` the similarity of a search. */
export type Row = Record<string, unknown>;
