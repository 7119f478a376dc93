/**
 * A value as a type of the schema, with the lenient spellings of existing catalogs: "yes" and 1 are booleans, "7" is an
 * integer.
 */
import { keepsDigits } from "../../runtime/base/numbers.js";
import { typeOf, type JsonType } from "./schema-node.js";

/** What has no usable value. */
export const BROKEN = Symbol("broken");

const TRUE = new Set<unknown>(["true", "yes", "on", "1", "t", "y", 1]);
const FALSE = new Set<unknown>(["false", "no", "off", "0", "f", "n", 0]);

/** The value as one of the types, with the lenient spellings of existing catalogs; BROKEN when it is none of them. */
export function fit(types: readonly JsonType[], value: unknown): unknown {
  const type = typeOf(value);
  if (types.includes(type) || (type === "integer" && types.includes("number"))) return value;
  if (types.includes("boolean")) {
    const word = typeof value === "string" ? value.toLowerCase() : value;
    if (TRUE.has(word)) return true;
    if (FALSE.has(word)) return false;
  }
  if (typeof value === "string" && takesNumbers(types) && NUMBER.test(value)) {
    const number = Number(value);
    if (keepsDigits(value.trim(), number) && (types.includes("number") || Number.isInteger(number))) return number;
  }
  return BROKEN;
}

const NUMBER = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/;

function takesNumbers(types: readonly JsonType[]): boolean {
  return types.includes("integer") || types.includes("number");
}

/** A text of digits that would be another number as a double. */
export function isLostNumber(types: readonly JsonType[], value: string): boolean {
  return takesNumbers(types) && NUMBER.test(value) && !keepsDigits(value.trim(), Number(value));
}
