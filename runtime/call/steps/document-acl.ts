/**
 * Document access: which rows a caller may see is decided by claims of the caller and fields of the row, in the store.
 * A claim that is missing or not usable admits no row; where that leaves nothing to see, the call is refused.
 */
import type { Principal } from "../../abi/call.js";
import { ToolError } from "../../abi/errors.js";
import type { Condition, Filter, Operand } from "../../abi/filter.js";
import type { AclRule, DocumentAclPlan } from "../../abi/plan.js";

/** Entries that a claim may list; each becomes an operand of the store's filter. */
const MAX_ENTRIES = 256;
/** Longest text of a claim, in UTF-16 code units; as of a text argument. */
const MAX_TEXT = 1_024;

/**
 * The condition that confines a call to the rows that its caller may see.
 * @throws ToolError auth_error when a claim that the rules need is missing or not usable.
 */
export function aclFilter({ combine, rules }: DocumentAclPlan, principal: Principal): Filter {
  const conditions = rules.map((rule) => conditionOf(rule, principal));
  const admitted = conditions.filter((condition) => condition !== null);
  const isRefused = combine === "all" ? admitted.length < rules.length : admitted.length === 0;
  const [first] = admitted;
  // A plan without rules admits nobody: the compiler makes none.
  if (isRefused || first === undefined) throw new ToolError("auth_error", refusal(rules.filter((_, index) => conditions[index] === null)));
  if (admitted.length === 1) return first;
  return combine === "all" ? { and: admitted } : { or: admitted };
}

/** Names of claims come from the catalog; what the caller's claims hold is not repeated. */
function refusal(rules: readonly AclRule[]): string {
  const wanted = { any_of: "a text or number, or a list of up to 256 of them", equals: "a text, number or boolean", at_most: "a number" } as const;
  const needs = rules.map(({ match, claim }) => `'${claim}' (${wanted[match]})`);
  return `document access: the caller needs the claim ${[...new Set(needs)].join(" or ")}`;
}

/** `null` for a claim that is missing or not usable. */
function conditionOf({ match, claim, field }: AclRule, { claims }: Principal): Condition | null {
  const raw = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  switch (match) {
    case "any_of": {
      const value = entriesOf(raw);
      return value === null ? null : { path: field, op: "in", value };
    }
    case "equals":
      return isScalar(raw) ? { path: field, op: "eq", value: raw } : null;
    case "at_most":
      return isNumber(raw) ? { path: field, op: "lte", value: raw } : null;
    default:
      return match satisfies never;
  }
}

/** The entries of a list, or a single value as a list of one. One entry that is not usable spoils the list. */
function entriesOf(raw: unknown): Operand | null {
  if (!Array.isArray(raw)) return isText(raw) || isExact(raw) ? [raw] : null;
  // Counted before it is read: a claim of a megabyte costs nothing.
  if (raw.length === 0 || raw.length > MAX_ENTRIES) return null;
  const entries: readonly unknown[] = Array.from(raw);
  return entries.every((entry) => isText(entry) || isExact(entry)) ? entries : null;
}

function isScalar(raw: unknown): raw is string | number | boolean {
  return isText(raw) || isExact(raw) || typeof raw === "boolean";
}

function isText(raw: unknown): raw is string {
  return typeof raw === "string" && raw !== "" && raw.length <= MAX_TEXT;
}

/** A number that can be compared for equality: JSON has rounded one beyond 53 bits, which may be somebody else's now. */
function isExact(raw: unknown): raw is number {
  return isNumber(raw) && Math.abs(raw) <= Number.MAX_SAFE_INTEGER;
}

function isNumber(raw: unknown): raw is number {
  return typeof raw === "number" && Number.isFinite(raw);
}
