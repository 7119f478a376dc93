/**
 * Full text in the types of PostgreSQL, cut into words as the embedded store's index cuts it (FTS5's unicode61 without
 * diacritics), so that a question finds the same steps in both.
 */
import { indexedText, type Term } from "../search-text.js";

/** A longer word is cut; the database takes 2,046 bytes. */
const MAX_WORD = 400;
/** Positions beyond are the same to the database. */
const MAX_WORDS = 16_383;

/** Words of a text, in order. */
export function wordsOf(text: string): string[] {
  const plain = indexedText(text).normalize("NFD").replace(/\p{Mn}+/gu, "").normalize("NFC").toLowerCase();
  return (plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []).map((word) => word.slice(0, MAX_WORD));
}

/** A `tsvector` as text. */
export function documentOf(text: string): string {
  return wordsOf(text).slice(0, MAX_WORDS).map((word, index) => `'${word}':${index + 1}`).join(" ");
}

/** A `tsquery` as text; `null` when there is nothing to look for. */
export function questionOf(terms: readonly Term[]): string | null {
  const parts = terms.flatMap((term) => {
    const words = wordsOf(term.text);
    if (words.length === 0) return [];
    return [`(${words.map((word, index) => `'${word}'${term.prefix && index === words.length - 1 ? ":*" : ""}`).join(" <-> ")})`];
  });
  return parts.length === 0 ? null : parts.join(" & ");
}
