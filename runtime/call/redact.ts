/**
 * What may leave the process of a record: redaction first, on the whole record, so that no projection can show a
 * part of a redacted value or a redacted part of a value. Works on copies; adapters' rows are never changed.
 */
import { createHash } from "node:crypto";
import type { RedactPlan } from "../abi/plan.js";
import { compilePattern, replaceAll } from "../base/pattern.js";
import { isRecord } from "../base/paths.js";

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

/** The rules of a plan; of several for one path the last counts. */
export function compileRedaction(plans: readonly RedactPlan[]): readonly RedactRule[] {
  const last = new Map(plans.map((plan) => [plan.path, plan]));
  return [...last.values()].map((plan) => ({ path: plan.path, keys: plan.path.split("."), omits: plan.mode === "omit", replace: replacer(plan) }));
}

/** The record with every rule applied: at the walked path, inside lists, and at a key that itself holds the dots. */
export function redactRecord(record: { readonly [key: string]: unknown }, rules: readonly RedactRule[]): { readonly [key: string]: unknown } {
  let redacted = record;
  for (const { path, keys, replace } of rules) {
    redacted = redactAt(redacted, keys, replace) as typeof redacted;
    if (keys.length > 1 && Object.hasOwn(redacted, path)) redacted = redactAt(redacted, [path], replace) as typeof redacted;
  }
  return redacted;
}

function redactAt(value: unknown, keys: readonly string[], replace: Replace): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return redactValue(value, replace);
  if (Array.isArray(value)) return value.map((item: unknown) => redactAt(item, keys, replace));
  if (!isRecord(value) || !Object.hasOwn(value, key)) return value;
  const replaced = redactAt(value[key], rest, replace);
  // Entries, not spread and delete: the order of the other keys stays, and no key can mean the prototype.
  return Object.fromEntries(Object.entries(value).flatMap(([k, v]) => (k !== key ? [[k, v]] : replaced === undefined ? [] : [[k, replaced]])));
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
      return (value) => patterns.reduce((text, pattern) => replaceAll(text, pattern), textOf(value));
    }
    default:
      return plan.mode satisfies never;
  }
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
