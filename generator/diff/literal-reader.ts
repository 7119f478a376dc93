/**
 * Reads back what `build` prints: the JSON values of `export const NAME = …` in a generated file. It understands exactly
 * the literals of generated code and runs nothing, so that comparing two builds is safe whoever wrote them.
 */

/** A generated file that does not read as one: edited by hand, or not generated at all. */
export class UnreadableLiteral extends Error {
  override readonly name = "UnreadableLiteral";
}

const MAX_DEPTH = 64;
const BLANK = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_$][\w$]*/y;

class Reader {
  #depth = 0;
  constructor(readonly text: string, public at: number) {}

  value(): unknown {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#unexpected();
    const value = this.#one();
    this.#depth -= 1;
    return value;
  }

  /** Nothing but the type of the value may stand behind it. */
  end(): void {
    this.#peek();
    if (!/^(?:as const\b|;)/.test(this.text.slice(this.at, this.at + 10))) throw this.#unexpected();
  }

  #one(): unknown {
    const char = this.#peek();
    if (char === "{") return this.#object();
    if (char === "[") return this.#list();
    if (char === '"') return this.#string();
    const number = this.#match(NUMBER);
    if (number !== null) return Number(number);
    const word = this.#match(WORD);
    if (word === "true") return true;
    if (word === "false") return false;
    if (word === "null") return null;
    throw this.#unexpected();
  }

  #peek(): string {
    this.#match(BLANK);
    return this.text[this.at] ?? "";
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.at += 1;
    return true;
  }

  #expect(char: string): void {
    if (!this.#take(char)) throw this.#unexpected();
  }

  /** One text, or a sum of texts. */
  #string(): string {
    let text = "";
    do {
      this.#peek();
      const part = this.#match(STRING);
      if (part === null) throw this.#unexpected();
      text += JSON.parse(part) as string;
    } while (this.#take("+"));
    return text;
  }

  #list(): readonly unknown[] {
    const items: unknown[] = [];
    this.#expect("[");
    while (!this.#take("]")) {
      items.push(this.value());
      if (!this.#take(",") && this.#peek() !== "]") throw this.#unexpected();
    }
    return items;
  }

  #object(): { readonly [key: string]: unknown } {
    const entries: [string, unknown][] = [];
    this.#expect("{");
    while (!this.#take("}")) {
      const key = this.#key();
      this.#expect(":");
      entries.push([key, this.value()]);
      if (!this.#take(",") && this.#peek() !== "}") throw this.#unexpected();
    }
    // A member named __proto__ is a member like any other.
    return Object.fromEntries(entries);
  }

  #key(): string {
    const char = this.#peek();
    if (char === '"') return this.#string();
    if (char === "[") {
      this.#expect("[");
      const key = this.#string();
      this.#expect("]");
      return key;
    }
    const word = this.#match(WORD);
    if (word === null) throw this.#unexpected();
    return word;
  }

  #unexpected(): UnreadableLiteral {
    const line = this.text.slice(0, this.at).split("\n").length;
    return new UnreadableLiteral(`line ${line} is not as build prints it`);
  }
}

/** The value of `export const name = …`. @throws UnreadableLiteral */
export function readExport(text: string, name: string): unknown {
  const start = new RegExp(`^export const ${name} = `, "m").exec(text);
  if (start === null) throw new UnreadableLiteral(`there is no 'export const ${name}'`);
  const reader = new Reader(text, start.index + start[0].length);
  const value = reader.value();
  reader.end();
  return value;
}

/** Lines of the catalog by tool, from the comments above the plans. */
export function readLines(text: string): { readonly [tool: string]: number } {
  const found = text.matchAll(/^ {2}\/\*\* .*:(\d+) \*\/\n {2}(\w+): \{$/gm);
  return Object.fromEntries([...found].map(([, line, tool]) => [tool as string, Number(line)]));
}
