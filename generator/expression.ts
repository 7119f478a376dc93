/**
 * The expressions of `post_filter` steps: text → tree, with the position of the first mistake. Pure; the check phase
 * reports what is wrong, the planner keeps the tree. What the operators mean at run time is in runtime/call.
 *
 *   or → and → not → one comparison → + − → * / → unary − → literal, field, params.NAME, ( … )
 */
import type { Expr } from "../runtime/abi/plan.js";
import { keepsDigits } from "../runtime/base/numbers.js";

/** A tree, or the first mistake: `offset` counts UTF-16 units from the start of the text. */
export type ParsedExpression = { readonly expr: Expr } | { readonly error: string; readonly offset: number };

/** Deeper nesting is refused, so that neither this parser nor an evaluator can exhaust the stack. */
const MAX_DEPTH = 64;
/** A long chain makes a tree as deep as it is long; this many words are more than anyone reads. */
const MAX_TOKENS = 1_000;

type TokenKind = "number" | "string" | "name" | "op" | "end";
interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly offset: number;
  /** Value of a string literal. */
  readonly value?: string;
}

class Mistake extends Error {
  constructor(message: string, readonly offset: number) {
    super(message);
  }
}

const TOKEN = /\s*(?:(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_]\w*)|(?<op>==|!=|>=|<=|[><+\-*/().])|(?<quote>["']))/uy;
const ESCAPES: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", "0": "\0" };
const COMPARISONS = ["==", "!=", ">=", "<=", ">", "<"] as const;
const HINTS: { readonly [text: string]: string } = {
  "=": "'=' is not an operator; write '==' to compare",
  "&": "'&&' is not an operator; write 'and'",
  "|": "'||' is not an operator; write 'or'",
  "!": "'!' is not an operator; write 'not'",
};

function readString(text: string, start: number): Token {
  const quote = text[start];
  let value = "";
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at] as string;
    if (char === quote) return { kind: "string", text: text.slice(start, at + 1), offset: start, value };
    if (char !== "\\") {
      value += char;
      continue;
    }
    at += 1;
    const escaped = text[at] ?? "";
    const unicode = escaped === "u" ? /^[0-9a-fA-F]{4}/.exec(text.slice(at + 1)) : null;
    if (unicode !== null) {
      value += String.fromCharCode(parseInt(unicode[0], 16));
      at += 4;
    } else {
      value += ESCAPES[escaped] ?? escaped;
    }
  }
  throw new Mistake("this text has no closing quote", start);
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) break;
    const offset = at + match[0].length - match[0].trimStart().length;
    const { number, name, op, quote } = match.groups as { [group: string]: string | undefined };
    const token: Token = quote !== undefined
      ? readString(text, offset)
      : { kind: number !== undefined ? "number" : name !== undefined ? "name" : "op", text: (number ?? name ?? op) as string, offset };
    if (tokens.length === MAX_TOKENS) throw new Mistake(`longer than ${MAX_TOKENS.toLocaleString("en-US")} words and signs; compute this where the rows are stored`, offset);
    tokens.push(token);
    at = offset + token.text.length;
  }
  const rest = text.slice(at);
  const offset = at + rest.length - rest.trimStart().length;
  if (rest.trim() !== "") {
    const char = String.fromCodePoint(text.codePointAt(offset) as number);
    throw new Mistake(HINTS[char] ?? `'${char}' has no meaning here`, offset);
  }
  return [...tokens, { kind: "end", text: "", offset: text.length }];
}

/** Reads one expression from tokens; a class because it has a position. */
class Reader {
  #at = 0;
  #depth = 0;
  constructor(readonly tokens: readonly Token[]) {}

  get #next(): Token {
    return this.tokens[this.#at] as Token;
  }

  #isWord(word: string): boolean {
    return this.#next.kind === "name" && this.#next.text.toLowerCase() === word;
  }

  /** Takes the operator if it comes next. */
  #take<T extends string>(ops: readonly T[]): T | null {
    const { kind, text } = this.#next;
    if (kind !== "op" || !ops.includes(text as T)) return null;
    this.#at += 1;
    return text as T;
  }

  #takeWord(word: string): boolean {
    if (!this.#isWord(word)) return false;
    this.#at += 1;
    return true;
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Mistake(`nested deeper than ${MAX_DEPTH} levels`, this.#next.offset);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  whole(): Expr {
    const expr = this.#or();
    const { kind, text, offset } = this.#next;
    if (kind === "end") return expr;
    const chained = (COMPARISONS as readonly string[]).includes(text);
    throw new Mistake(chained ? "comparisons cannot be chained; join two with 'and'" : `'${text}' was not expected here`, offset);
  }

  #or(): Expr {
    let l = this.#and();
    while (this.#takeWord("or")) l = { op: "or", l, r: this.#and() };
    return l;
  }

  #and(): Expr {
    let l = this.#not();
    while (this.#takeWord("and")) l = { op: "and", l, r: this.#not() };
    return l;
  }

  #not(): Expr {
    return this.#takeWord("not") ? { not: this.#nested(() => this.#not()) } : this.#comparison();
  }

  #comparison(): Expr {
    const l = this.#sum();
    const op = this.#take(COMPARISONS);
    return op === null ? l : { op, l, r: this.#sum() };
  }

  #sum(): Expr {
    let l = this.#product();
    for (let op = this.#take(["+", "-"]); op !== null; op = this.#take(["+", "-"])) l = { op, l, r: this.#product() };
    return l;
  }

  #product(): Expr {
    let l = this.#unary();
    for (let op = this.#take(["*", "/"]); op !== null; op = this.#take(["*", "/"])) l = { op, l, r: this.#unary() };
    return l;
  }

  #unary(): Expr {
    if (this.#take(["-"]) === null) return this.#atom();
    const inner = this.#nested(() => this.#unary());
    return "lit" in inner && typeof inner.lit === "number" ? { lit: -inner.lit } : { neg: inner };
  }

  #atom(): Expr {
    const token = this.#next;
    this.#at += 1;
    if (token.kind === "number") {
      const lit = Number(token.text);
      if (!keepsDigits(token.text, lit)) throw new Mistake(`${token.text} cannot be kept exactly as a number`, token.offset);
      return { lit };
    }
    if (token.kind === "string") return { lit: token.value as string };
    if (token.kind === "name") return this.#named(token);
    if (token.text === "(") {
      const expr = this.#nested(() => this.#or());
      if (this.#take([")"]) === null) throw new Mistake("this parenthesis is not closed", token.offset);
      return expr;
    }
    throw new Mistake(token.kind === "end" ? "the expression ends too early" : `'${token.text}' was not expected here`, token.offset);
  }

  #named(first: Token): Expr {
    const word = first.text.toLowerCase();
    if (word === "true") return { lit: true };
    if (word === "false") return { lit: false };
    if (word === "null") return { lit: null };
    if (word === "and" || word === "or" || word === "not") throw new Mistake(`'${first.text}' was not expected here`, first.offset);
    const parts = [first.text];
    while (this.#take(["."]) !== null) {
      const part = this.#next;
      if (part.kind !== "name") throw new Mistake("a name is missing after '.'", part.offset);
      parts.push(part.text);
      this.#at += 1;
    }
    if (this.#next.text === "(" && this.#next.kind === "op") throw new Mistake(`there are no functions; '${parts.join(".")}(' cannot be called`, first.offset);
    if (first.text !== "params") return { field: parts.join(".") };
    if (parts.length !== 2) throw new Mistake("write params.NAME, with exactly one name", first.offset);
    return { param: parts[1] as string };
  }
}

/** Parses an expression. Never throws for what a user wrote. */
export function parseExpression(text: string): ParsedExpression {
  try {
    return { expr: new Reader(tokenize(text)).whole() };
  } catch (error) {
    if (error instanceof Mistake) return { error: error.message, offset: error.offset };
    throw error;
  }
}
