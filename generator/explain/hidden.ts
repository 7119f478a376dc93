/**
 * Plans without the values that are fixed in them, for what is shown to people who may see a tool's calls and not its
 * guards. A value is replaced by one of its own type that nothing else has, because the code that builds a query looks
 * at types; in the text of the query a placeholder takes its place.
 */
import { comparesInstants, type Op } from "../../runtime/abi/filter.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import { isRecord } from "../../runtime/base/paths.js";

/** Parts of a plan whose values are the catalog's own: filters, and isolation by address. */
const FILTERS: ReadonlySet<string> = new Set(["guard", "filter"]);
const ROUTE = "route";

/** In the place of a value whose field is not known any more. */
const FIXED = "<fixed>";
/** 13 digits; placeholders of arguments and claims have fewer. */
const FIRST_NUMBER = 6_200_170_000_000;
const NUMBER = /\b62001700\d{5}(?:\.0+)?\b/g;
const INSTANT = /0002-01-01T00:(\d\d):(\d\d)(?:\.0+)?(?:Z|\+00:00)?/g;
/** More fixed values than there are seconds in an hour are all shown without their field. */
const MAX_NAMED = 3600;

/** A plan that may be shown, and how its queries become texts. */
export interface HiddenPlan {
  readonly plan: ToolPlan;
  /** The same plan with the other value of every truth value, which nothing can take the place of; `null` where there is none. */
  readonly flipped: ToolPlan | null;
  /** A text with placeholders in the place of what stood for numbers and instants. */
  named(text: string): string;
}

/** The placeholder of a fixed value: `<fixed org>`. */
function placeholder(path: string): string {
  return `<fixed ${path}>`;
}

/** `null` for a plan that has no fixed values. */
export function hidePlan(plan: ToolPlan): HiddenPlan | null {
  const paths: string[] = [];
  const booleans = { found: 0 };
  const hide = (flip: boolean): ToolPlan => {
    paths.length = 0;
    return hideParts(plan, { paths, flip, booleans }) as ToolPlan;
  };
  const flipped = hide(true);
  const shown = hide(false);
  if (JSON.stringify(shown) === JSON.stringify(plan) && booleans.found === 0) return null;
  const nameOf = (index: number): string => (paths[index] === undefined ? FIXED : placeholder(paths[index]));
  return {
    plan: shown, flipped: booleans.found === 0 ? null : flipped,
    named: (text) => text
      .replace(NUMBER, (digits) => nameOf(Number(digits) - FIRST_NUMBER))
      .replace(INSTANT, (_whole, minutes: string, seconds: string) => nameOf(Number(minutes) * 60 + Number(seconds))),
  };
}

interface Hiding {
  /** Fields of the values so far; a stand-in has the index of its own. */
  readonly paths: string[];
  readonly flip: boolean;
  readonly booleans: { found: number };
}

/** Every filter and route of a plan, wherever it is: a new kind of plan must not show what this file has not heard of. */
function hideParts(part: unknown, hiding: Hiding): unknown {
  if (Array.isArray(part)) return part.map((item) => hideParts(item, hiding));
  if (!isRecord(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, FILTERS.has(key) ? hideFilter(value, hiding) : key === ROUTE ? hideRoute(value, part["collection"]) : hideParts(value, hiding)]));
}

/** A store whose collections are namespaces reads the one that is named as the collection, which is shown anyway. */
function hideRoute(route: unknown, collection: unknown): unknown {
  return isRecord(route) ? Object.fromEntries(Object.entries(route).map(([key, value]) => [key, value === collection ? value : placeholder(key)])) : route;
}

function hideFilter(filter: unknown, hiding: Hiding): unknown {
  if (Array.isArray(filter)) return filter.map((part) => hideFilter(part, hiding));
  if (!isRecord(filter)) return filter;
  const { path, op, value } = filter;
  if (typeof path !== "string" || !("value" in filter)) return Object.fromEntries(Object.entries(filter).map(([key, part]) => [key, key === "and" || key === "or" ? hideFilter(part, hiding) : part]));
  const isInstant = comparesInstants({ path, op: op as Op, ...(filter["dtype"] === "datetime" ? { dtype: "datetime" as const } : {}) });
  const one = (operand: unknown): unknown => hideValue(operand, { path, op: String(op), isInstant }, hiding);
  return { ...filter, value: Array.isArray(value) ? value.map(one) : one(value) };
}

function hideValue(value: unknown, { path, op, isInstant }: { readonly path: string; readonly op: string; readonly isInstant: boolean }, { paths, flip, booleans }: Hiding): unknown {
  // Whether a field is there is a part of the operator.
  if (op === "exists" || op === "is_null" || value === null) return value;
  if (typeof value === "boolean") {
    booleans.found += 1;
    return flip;
  }
  const index = paths.length;
  if (typeof value === "number") return (paths.push(path), FIRST_NUMBER + index);
  if (isInstant) return index < MAX_NAMED ? (paths.push(path), instant(index)) : instant(MAX_NAMED - 1);
  // The wildcards at the ends decide what a store can do with a pattern.
  if (op === "like" && typeof value === "string") return `${/^%/.test(value) ? "%" : ""}${placeholder("pattern")}${/%$/.test(value) ? "%" : ""}`;
  return placeholder(path);
}

function instant(index: number): string {
  return `0002-01-01T00:${String(Math.floor(index / 60)).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}Z`;
}

/** The text without the words in which two versions of it differ; `null` when they differ in more than words. */
export function withoutDifferences(text: string, other: string): string | null {
  if (text === other) return text;
  const [words, others] = [text.split(/\b/), other.split(/\b/)];
  if (words.length !== others.length) return null;
  return words.map((word, index) => (word === others[index] ? word : FIXED)).join("");
}
