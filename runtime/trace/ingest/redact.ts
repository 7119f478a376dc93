/**
 * Takes secrets out of events before they are queued. It works on the serialized form: whatever an object was, its
 * text, its numbers, its keys and every name are looked at. Time is linear in the text: patterns of the settings run
 * on a linear engine, and most texts are passed by one cheap expression that finds no beginning of a secret in them.
 */
import { compileLinear, type LinearPattern } from "../../base/linear-pattern.js";
import { mayHoldSecret } from "./hints.js";

export type Detector = "api_keys" | "jwts" | "cards" | "emails";

interface DetectorRow {
  /** A text without a match has nothing that the detector looks for. No repetition without a bound, no look around. */
  readonly hint: string;
  readonly find: string;
  /** Every repetition has a small bound, so that any engine is linear: for what the other one can't express. */
  readonly bounded?: true;
  /** Whether a match is one: a check that an expression can't do. */
  readonly confirm?: (found: string) => boolean;
}

/** What the built-in detectors look for. */
const DETECTORS: { readonly [name in Detector]: DetectorRow } = {
  api_keys: {
    hint: "[spr]k[-_][A-Za-z0-9_-]{16}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30}|github_pat_|xox[abeoprs]-|AIza[0-9A-Za-z_-]{35}|glpat-|hf_[A-Za-z0-9]{30}|-----BEGIN ",
    find:
      "\\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\\bAKIA[0-9A-Z]{16}\\b|\\bgh[pousr]_[A-Za-z0-9]{30,}|\\bgithub_pat_[A-Za-z0-9_]{22,}|\\bxox[abeoprs]-[A-Za-z0-9-]{10,}|" +
      "\\bAIza[0-9A-Za-z_-]{35}|\\bglpat-[A-Za-z0-9_-]{20,}|\\bhf_[A-Za-z0-9]{30,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
  },
  jwts: { hint: "eyJ[A-Za-z0-9_-]{8}", find: "\\beyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*" },
  cards: { hint: "\\d(?:[ -]?\\d){12}", find: "(?<![\\w.-])(?:\\d[ -]?){12,18}\\d(?![\\w.-])", bounded: true, confirm: isCard },
  emails: { hint: "@[A-Za-z0-9-]", find: "[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){0,20}\\.[A-Za-z]{2,24}", bounded: true },
};

export const DETECTOR_NAMES = Object.keys(DETECTORS) as readonly Detector[];

/** Deeper parts of a payload are replaced as a whole. */
const MAX_DEPTH = 60;

export interface RedactOptions {
  /** Expressions that `patternProblem` accepts. */
  readonly patterns: readonly string[];
  readonly detectors: readonly Detector[];
  readonly replacement: string;
}

export interface Redactor {
  /** Whether text or JSON text in a part of the bytes may need redaction; false saves reading it as text. */
  concernsBytes(bytes: Uint8Array, from?: number, to?: number): boolean;
  /** Whether JSON text may need redaction; false saves looking at each value in it. */
  concerns(json: string): boolean;
  text(value: string): string;
  /** JSON text of an object; its keys are looked at too. */
  json(value: string): string;
}

/** Why a text can't be a pattern of `redact_patterns`; `null` when it can. */
export function patternProblem(pattern: string): string | null {
  try {
    compileLinear(pattern);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** `null` when there is nothing to look for. @throws SyntaxError for a pattern that `patternProblem` does not accept */
export function createRedactor({ patterns, detectors, replacement }: RedactOptions): Redactor | null {
  if (patterns.length === 0 && detectors.length === 0) return null;
  const own = patterns.map(compileLinear);
  const rows = detectors.map((name) => DETECTORS[name]);
  // The hints of all detectors as one expression: most texts are read once.
  const hint = rows.length === 0 ? null : new RegExp(rows.map((row) => row.hint).join("|"));
  const builtIn = rows.map(finder);
  const text = (value: string): string => {
    let clean = value;
    for (const pattern of own) clean = pattern.replace(clean, () => replacement);
    if (hint !== null && hint.test(clean)) for (const replace of builtIn) clean = replace(clean, replacement);
    return clean;
  };
  // Patterns of the user may use anchors or match quotes of JSON, so they are always tried. What a detector looks for
  // is in JSON as it is, unless its characters are written as \uXXXX.
  const concerns = (json: string): boolean => own.length > 0 || (hint !== null && hint.test(json)) || json.includes("\\u");
  const concernsBytes = (bytes: Uint8Array, from?: number, to?: number): boolean => own.length > 0 || mayHoldSecret(bytes, from, to);
  return { concernsBytes, concerns, text, json: (value) => (concerns(value) ? redactJson(value, text, replacement) : value) };
}

/** Replaces what a detector finds. */
function finder({ hint, find, bounded, confirm = () => true }: DetectorRow): (text: string, replacement: string) => string {
  const quick = new RegExp(hint);
  const pattern = bounded === true ? nativePattern(find) : compileLinear(find);
  return (text, replacement) => (quick.test(text) ? pattern.replace(text, (found) => (confirm(found) ? replacement : found)) : text);
}

function nativePattern(source: string): Pick<LinearPattern, "replace"> {
  const expression = new RegExp(source, "g");
  return { replace: (text, replace) => text.replace(expression, replace) };
}

/** The check digit of card numbers. */
function isCard(text: string): boolean {
  const digits = text.replace(/\D/g, "");
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    sum += index % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return digits.length >= 13 && sum % 10 === 0 && /[1-9]/.test(digits);
}

function redactJson(json: string, text: (value: string) => string, replacement: string): string {
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") {
      const shown = String(value);
      const clean = text(shown);
      return clean === shown ? value : clean;
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) return replacement;
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, inside]) => [text(key), walk(inside, depth + 1)]));
  };
  return JSON.stringify(walk(JSON.parse(json), 0));
}
