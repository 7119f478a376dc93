/**
 * YAML text → documents of the `yaml` package, which is used for syntax and positions only. Composing is recursive and
 * costs memory for each token, so depth and number are bounded before there is a tree.
 */
import { Composer, type CST, Lexer, Parser, type Document, type LineCounter } from "yaml";
import type { Reporter } from "../diagnostics.js";

/** Deepest value; the root is 0. */
export const MAX_DEPTH = 20;
/** Most aliases, each of which adds a node at least: so many are refused before a tree is made of them. */
const MAX_ALIASES = 50_000;
/** Syntax nested deeper is not composed at all; values are limited to MAX_DEPTH. */
const MAX_SYNTAX_DEPTH = 100;
/** Lexical parts and lines; a catalog of a million bytes written in the densest way has fewer. */
const MAX_LEXEMES = 500_000;
/** The limits that are known before there is a tree, by the code of what is over them. */
export const LIMITS = { TS0005: MAX_DEPTH, TS0006: MAX_ALIASES, TS0013: MAX_LEXEMES } as const;

export interface Refused {
  readonly refused: keyof typeof LIMITS;
  readonly offset: number;
}

/** Syntax errors shown; a file that is not YAML has one on every line. */
const MAX_SYNTAX_ERRORS = 10;

/** A function of its own, so that the tokens, larger than the text by far, are garbage before the values are made. */
export function readDocuments(text: string, lines: LineCounter): readonly Document.Parsed[] | Refused {
  const tokens = readTokens(text, lines);
  return Array.isArray(tokens) ? compose(tokens, text.length) : tokens;
}

/**
 * Syntax tokens of the text. Composing them is recursive and costs memory for each, so nesting and number are bounded
 * here, where reading is still a loop.
 */
function readTokens(text: string, lines: LineCounter): CST.Token[] | Refused {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let [lexemes, aliases] = [0, 0];
  const refuse = (refused: Refused["refused"]): Refused => ({ refused, offset: parser.offset });
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    lexemes += 1;
    if (lexeme.startsWith("*")) aliases += 1;
    if (parser.stack.length > MAX_SYNTAX_DEPTH) return refuse("TS0005");
    if (aliases > MAX_ALIASES) return refuse("TS0006");
    if (lexemes + lines.lineStarts.length > MAX_LEXEMES) return refuse("TS0013");
  }
  tokens.push(...parser.end());
  return tokens;
}

/** Tokens → documents. The failsafe schema leaves every scalar as its text; duplicate keys are found by `Values`. */
function compose(tokens: Iterable<CST.Token>, length: number): readonly Document.Parsed[] {
  const composer = new Composer({ schema: "failsafe", version: "1.1", uniqueKeys: false, strict: true, logLevel: "error" });
  // A text that is not YAML gives an error for every token; capturing a stack for each would cost more than everything else.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return [...composer.compose(tokens, true, length)];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The first error of each line, without its echoes: after one error the rest of a text is mostly unexpected. */
export function reportSyntax(doc: Document, text: string, lines: LineCounter, reporter: Reporter): void {
  const seen = new Set<number>();
  for (const { code, message, pos: [start] } of doc.errors) {
    if (code === "UNEXPECTED_TOKEN" && seen.size > 0) continue;
    const offset = Math.min(start, text.length);
    const { line } = lines.linePos(offset);
    if (seen.has(line) || seen.size >= MAX_SYNTAX_ERRORS) continue;
    seen.add(line);
    const help = referenceHint(text, offset);
    reporter.report("TS0001", { detail: lowerFirst(message) }, null, { offset, ...(help === null ? {} : { help }) });
  }
}

/** `{api_key: ${KEY}}` reads as a mapping inside a mapping; the fix is a pair of quotes. */
function referenceHint(text: string, offset: number): string | null {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  const line = text.slice(start, end < 0 ? text.length : end);
  const bare = /[[{,:]\s*(\$\{[^}]*\})/.exec(line);
  return bare?.[1] === undefined ? null : `inside { } and [ ] a reference needs quotes: "${bare[1]}"`;
}

function lowerFirst(text: string): string {
  const line = text.split("\n", 1)[0] ?? text;
  return line.charAt(0).toLowerCase() + line.slice(1);
}
