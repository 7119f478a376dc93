/**
 * What may leave the process of a record. Redaction comes first and on the whole record, before a pipeline's steps and
 * before projection, so that no reshaping can show a redacted value. Works on copies; adapters' rows are never changed.
 */
import { createHash } from "node:crypto";
import type { CallContext } from "../../abi/call.js";
import type { Row } from "../../abi/filter.js";
import type { OutputPlan, RedactPlan } from "../../abi/plan.js";
import { compilePattern, replaceAll } from "../../base/pattern.js";
import { isRecord } from "../../base/paths.js";

/** Replaces a value; `undefined` removes it. */
type Replace = (value: unknown) => unknown;

/** A redaction rule ready to run. */
export interface RedactRule {
  readonly path: string;
  readonly keys: readonly string[];
  /** The rule removes the value rather than replacing it. */
  readonly omits: boolean;
  readonly replace: Replace;
}

/** Modes from the one that shows most to the one that shows nothing. */
const STRICTNESS: readonly RedactPlan["mode"][] = ["pattern", "hash", "mask", "omit"];

/** Longest text that patterns are run over; no longer one fits into a result. */
const MAX_PATTERN_TEXT = 100_000;

/**
 * Work that one pattern may take on one value (characters by the cost of the pattern) and matches it may replace. The
 * server answers nobody meanwhile: nested repetition was measured at about 160 ms at the bound of work; the bound of matches is not measured.
 * Beyond them the value is replaced whole.
 */
const MAX_PATTERN_WORK = 800_000;
const MAX_MATCHES = 500;

/** The rules of a plan; of several for one path the strictest counts, and the patterns of all `pattern` rules do. */
export function compileRedaction(plans: readonly RedactPlan[]): readonly RedactRule[] {
  const byPath = new Map<string, RedactPlan>();
  for (const plan of plans) byPath.set(plan.path, stricter(byPath.get(plan.path), plan));
  return [...byPath.values()].map((plan) => {
    const replace = replacer(plan);
    return { path: plan.path, keys: plan.path.split("."), omits: replace === REMOVE, replace };
  });
}

function stricter(one: RedactPlan | undefined, other: RedactPlan): RedactPlan {
  if (one === undefined) return other;
  if (one.mode === "pattern" && other.mode === "pattern") {
    const both = [one.patterns ?? [], other.patterns ?? []];
    // A rule without patterns removes the value; so does the two together.
    return { ...one, patterns: both.some((list) => list.length === 0) ? [] : both.flat() };
  }
  return STRICTNESS.indexOf(other.mode) > STRICTNESS.indexOf(one.mode) ? other : one;
}

/** The redacted rows of a call; `rows` itself where the plan redacts nothing. */
export function redactRows(rows: readonly Row[], output: OutputPlan, call: CallContext): readonly Row[] {
  const rules = rulesOf(output, call);
  return rules.length === 0 ? rows : rows.map((row) => redactRecord(row, rules) as Row);
}

/** The rules of an output, compiled once for a program. */
export function rulesOf(output: OutputPlan, call: CallContext): readonly RedactRule[] {
  return call.services.once(output, () => compileRedaction(output.redact ?? []));
}

/**
 * The record with every rule applied, however the record spells the path: nested objects, keys that hold dots, both
 * mixed, and inside lists. A key below the path, `user.email` for `user`, is redacted too.
 */
export function redactRecord(record: { readonly [key: string]: unknown }, rules: readonly RedactRule[]): { readonly [key: string]: unknown } {
  let redacted = record;
  for (const { keys, replace } of rules) redacted = redactAt(redacted, keys, replace) as typeof redacted;
  return redacted;
}

function redactAt(value: unknown, keys: readonly string[], replace: Replace): unknown {
  if (keys.length === 0) return redactValue(value, replace);
  if (Array.isArray(value)) return value.map((item: unknown) => redactAt(item, keys, replace));
  if (!isRecord(value)) return value;
  let changed: Map<string, unknown> | null = null;
  for (const key of Object.keys(value)) {
    const rest = restOf(keys, key);
    if (rest !== null) (changed ??= new Map()).set(key, redactAt(value[key], rest, replace));
  }
  if (changed === null) return value;
  const replaced = changed;
  // Entries, not spread and delete: the order of the other keys stays, and no key can mean the prototype.
  return Object.fromEntries(Object.entries(value).flatMap(([key, old]) => {
    if (!replaced.has(key)) return [[key, old]];
    const now = replaced.get(key);
    return now === undefined ? [] : [[key, now]];
  }));
}

/** What is left of a path behind a key of a record; `[]` when the key is the path or lies below it, `null` when it is another. */
function restOf(keys: readonly string[], key: string): readonly string[] | null {
  const [first = ""] = keys;
  if (key === first) return keys.slice(1);
  if (!key.startsWith(first) || key.charAt(first.length) !== ".") return null;
  const parts = key.split(".");
  for (let at = 0; at < Math.min(parts.length, keys.length); at++) if (parts[at] !== keys[at]) return null;
  return keys.slice(parts.length);
}

function redactValue(value: unknown, replace: Replace): unknown {
  if (replace === REMOVE) return undefined;
  if (value === null || value === undefined) return value;
  return Array.isArray(value) ? value.map((item: unknown) => redactValue(item, replace)) : replace(value);
}

const REMOVE: Replace = () => undefined;

function replacer(plan: RedactPlan): Replace {
  switch (plan.mode) {
    case "omit":
      return REMOVE;
    case "hash":
      return (value) => createHash("sha256").update(textOf(value)).digest("hex").slice(0, 8);
    case "mask":
      return (value) => maskText(textOf(value));
    case "pattern": {
      const patterns = (plan.patterns ?? []).map(({ regex, replacement }) => compilePattern(regex, replacement));
      // Nothing says what may stay, so nothing stays.
      return patterns.length === 0 ? REMOVE : (value) => replacePatterns(textOf(value), patterns);
    }
    default:
      return plan.mode satisfies never;
  }
}

function replacePatterns(text: string, patterns: readonly ReturnType<typeof compilePattern>[]): string {
  let left = text;
  for (const pattern of patterns) {
    // Replacements may make the text longer, so each pattern is bounded by the text that it gets.
    if (left.length > MAX_PATTERN_TEXT || left.length * pattern.cost > MAX_PATTERN_WORK) return "***";
    const replaced = replaceAll(left, pattern, MAX_MATCHES);
    if (replaced === null) return "***";
    left = replaced;
  }
  return left;
}

/** Keeps the domain of an address, nothing of anything else. */
function maskText(text: string): string {
  const at = text.lastIndexOf("@");
  return at < 0 ? "***" : `***@${text.slice(at + 1)}`;
}

/** The text that hashes and patterns see; booleans are spelled as existing hashes have them. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
