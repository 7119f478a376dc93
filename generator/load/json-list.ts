/** A JSON list of records, split into its elements while it arrives, so files may have any length. */
import { parseJson, type SourceItem } from "./source.js";

/**
 * The elements of one top-level list. An invalid element is reported, and reading continues after it where its brackets
 * still match; text outside the list ends it with an error.
 */
export async function* splitJsonList(chunks: AsyncIterable<string>): AsyncGenerator<readonly SourceItem[]> {
  const splitter = new Splitter();
  for await (const chunk of chunks) yield [...splitter.feed(chunk)];
  yield [...splitter.end()];
}

class Splitter {
  #state: "before" | "inside" | "after" | "failed" = "before";
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Text of the element so far. */
  #text = "";
  #number = 0;
  #line = 1;
  #startLine = 1;

  *feed(chunk: string): Generator<SourceItem> {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const char = chunk.charAt(i);
      if (char === "\n") this.#line++;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (char === "\\") this.#escaped = true;
        else if (char === '"') this.#inString = false;
        continue;
      }
      if (this.#state !== "inside") {
        yield* this.#outside(char);
        from = i + 1;
        continue;
      }
      if (this.#depth === 0 && (char === "," || char === "]")) {
        this.#text += chunk.slice(from, i);
        from = i + 1;
        yield* this.#element(char === "]");
        if (char === "]") this.#state = "after";
        continue;
      }
      if (char === '"') this.#inString = true;
      else if (char === "{" || char === "[") this.#depth++;
      else if (char === "}" || char === "]") this.#depth--;
      if (this.#text.trim() === "" && chunk.slice(from, i).trim() === "") this.#startLine = this.#line;
    }
    if (this.#state === "inside") this.#text += chunk.slice(from);
  }

  *end(): Generator<SourceItem> {
    if (this.#state === "before") yield this.#problem("the file is empty");
    if (this.#state === "inside") yield this.#problem("the list does not end: ']' is missing");
  }

  *#outside(char: string): Generator<SourceItem> {
    if (/\s/.test(char) || this.#state === "failed") return;
    if (this.#state === "before" && char === "[") {
      this.#state = "inside";
      return;
    }
    yield this.#problem(this.#state === "before" ? `expected a list of records, found '${char}'` : `there is more after the list: '${char}'`);
    this.#state = "failed";
  }

  *#element(last: boolean): Generator<SourceItem> {
    const text = this.#text;
    this.#text = "";
    if (text.trim() === "" && last && this.#number === 0) return;
    this.#number++;
    yield { number: this.#number, place: `record ${this.#number} (line ${this.#startLine})`, ...parseJson(text) };
  }

  #problem(error: string): SourceItem {
    return { number: this.#number + 1, place: `line ${this.#line}`, error };
  }
}
