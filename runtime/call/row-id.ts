/**
 * The record id of a row, also of one that a step has projected. Only evidence reads it: JSON, copies by key and shaping
 * leave a symbol out, so it never reaches a caller.
 */
import type { Row } from "../abi/filter.js";

const ROW_ID = Symbol("row id");

type Marked = Row & { [ROW_ID]?: string | number };

/** The id of the record that a row came from; `null` when the store gave none. */
export function idOfRow(row: Row): string | number | null {
  const id = row["_id"] ?? (row as Marked)[ROW_ID];
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** Lets a row that was made from another one keep its id. */
export function keepRowId(from: Row, made: Row): Row {
  const id = idOfRow(from);
  if (id !== null) (made as Marked)[ROW_ID] = id;
  return made;
}
