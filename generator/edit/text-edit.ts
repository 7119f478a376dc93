/** Edits of a text as data: a list of replacements, so that everything outside of them survives byte for byte. */
import { CompilerBug } from "../bug.js";

/** Replaces `length` UTF-16 units at `offset` of the original text; insertions have length 0. */
export interface TextEdit {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

export function insertAt(offset: number, text: string): TextEdit {
  return { offset, length: 0, text };
}

/**
 * The text after all edits. Insertions at one position are in the order of the list.
 * @throws CompilerBug when two edits overlap.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const ordered = edits.map((edit, index) => ({ ...edit, index })).sort((a, b) => a.offset - b.offset || a.length - b.length || a.index - b.index);
  let at = 0;
  let result = "";
  for (const { offset, length, text: inserted } of ordered) {
    if (offset < at || offset + length > text.length) throw new CompilerBug(`edit at ${offset} overlaps another one or leaves the text`);
    result += text.slice(at, offset) + inserted;
    at = offset + length;
  }
  return result + text.slice(at);
}
