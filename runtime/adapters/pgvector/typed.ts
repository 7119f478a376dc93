/** Comparisons with columns of plain types, in the form that an index on the column can answer. Pure. */
import { comparesInstants } from "../../abi/filter.js";
import { isNumber, isSafeInteger, isText, isUuid, later, laterAll, type Slot } from "../hole.js";
import { isScalarSlot, slots } from "../operands.js";
import type { ShapeCondition } from "../shape.js";
import type { PgParam } from "./filter.js";
import { quoted, type ColumnKind } from "./table.js";

const TYPES: { readonly [K in ColumnKind]?: string } = { text: "text", integer: "bigint", float: "float8", boolean: "boolean", uuid: "uuid", instant: "timestamptz" };
const ORDERS: { readonly [op: string]: string } = { gt: ">", gte: ">=", lt: "<", lte: "<=" };

/** The condition of a column as SQL; null where its JSON value has to be compared. `param` numbers a parameter. */
export function compareColumn(condition: ShapeCondition, kind: ColumnKind | undefined, param: (value: PgParam) => string): string | null {
  const { path, op, value } = condition;
  const type = kind === undefined ? undefined : TYPES[kind];
  if (kind === undefined || type === undefined || comparesInstants(condition) !== (kind === "instant")) return null;
  const column = quoted(path);
  const order = ORDERS[op];
  if (order !== undefined) return (isScalarSlot(value) && isNumber(value)) || kind === "instant" ? compareOrder(column, kind, order, slots(value)[0] ?? null, param) : null;
  if (op !== "eq" && op !== "ne" && op !== "in" && op !== "nin") return null;
  const operands = slots(value);
  if (operands.includes(null)) return null;
  const able = operands.filter((one) => isOf(kind, one));
  const [first] = able;
  const equal = first === undefined ? "false" : op === "eq" || op === "ne" ? `${column} = ${param(later(first, String))}::${type}` : `${column} = ANY(${param(laterAll(able, (all) => all.map(String)))}::${type}[])`;
  return op === "eq" || op === "in" ? equal : `(${equal}) IS NOT TRUE`;
}

function compareOrder(column: string, kind: ColumnKind, order: string, operand: Slot, param: (value: PgParam) => string): string | null {
  if (kind === "instant") return isOf(kind, operand) ? `${column} ${order} ${param(later(operand, String))}::timestamptz` : null;
  if (!isNumber(operand) || (kind !== "integer" && kind !== "float")) return null;
  const type = kind === "float" ? "float8" : isSafeInteger(operand) ? "bigint" : "numeric";
  return `${column} ${order} ${param(later(operand, String))}::${type}`;
}

/** Whether a column of a kind can have a value; PostgreSQL refuses to read other texts as its type. */
function isOf(kind: ColumnKind, value: Slot): boolean {
  switch (kind) {
    case "text":
      return isText(value);
    case "integer":
      return isSafeInteger(value);
    case "float":
      return isNumber(value);
    case "boolean":
      return typeof value === "boolean";
    case "uuid":
      return isUuid(value);
    case "instant":
      return isText(value) && !(typeof value === "string" && value.startsWith("0000"));
    default:
      return false;
  }
}
