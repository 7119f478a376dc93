/**
 * The meaning of the two text operators, shared by `evaluate`, by stores that register them as functions,
 * and by the words that a full-text index holds.
 */

/** One piece of a `like` pattern. */
export type LikeToken = { readonly text: string } | "any" | "one";

/**
 * A `like` pattern taken apart: `%` is any run, `_` one code point, a backslash takes either (or itself) literally;
 * before anything else, and at the end, it stands for itself.
 */
export function parseLike(pattern: string): readonly LikeToken[] {
  const tokens: LikeToken[] = [];
  let text = "";
  const flush = (): void => {
    if (text !== "") tokens.push({ text });
    text = "";
  };
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    const next = pattern.charAt(i + 1);
    if (char === "\\" && (next === "%" || next === "_" || next === "\\")) {
      text += next;
      i++;
    } else if (char === "%" || char === "_") {
      flush();
      tokens.push(char === "%" ? "any" : "one");
    } else {
      text += char;
    }
  }
  flush();
  return tokens;
}

/**
 * Tests whole values against a pattern, ignoring case by Unicode's simple folding. Linear in the value's length for
 * each run of the pattern: no pattern can make it slow the way a regular expression can.
 */
export function likeMatcher(pattern: string): (value: string) => boolean {
  const units = parseLike(pattern).flatMap((token): readonly number[] =>
    token === "any" ? [ANY] : token === "one" ? [ONE] : Array.from({ length: foldCase(token.text).length }, (_, i) => foldCase(token.text).charCodeAt(i)),
  );
  return (value) => matchesUnits(units, foldCase(value));
}

const ANY = -1;
const ONE = -2;

function matchesUnits(pattern: readonly number[], text: string): boolean {
  let at = 0;
  let unit = 0;
  let lastAny = -1;
  let retryFrom = 0;
  while (at < text.length) {
    const wanted = pattern[unit];
    if (wanted === ANY) {
      lastAny = unit++;
      retryFrom = at;
    } else if (wanted === ONE) {
      at += codePointWidth(text, at);
      unit++;
    } else if (wanted === text.charCodeAt(at)) {
      at++;
      unit++;
    } else if (lastAny >= 0) {
      // Only the last % ever needs to give way: what an earlier one could take, this one can.
      retryFrom += codePointWidth(text, retryFrom);
      at = retryFrom;
      unit = lastAny + 1;
    } else {
      return false;
    }
  }
  while (pattern[unit] === ANY) unit++;
  return unit === pattern.length;
}

function codePointWidth(text: string, at: number): number {
  const code = text.codePointAt(at);
  return code !== undefined && code > 0xffff ? 2 : 1;
}

/** Case folded code point by code point, so that lengths stay: "ß" stays one character, "K" (kelvin) becomes "k". */
export function foldCase(text: string): string {
  if (isPlain(text)) return text.toLowerCase();
  let folded = "";
  for (const char of text) {
    const upper = char.toUpperCase();
    const lower = isOneCodePoint(upper) ? upper.toLowerCase() : char.toLowerCase();
    folded += isOneCodePoint(lower) ? lower : char;
  }
  return folded;
}

function isOneCodePoint(text: string): boolean {
  return text.length === codePointWidth(text, 0);
}

/** Accents dropped, case folded, compatibility forms unified: "Ａmélie" and "amelie" are one word. */
export function foldText(text: string): string {
  if (isPlain(text)) return text.toLowerCase();
  return withoutMarks(withoutMarks(text).toUpperCase().toLowerCase());
}

function withoutMarks(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}+/gu, "");
}

function isPlain(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text);
}

/** The folded words of a text, in order: runs of letters and digits. */
export function wordsOf(text: string): readonly string[] {
  return foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Tests whether a value has every word of the query; a query without words matches nothing. */
export function wordMatcher(query: string): (value: string) => boolean {
  const wanted = [...new Set(wordsOf(query))];
  return (value) => {
    if (wanted.length === 0) return false;
    const have = new Set(wordsOf(value));
    return wanted.every((word) => have.has(word));
  };
}
