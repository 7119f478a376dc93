/**
 * Reads back what `build` prints: the JSON values of `export const NAME = …` in a generated file. It understands exactly
 * the literals of generated code and runs nothing, so that reading a file that anybody may have written is safe.
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

  atEnd(): boolean {
    return this.#peek() === "";
  }

  skip(pattern: RegExp): boolean {
    this.#peek();
    return this.#match(pattern) !== null;
  }

  /** The first group of a pattern that has to match here. */
  capture(pattern: RegExp): string {
    this.#peek();
    const found = this.#match(pattern);
    if (found === null) throw this.#unexpected();
    return new RegExp(pattern.source).exec(found)?.[1] ?? "";
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
      text += this.#decoded(part);
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

  /** Of the escapes of JavaScript, generated code has those of JSON. */
  #decoded(literal: string): string {
    try {
      return JSON.parse(literal) as string;
    } catch {
      throw this.#unexpected();
    }
  }

  #object(): { readonly [key: string]: unknown } {
    const entries: [string, unknown][] = [];
    const keys = new Set<string>();
    this.#expect("{");
    while (!this.#take("}")) {
      const key = this.#key();
      if (keys.has(key)) throw this.#unexpected();
      keys.add(key);
      this.#expect(":");
      entries.push([key, this.value()]);
      if (!this.#take(",") && this.#peek() !== "}") throw this.#unexpected();
    }
    // A member named __proto__ is a member like any other.
    return Object.fromEntries(entries);
  }

  #key(): string {
    const char = this.#peek();
    if (char === '"') return this.#plainKey(this.#string());
    if (char === "[") {
      this.#expect("[");
      const key = this.#string();
      this.#expect("]");
      return key;
    }
    const word = this.#match(WORD);
    if (word === null) throw this.#unexpected();
    return this.#plainKey(word);
  }

  /** Without brackets, `__proto__` would set the prototype and be no member. */
  #plainKey(key: string): string {
    if (key === "__proto__") throw this.#unexpected();
    return key;
  }

  #unexpected(): UnreadableLiteral {
    const line = this.text.slice(0, this.at).split("\n").length;
    return new UnreadableLiteral(`line ${line} is not as build prints it`);
  }
}

/** The values of a generated module that holds nothing but comments, imports of types and `export const NAME = literal`. */
export type LiteralModule = ReadonlyMap<string, unknown>;

/** Line ends of JavaScript that are no "\n": text behind one would be code to Node and a comment to this reader. */
const OTHER_LINE_END = /[\r\u2028\u2029]/;
const TYPE_IMPORT = /import type \* as [A-Za-z_]\w* from "[\w./-]+";/y;
const EXPORT = /export const ([A-Za-z_]\w*) = /y;
/** `as const satisfies rt.PlanTable;`, and `{ readonly [name: string]: rt.ConnectionPlan }` in the place of the type. */
const END = /(?:as const(?:\s+satisfies (?:readonly )?[\w.]+(?:\[\])?|\s+satisfies \{ readonly \[\w+: string\]: [\w.]+ \})?)?;/y;

/**
 * Reads a whole generated module. Everything in it has to be understood: a statement of another kind, a second
 * declaration of a name or a member given twice makes the module unreadable, because Node might see another value.
 * @throws UnreadableLiteral
 */
export function readModule(text: string): LiteralModule {
  const values = new Map<string, unknown>();
  const reader = new Reader(text, 0);
  if (OTHER_LINE_END.test(text)) throw new UnreadableLiteral("it has line ends that build does not print");
  for (;;) {
    if (reader.atEnd()) return values;
    if (reader.skip(TYPE_IMPORT)) continue;
    const name = reader.capture(EXPORT);
    if (values.has(name)) throw new UnreadableLiteral(`'${name}' is declared twice`);
    values.set(name, reader.value());
    reader.capture(END);
  }
}

/** One value of a module. @throws UnreadableLiteral */
export function readExport(text: string, name: string): unknown {
  const values = readModule(text);
  if (!values.has(name)) throw new UnreadableLiteral(`there is no 'export const ${name}'`);
  return values.get(name);
}

/** Lines of the catalog by tool, from the comments above the plans. */
export function readLines(text: string): { readonly [tool: string]: number } {
  const found = text.matchAll(/^ {2}\/\*\* .*:(\d+) \*\/\n(?: {2}\/\/.*\n)* {2}(\w+): \{$/gm);
  return Object.fromEntries([...found].map(([, line, tool]) => [tool as string, Number(line)]));
}
