/** The condition of `--where`: `FIELD=VALUE`, or JSON as static_filters of a catalog has it. Pure. */
import { COMPARISON_OPS, EXTENDED_OPS, type Condition, type Filter, type Op, type Operand, type Scalar } from "../../runtime/abi/filter.js";
import { parseInstant } from "../../runtime/base/instant.js";
import { isRecord } from "../../runtime/base/paths.js";

const OPS: readonly string[] = [...COMPARISON_OPS, ...EXTENDED_OPS];
const LIST_OPS: readonly string[] = ["in", "nin", "contains_any", "contains_all"];
const PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*){0,2}$/;

/**
 * The filter, every condition ANDed.
 * @param dates fields that are points in time
 * @throws RangeError that says what is expected.
 */
export function readWhere(text: string, dates: ReadonlySet<string>): Filter {
  const trimmed = text.trim();
  const written: unknown = /^[[{]/.test(trimmed) ? parseJson(trimmed) : shortForm(trimmed);
  const conditions = (Array.isArray(written) ? (written as readonly unknown[]) : [written]).map((one) => conditionOf(one, dates));
  const [first, ...others] = conditions;
  if (first === undefined) throw new RangeError("--where has no condition; leave it out to copy from all rows");
  return others.length === 0 ? first : { and: conditions };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RangeError(`--where begins like JSON and is none; write for example '{"path": "year", "op": "gte", "value": 2020}'`);
  }
}

/** The value is a number or boolean where it is written as one, and otherwise a text; quotes make it a text in any case. */
function shortForm(text: string): unknown {
  const [, path, raw] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (path === undefined || raw === undefined) throw new RangeError(`--where takes FIELD=VALUE or JSON as static_filters has it, not '${text}'`);
  return { path: path.trim(), value: /^(?:-?\d+(?:\.\d+)?|true|false|".*")$/s.test(raw) ? parseJson(raw) : raw };
}

function conditionOf(value: unknown, dates: ReadonlySet<string>): Condition {
  if (!isRecord(value)) throw new RangeError("--where: a condition has path, value, and op where it is not eq");
  const { path, op = "eq", value: operand, ...more } = value;
  const [stray] = Object.keys(more);
  if (stray !== undefined) throw new RangeError(`--where: a condition has path, op and value, not '${stray}'`);
  if (typeof path !== "string" || !PATH.test(path)) throw new RangeError(`--where: '${String(path)}' is no field: one to three names, joined by dots`);
  if (typeof op !== "string" || !OPS.includes(op)) throw new RangeError(`--where: op is one of ${OPS.join(", ")}, not '${String(op)}'`);
  const isList = LIST_OPS.includes(op);
  if (isList ? !Array.isArray(operand) || operand.length === 0 || !operand.every(isScalar) : !isScalar(operand)) throw new RangeError(`--where: ${path} ${op} takes ${isList ? "a list of texts, numbers or booleans" : "a text, a number or a boolean"}`);
  const condition = { path, op: op as Op, value: operand as Operand };
  if (!dates.has(path) || op === "exists" || op === "is_null" || op === "like" || op === "text_match") return condition;
  for (const one of isList ? (operand as readonly Scalar[]) : [operand as Scalar]) if (typeof one !== "string" || parseInstant(one) === null) throw new RangeError(`--where: ${path} is a point in time, and '${String(one)}' is none`);
  return { ...condition, dtype: "datetime" };
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}

/** Whether every row that passes has one value of the field. */
export function fixes(filter: Filter | null, path: string): boolean {
  if (filter === null || "or" in filter) return false;
  if ("and" in filter) return filter.and.some((part) => fixes(part, path));
  return filter.path === path && (filter.op === "eq" || (filter.op === "in" && Array.isArray(filter.value) && filter.value.length === 1));
}
