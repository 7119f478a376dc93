/**
 * The meaning of the operator text_match and of case, shared by `evaluate`, by stores that register these as functions,
 * and by the words that a full-text index holds. `like` is beside this file.
 */

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
    return wanted.length <= have.size && wanted.every((word) => have.has(word));
  };
}
