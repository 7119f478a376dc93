/** Parts of JSON written by hand, for records that are made for every call: JSON.stringify of an object costs several times as much. */

/** Printable ASCII without the two characters that JSON escapes. */
const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;

/** The text as a JSON string. */
export function quoted(text: string): string {
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}
