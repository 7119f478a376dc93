/** The words of a record for its full-text index. Pure. */
import { type ColumnValue, indexWords, isRecordPath } from "../../runtime/adapters/sqlite/layout.js";

/** The words of the embedded text, and those that only other fields have: `text_match` asks for words of any field. */
export function wordsOfRecord(text: string, columns: ReadonlyMap<string, ColumnValue>): readonly [string, string] {
  const words = indexWords(text);
  const known = new Set(words);
  let others = "";
  for (const [path, value] of columns) {
    // The embedded text is often one field as it is: its words are known.
    if (typeof value !== "string" || value === text || !isRecordPath(path)) continue;
    for (const word of indexWords(value)) {
      if (known.has(word)) continue;
      known.add(word);
      others += others === "" ? word : ` ${word}`;
    }
  }
  return [words.join(" "), others];
}
