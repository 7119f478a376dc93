/**
 * Guards as a shown query has them. A reference without a value is shown as the catalog writes it; where a store compares
 * points in time, a date that no catalog has is sent in its place and replaced in the text, because a store's filter
 * compiler refuses what is no date.
 */
import { comparesInstants, type Filter, type Operand, type Scalar } from "../../runtime/abi/filter.js";
import { writtenText, type Guard, type Json } from "../../runtime/abi/plan.js";
import { fill, hasReferences, missingNames, type Env } from "../../runtime/abi/references.js";

export interface ShownGuards {
  guard(guard: Guard): Filter;
  /** A query with the written references in the place of the dates. */
  named<T extends Json>(query: T): T;
}

const STAND_IN = /0001-01-01T00:(\d\d):(\d\d)(?:\.0+)?(?:Z|\+00:00)?/g;

/** `values` has a text for every reference. `env` has those that are known. */
export function createShownGuards(values: Env, env: Env): ShownGuards {
  const written: string[] = [];
  const standIn = (text: string): string => {
    if (!written.includes(text)) written.push(text);
    const index = written.indexOf(text);
    return `0001-01-01T00:${String(Math.floor(index / 60) % 60).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}Z`;
  };
  const operand = (value: unknown): Scalar => (hasReferences(value) && missingNames(value, env).length > 0 ? standIn(writtenText(value) ?? "") : (fill(value, values, new Set()) as Scalar));
  const guard = (part: Guard): Filter => {
    if ("and" in part) return { and: part.and.map(guard) };
    if ("or" in part) return { or: part.or.map(guard) };
    const { value } = part;
    const isDate = comparesInstants({ ...part, value: null });
    return { ...part, value: isDate ? (Array.isArray(value) ? value.map(operand) : operand(value)) : (fill(value, values, new Set()) as Operand) };
  };
  const named = (value: Json): Json => {
    if (typeof value === "string") return value.replace(STAND_IN, (whole, minutes: string, seconds: string) => written[Number(minutes) * 60 + Number(seconds)] ?? whole);
    if (Array.isArray(value)) return value.map(named);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, named(member as Json)]));
  };
  return { guard, named: named as ShownGuards["named"] };
}
