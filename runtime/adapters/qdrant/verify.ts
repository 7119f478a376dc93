/** Rows that Qdrant found with a wide filter, compared once more. Pure. */
import { evaluate, isIdPath, type Filter, type Row } from "../../abi/filter.js";
import { instantKey } from "../../base/instant.js";
import type { Shape } from "../shape.js";

/**
 * Tests whether a row that passed the wide filter passes the exact one. What Qdrant decides by rules of its own stays
 * decided: the words of a text (its tokenizer), and an order of dates without a dtype (by their instants).
 */
export function meaningOf(filter: Filter | null): (row: Row) => boolean {
  const meant = filter === null ? null : asQdrant(filter);
  return (row) => evaluate(meant, row);
}

function asQdrant(filter: Filter): Filter {
  if ("and" in filter) return { and: filter.and.map(asQdrant) };
  if ("or" in filter) return { or: filter.or.map(asQdrant) };
  const { path, op, value } = filter;
  if (op === "ne" && !isIdPath(path)) return { ...filter, op: "nin" };
  if (op === "text_match") return { path, op: "like", value: "%" };
  const isOrder = op === "gt" || op === "gte" || op === "lt" || op === "lte";
  return isOrder && typeof value === "string" && instantKey(value) !== null ? { ...filter, dtype: "datetime" } : filter;
}

/** Top-level keys that are read of a row. */
export function keysOf(filter: Shape | null): readonly string[] {
  if (filter === null) return [];
  if ("and" in filter) return filter.and.flatMap(keysOf);
  if ("or" in filter) return filter.or.flatMap(keysOf);
  return [filter.path.split(".", 1)[0] ?? ""];
}
