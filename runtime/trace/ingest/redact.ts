/**
 * Takes secrets out of events before they are queued. It works on the serialized form: whatever an object was, its
 * text, its numbers, its keys and every name are looked at. Patterns that fail to compile are told and left out.
 */
export type Detector = "api_keys" | "jwts" | "cards" | "emails";

/** What the built-in detectors look for. */
const DETECTORS: { readonly [name in Detector]: string } = {
  api_keys:
    "\\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}|\\bAKIA[0-9A-Z]{16}\\b|\\bgh[pousr]_[A-Za-z0-9]{30,}|\\bgithub_pat_[A-Za-z0-9_]{22,}|" +
    "\\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\\bAIza[0-9A-Za-z_-]{35}|\\bglpat-[A-Za-z0-9_-]{20,}|\\bhf_[A-Za-z0-9]{30,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
  jwts: "\\beyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*",
  cards: "(?<![\\w.-])(?:\\d[ -]?){12,18}\\d(?![\\w.-])",
  emails: "[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63})*\\.[A-Za-z]{2,24}",
};

export const DETECTOR_NAMES = Object.keys(DETECTORS) as readonly Detector[];

/** Deeper parts of a payload are replaced as a whole. */
const MAX_DEPTH = 60;

export interface RedactOptions {
  readonly patterns: readonly string[];
  readonly detectors: readonly Detector[];
  readonly replacement: string;
  readonly onBadPattern: (pattern: string, reason: string) => void;
}

export interface Redactor {
  /** Whether a text that holds whole events, as JSON, may need redaction; false saves looking at each of them. */
  concerns(raw: string): boolean;
  text(value: string): string;
  /** JSON text of an object; its keys are looked at too. */
  json(value: string): string;
}

interface Rule {
  readonly find: RegExp;
  readonly card: boolean;
}

/** `null` when there is nothing to look for. */
export function createRedactor(options: RedactOptions): Redactor | null {
  const own = options.patterns.flatMap((pattern) => {
    try {
      return [{ find: new RegExp(pattern, "gu"), card: false }];
    } catch {
      try {
        return [{ find: new RegExp(pattern, "g"), card: false }];
      } catch (error) {
        options.onBadPattern(pattern, error instanceof Error ? error.message : String(error));
        return [];
      }
    }
  });
  const builtIn = options.detectors.map((name) => ({ find: new RegExp(DETECTORS[name], "g"), card: name === "cards" }));
  const rules = [...own, ...builtIn];
  if (rules.length === 0) return null;
  const text = (value: string): string => rules.reduce((current, rule) => redactText(current, rule, options.replacement), value);
  return {
    // Patterns of the user may use anchors or see JSON's escapes, so they are always tried.
    concerns: (raw) => own.length > 0 || raw.includes("\\") || builtIn.some(({ find }) => matches(find, raw)),
    text,
    json: (value) => redactJson(value, text, options.replacement),
  };
}

function matches(find: RegExp, text: string): boolean {
  find.lastIndex = 0;
  const found = find.test(text);
  find.lastIndex = 0;
  return found;
}

function redactText(text: string, rule: Rule, replacement: string): string {
  return text.replace(rule.find, (found) => (rule.card && !isCard(found) ? found : replacement));
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
