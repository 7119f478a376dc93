/**
 * A filter in two parts: its shape, which decides how the native query is written, and the values of the call. Filters
 * of one shape differ in values alone, so their native query is compiled once. Pure.
 *
 * A value that a compiler would look at closely (half of a surrogate pair, a number of more than 53 bits, an escape in a
 * pattern) is a part of the shape, as is a value that the plan fixes: such a filter compiles to the same query with one hole fewer.
 */
import { isList, type Condition, type Filter, type Operand, type Scalar } from "../abi/filter.js";
import { wordsOf } from "../base/text.js";
import { Hole, type HoleKind, isUuid, type Slot } from "./hole.js";
import { canonical } from "./operands.js";

/** A condition whose operands may be holes. */
export interface ShapeCondition extends Omit<Condition, "value"> {
  readonly value: Slot | readonly Slot[];
}

export type Shape = ShapeCondition | { readonly and: readonly Shape[] } | { readonly or: readonly Shape[] };

export interface SplitFilter {
  /** The same for filters of the same shape, and for no others. */
  readonly key: string;
  /** Of the holes, in order. */
  readonly values: readonly Scalar[];
  /** False where a value of this call alone is a part of the shape: the query is of no use to another call. */
  readonly isReusable: boolean;
  /** The filter with holes, whose numbers begin at `first`. */
  shape(first: number): Shape | null;
}

/** Longest list whose elements are holes. */
const MAX_HOLES = 256;
/** Most words of a text_match that has a hole. */
const MAX_WORDS = 16;
/** Longest pattern of `like` that is a hole, in bytes. */
const MAX_PATTERN_BYTES = 128;

/** Whether a pattern of `like` is so long that a store may match it in another way: it is never a hole. */
export function isLongPattern(pattern: string): boolean {
  return Buffer.byteLength(pattern) > MAX_PATTERN_BYTES;
}

/** A filter's shape and values. */
export function splitFilter(filter: Filter | null): SplitFilter {
  const reading = new Reading();
  if (filter !== null) reading.read(filter);
  return { key: reading.key, values: reading.values, isReusable: reading.isReusable, shape: (first) => (filter === null ? null : shapeOf(filter, { next: first })) };
}

class Reading {
  key = "";
  isReusable = true;
  readonly values: Scalar[] = [];

  read(filter: Filter): void {
    if ("and" in filter) return this.readAll("&", filter.and);
    if ("or" in filter) return this.readAll("|", filter.or);
    const { path, op, dtype, fixed } = filter;
    // The length ends the path, whatever is in it.
    this.key += `${op}${dtype === undefined ? "" : "@"} ${path.length}:${path}`;
    if (fixed === true) {
      this.key += `=${JSON.stringify(filter.value)};`;
      return;
    }
    const operand = canonical(filter) as Operand;
    if (!isList(operand)) return this.readValue(operand, filter);
    this.key += `[${operand.length}`;
    for (const one of operand) this.readValue(one, filter, operand.length > MAX_HOLES);
    this.key += "]";
  }

  private readAll(sign: string, parts: readonly Filter[]): void {
    this.key += `${sign}${parts.length}(`;
    for (const part of parts) this.read(part);
    this.key += ")";
  }

  private readValue(value: Scalar, condition: Condition, isConstant = false): void {
    const kind = isConstant ? null : kindOf(value, condition);
    if (kind !== null) {
      this.values.push(value);
      this.key += kind.code;
    } else if (value === null || typeof value === "boolean") this.key += String(value);
    else {
      this.isReusable = false;
      this.key += `=${JSON.stringify(value)};`;
    }
  }
}

function shapeOf(filter: Filter, count: { next: number }): Shape {
  if ("and" in filter) return { and: filter.and.map((part) => shapeOf(part, count)) };
  if ("or" in filter) return { or: filter.or.map((part) => shapeOf(part, count)) };
  if (filter.fixed === true) return filter;
  const slot = (value: Scalar, isConstant = false): Slot => {
    const kind = isConstant ? null : kindOf(value, filter);
    return kind === null ? value : new Hole(count.next++, kind.kind, kind.code === "-f", kind.words);
  };
  const operand = canonical(filter) as Operand;
  return { ...filter, value: isList(operand) ? operand.map((one) => slot(one, operand.length > MAX_HOLES)) : slot(operand) };
}

interface Kind {
  readonly kind: HoleKind;
  /** In keys. */
  readonly code: string;
  readonly words?: number;
}

const KINDS = { text: { kind: "text", code: "t" }, uuid: { kind: "uuid", code: "u" }, digits: { kind: "digits", code: "d" }, integer: { kind: "integer", code: "i" }, fraction: { kind: "fraction", code: "f" }, below: { kind: "fraction", code: "-f" } } as const;

/** What is known of a value that may be a hole; null for one that has to be a constant. */
function kindOf(value: Scalar, { op }: Condition): Kind | null {
  if (typeof value === "number") return Number.isSafeInteger(value) ? KINDS.integer : Number.isInteger(value) || !isReadAlike(value) ? null : value < 0 ? KINDS.below : KINDS.fraction;
  if (typeof value !== "string" || isSpecial(value)) return null;
  if (op === "text_match") {
    const words = new Set(wordsOf(value)).size;
    return words === 0 || words > MAX_WORDS ? null : { kind: "text", code: `w${words}`, words };
  }
  // Some stores refuse a character of a pattern that stands for itself.
  if (op === "like" && (isLongPattern(value) || /[\\*?]/.test(value))) return null;
  if (isDigits(value)) return KINDS.digits;
  // Ids may be whole numbers of 64 bits.
  return isUuid(value) ? KINDS.uuid : /^-?\d{16,}$/.test(value) ? null : KINDS.text;
}

/** Digits that a number certainly has exactly. */
const SURE_DIGITS = 15;
/** Powers of ten up to this are numbers without rounding. */
const MAX_EXACT_POWER = 22;

/**
 * Whether every reader of JSON takes a number for the same one. A reader that multiplies the digits with a power of ten
 * is wrong in the last bit for about a quarter of the others.
 */
export function isReadAlike(value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const short = String(Math.abs(value));
  if (short.length <= SURE_DIGITS && !short.includes("e")) return true;
  const [digits = "", power = "0"] = Math.abs(value).toExponential().split("e");
  const fraction = digits.length > 1 ? digits.length - 2 : 0;
  return Number(digits.replace(".", "")) <= Number.MAX_SAFE_INTEGER && Math.abs(Number(power) - fraction) <= MAX_EXACT_POWER;
}

/** Texts that some store refuses or compares in its own way; the year 0 is such a date. */
function isSpecial(text: string): boolean {
  return /\p{Surrogate}|\0|^0000/u.test(text) || hasSpaceAround(text);
}

/** Whether a text begins or ends with what JavaScript or Go (unicode.IsSpace) takes for a space: U+0085 is one to Go alone, U+FEFF to JavaScript alone. */
export function hasSpaceAround(text: string): boolean {
  return /^[\s\u0085]|[\s\u0085]$/.test(text);
}

function isDigits(text: string): boolean {
  return /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) && String(Number(text)) === text;
}
