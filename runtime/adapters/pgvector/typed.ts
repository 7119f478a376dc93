/** Comparisons with columns of plain types, in the form that an index on the column can answer. Pure. */
import { comparesInstants, toList, type Condition, type Scalar } from "../../abi/filter.js";
import type { PgParam } from "./filter.js";
import { quoted, type ColumnKind } from "./table.js";

const TYPES: { readonly [K in ColumnKind]?: string } = { text: "text", integer: "bigint", float: "float8", boolean: "boolean", uuid: "uuid", instant: "timestamptz" };
const ORDERS: { readonly [op: string]: string } = { gt: ">", gte: ">=", lt: "<", lte: "<=" };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The condition of a column as SQL; null where its JSON value has to be compared. `param` numbers a parameter. */
export function compareColumn(condition: Condition, kind: ColumnKind | undefined, param: (value: PgParam) => string): string | null {
  const { path, op, value } = condition;
  const type = kind === undefined ? undefined : TYPES[kind];
  if (kind === undefined || type === undefined || comparesInstants(condition) !== (kind === "instant")) return null;
  const column = quoted(path);
  const order = ORDERS[op];
  if (order !== undefined) return typeof value === "number" || kind === "instant" ? compareOrder(column, kind, order, toList(value)[0] ?? null, param) : null;
  if (op !== "eq" && op !== "ne" && op !== "in" && op !== "nin") return null;
  const operands = toList(value);
  if (operands.includes(null)) return null;
  const able = operands.filter((one) => isOf(kind, one)).map(String);
  const equal = able.length === 0 ? "false" : op === "eq" || op === "ne" ? `${column} = ${param(able[0] ?? "")}::${type}` : `${column} = ANY(${param(able)}::${type}[])`;
  return op === "eq" || op === "in" ? equal : `(${equal}) IS NOT TRUE`;
}

function compareOrder(column: string, kind: ColumnKind, order: string, operand: Scalar, param: (value: PgParam) => string): string | null {
  if (kind === "instant") return isOf(kind, operand) ? `${column} ${order} ${param(String(operand))}::timestamptz` : null;
  if (typeof operand !== "number" || (kind !== "integer" && kind !== "float")) return null;
  const type = kind === "float" ? "float8" : Number.isSafeInteger(operand) ? "bigint" : "numeric";
  return `${column} ${order} ${param(String(operand))}::${type}`;
}

/** Whether a column of a kind can have a value; PostgreSQL refuses to read other texts as its type. */
function isOf(kind: ColumnKind, value: Scalar): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "integer":
      return Number.isSafeInteger(value);
    case "float":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "uuid":
      return typeof value === "string" && UUID.test(value);
    case "instant":
      return typeof value === "string" && !value.startsWith("0000");
    default:
      return false;
  }
}
