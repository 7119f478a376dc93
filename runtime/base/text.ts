/**
 * The meaning of the operator text_match and of case, shared by `evaluate`, by stores that register these as functions,
 * and by the words that a full-text index holds. `like` is beside this file.
 */

/** Characters whose other case takes several code points. Only the speed of `foldCase` depends on this list being complete. */
const GROWING = /([\u00df\u0130\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1f50-\u1f56\u1f80-\u1ffc\ufb00-\ufb17]+)/;

/** Case folded code point by code point, so that lengths stay: "ß" stays one character, "K" (kelvin) becomes "k". */
export function foldCase(text: string): string {
  if (isPlain(text)) return text.toLowerCase();
  const folds = new Map<string, string>();
  return text.split(GROWING).map((run) => foldRun(run, folds)).join("");
}

/** Whole runs are folded at once: no mapping makes a text shorter, so equal lengths say that each code point became one. */
function foldRun(run: string, folds: Map<string, string>): string {
  const upper = run.toUpperCase();
  const lower = upper.length === run.length ? upper.toLowerCase() : "";
  // At the end of a word, lower case alone would write Σ as ς.
  if (lower.length === run.length) return lower.replaceAll("ς", "σ");
  let folded = "";
  for (const char of run) {
    let one = folds.get(char);
    if (one === undefined) folds.set(char, (one = foldCodePoint(char)));
    folded += one;
  }
  return folded;
}

function foldCodePoint(char: string): string {
  const upper = char.toUpperCase();
  const lower = isOneCodePoint(upper) ? upper.toLowerCase() : char.toLowerCase();
  return isOneCodePoint(lower) ? lower : char;
}

function isOneCodePoint(text: string): boolean {
  return text.length === ((text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
}

/** Accents dropped, case folded, compatibility forms unified: "Ａmélie" and "amelie" are one word. */
export function foldText(text: string): string {
  if (isPlain(text)) return text.toLowerCase();
  return withoutMarks(withoutMarks(text).toUpperCase().toLowerCase());
}

function withoutMarks(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}+/gu, "");
}

/** Whether a text is ASCII: its case and its words need no tables of Unicode. */
export function isPlain(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text);
}

/** The folded words of a text, in order: runs of letters and digits. */
export function wordsOf(text: string): readonly string[] {
  if (isPlain(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Tests whether a value has every word of the query; a query without words matches nothing. */
export function wordMatcher(query: string): (value: string) => boolean {
  const wanted = [...new Set(wordsOf(query))];
  return (value) => {
    if (wanted.length === 0) return false;
    const have = new Set(wordsOf(value));
    return wanted.length <= have.size && wanted.every((word) => have.has(word));
  };
}
