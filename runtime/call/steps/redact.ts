/**
 * What may leave the process of a record. Redaction comes first and on the whole record, before a pipeline's steps and
 * before projection, so that no reshaping can show a redacted value. Works on copies; adapters' rows are never changed.
 */
import type { CallContext } from "../../abi/call.js";
import type { Row } from "../../abi/filter.js";
import type { OutputPlan, RedactPlan } from "../../abi/plan.js";
import { nodeCrypto } from "../../base/node-crypto.js";
import { compilePattern, replaceInSteps, type ReplaceBounds } from "../../base/pattern.js";
import { isRecord } from "../../base/paths.js";
import { inTurns } from "../../base/turns.js";

/** Replaces a value; `undefined` removes it. Patterns may take long, so they yield after each match. */
type Replace = (value: unknown) => Generator<void, unknown>;

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
 * Work of one search of a pattern (characters by the cost of the pattern); the server answers nobody meanwhile. The
 * slowest patterns known take 50 ns for each: 40 ms.
 */
const MAX_SEARCH_WORK = 800_000;

/** Matches that one pattern may replace in one value, and the work of all its searches. Beyond them the value is replaced whole. */
const BOUNDS: ReplaceBounds = { matches: 500, work: 50_000_000 };

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

/** The redacted rows of a call, made in several turns of the event loop; `rows` itself where the plan redacts nothing. */
export async function redactRows(rows: readonly Row[], output: OutputPlan, call: CallContext): Promise<readonly Row[]> {
  const rules = rulesOf(output, call);
  return rules.length === 0 ? rows : inTurns(redactAll(rows, rules), call.signal);
}

function* redactAll(rows: readonly Row[], rules: readonly RedactRule[]): Generator<void, readonly Row[]> {
  const redacted: Row[] = [];
  for (const row of rows) {
    redacted.push((yield* redactRecord(row, rules)) as Row);
    yield;
  }
  return redacted;
}

/** The rules of an output, compiled once for a program. */
export function rulesOf(output: OutputPlan, call: CallContext): readonly RedactRule[] {
  return call.services.once(output, () => compileRedaction(output.redact ?? []));
}

/**
 * The record with every rule applied, however the record spells the path: nested objects, keys that hold dots, both
 * mixed, and inside lists. A key below the path, `user.email` for `user`, is redacted too.
 */
function* redactRecord(record: { readonly [key: string]: unknown }, rules: readonly RedactRule[]): Generator<void, { readonly [key: string]: unknown }> {
  let redacted = record;
  for (const { keys, replace } of rules) redacted = (yield* redactAt(redacted, keys, replace)) as typeof redacted;
  return redacted;
}

function* redactAt(value: unknown, keys: readonly string[], replace: Replace): Generator<void, unknown> {
  if (keys.length === 0) return yield* redactValue(value, replace);
  if (Array.isArray(value)) return yield* redactEach(value, (item) => redactAt(item, keys, replace));
  if (!isRecord(value)) return value;
  let changed: Map<string, unknown> | null = null;
  for (const key of Object.keys(value)) {
    const rest = restOf(keys, key);
    if (rest !== null) (changed ??= new Map()).set(key, yield* redactAt(value[key], rest, replace));
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

function* redactEach(list: readonly unknown[], redact: (item: unknown) => Generator<void, unknown>): Generator<void, unknown> {
  const redacted: unknown[] = [];
  for (const item of list) redacted.push(yield* redact(item));
  return redacted;
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

function* redactValue(value: unknown, replace: Replace): Generator<void, unknown> {
  if (replace === REMOVE) return undefined;
  if (value === null || value === undefined) return value;
  yield;
  return Array.isArray(value) ? yield* redactEach(value, (item) => redactValue(item, replace)) : yield* replace(value);
}

const REMOVE: Replace = function* () {
  return undefined;
};

/** Of a mode whose time is that of the text. */
function quick(replace: (text: string) => string): Replace {
  return function* (value) {
    return replace(textOf(value));
  };
}

function replacer(plan: RedactPlan): Replace {
  switch (plan.mode) {
    case "omit":
      return REMOVE;
    case "hash": {
      const { createHash } = nodeCrypto();
      return quick((text) => createHash("sha256").update(text).digest("hex").slice(0, 8));
    }
    case "mask":
      return quick(maskText);
    case "pattern": {
      const patterns = (plan.patterns ?? []).map(({ regex, replacement }) => compilePattern(regex, replacement));
      // Nothing says what may stay, so nothing stays.
      return patterns.length === 0 ? REMOVE : (value) => replacePatterns(textOf(value), patterns);
    }
    default:
      return plan.mode satisfies never;
  }
}

function* replacePatterns(text: string, patterns: readonly ReturnType<typeof compilePattern>[]): Generator<void, string> {
  let left = text;
  for (const pattern of patterns) {
    // Replacements may make the text longer, so each pattern is bounded by the text that it gets.
    if (left.length > MAX_PATTERN_TEXT || left.length * pattern.cost > MAX_SEARCH_WORK) return "***";
    const replaced = yield* replaceInSteps(left, pattern, BOUNDS);
    if (replaced === null) return "***";
    left = replaced;
    yield;
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
