/** Parts of JSON written by hand, for records that are made for every call: JSON.stringify of an object costs several times as much. */

/** Printable ASCII without the two characters that JSON escapes. */
const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;

/** The text as a JSON string. */
export function quoted(text: string): string {
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** What a terminal acts on or does not show: controls but the line feed, line ends of Unicode, marks that change the direction of text. */
const UNSEEN = /[\0-\x09\x0b-\x1f\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text for people, with what they could not see written out as JSON writes it. JSON itself leaves all but the first 32 as they are. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) => [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""));
}
