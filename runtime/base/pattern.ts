/**
 * Redaction patterns: catalogs write them in the dialect of Python's `re`, the runtime runs JavaScript's.
 * Pure; the compiler refuses with it what can't be translated, the runtime redacts with it.
 */

/** A regular expression and its replacement, ready to run. */
export interface Pattern {
  readonly regex: RegExp;
  readonly replacement: readonly ReplacementPart[];
}

/** Literal text, or the group that stands in its place. */
export type ReplacementPart = { readonly text: string } | { readonly group: number | string };

/** What Python's classes hold for Unicode text; usable inside brackets. */
const DIGIT = "\\p{Nd}";
const WORD = "\\p{L}\\p{N}_";
const BOUNDARY = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;
const START = "(?<![\\s\\S])";
const END = "(?![\\s\\S])";

/**
 * Translates one pattern and its replacement.
 * @throws SyntaxError with the reason, when the pattern is wrong or uses what JavaScript can't express.
 */
export function compilePattern(source: string, replacement: string): Pattern {
  const { body, flags } = takeFlags(source);
  return { regex: new RegExp(translate(body, flags.includes("m")), `gu${flags}`), replacement: parseReplacement(replacement) };
}

/** The text with every match replaced. A group that took no part is empty. */
export function replaceAll(text: string, { regex, replacement }: Pattern): string {
  return text.replace(regex, (...match: unknown[]) => {
    const last = match.at(-1);
    const named = (typeof last === "object" && last !== null ? last : {}) as { readonly [name: string]: string | undefined };
    const group = (key: number | string): string => (typeof key === "number" ? (match[key] as string | undefined) : named[key]) ?? "";
    return replacement.map((part) => ("text" in part ? part.text : group(part.group))).join("");
  });
}

/** Flags at the start, `(?im)`; anywhere else Python refuses them too. */
function takeFlags(source: string): { readonly body: string; readonly flags: string } {
  const match = /^\(\?([a-zA-Z]+)\)/.exec(source);
  if (match === null) return { body: source, flags: "" };
  const letters = [...new Set(match[1] ?? "")].filter((letter) => letter !== "u");
  const unknown = letters.find((letter) => !"ims".includes(letter));
  if (unknown !== undefined) throw new SyntaxError(`the flag '${unknown}' is not supported; i, m, s and u are`);
  return { body: source.slice(match[0].length), flags: letters.sort().join("") };
}

/** One piece of a pattern: an escape, a set, a group opening, or a single character. */
const PIECE = /\\(?:U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[1-9]\d?|[\s\S]|$)|\[\^?\]?(?:\\[\s\S]|[^\]\\])*(?:\]|$)|\(\?P<|\(\?P=\w+\)|\{\d*,?\d*\}|[\s\S]/gu;

function translate(source: string, multiline: boolean): string {
  return Array.from(source.matchAll(PIECE), ([piece]) => translatePiece(piece, multiline)).join("");
}

function translatePiece(piece: string, multiline: boolean): string {
  if (piece.startsWith("\\")) return translateEscape(piece, false);
  if (piece.startsWith("[")) return translateSet(piece);
  if (piece === "(?P<") return "(?<";
  if (piece.startsWith("(?P=")) return `\\k<${piece.slice(4, -1)}>`;
  // Python's $ also stands before a line feed that ends the text.
  if (piece === "$" && !multiline) return `(?=\\n?${END})`;
  if (piece.startsWith("{") && piece.length > 1) return /\d/.test(piece) ? piece.replace("{,", "{0,") : piece.replace(/[{}]/g, "\\$&");
  return piece === "{" || piece === "}" || piece === "]" ? `\\${piece}` : piece;
}

/** In Python a "]" that stands first is a member, and so is every "[". */
function translateSet(set: string): string {
  if (set.length < 3 || !set.endsWith("]")) throw new SyntaxError("a set has no closing ]");
  const open = set.startsWith("[^") ? "[^" : "[";
  const members = set.slice(open.length, -1).replace(/\\[\s\S]|[[\]]/gu, (member) => (member.startsWith("\\") ? translateEscape(member, true) : `\\${member}`));
  return `${open}${members}]`;
}

function translateEscape(escape: string, inSet: boolean): string {
  const letter = escape.slice(1, 2);
  switch (letter) {
    case "":
      throw new SyntaxError("the pattern ends with a backslash");
    case "d":
      return inSet ? DIGIT : `[${DIGIT}]`;
    case "w":
      return inSet ? WORD : `[${WORD}]`;
    case "D":
      return "\\P{Nd}";
    case "W":
      if (inSet) throw new SyntaxError("\\W inside [...] is not supported");
      return `[^${WORD}]`;
    case "b":
      return inSet ? "\\x08" : BOUNDARY;
    case "B":
      return `(?!${BOUNDARY})`;
    case "A":
      return START;
    case "Z":
      return END;
    case "a":
      return "\\x07";
    case "0":
      return "\\x00";
    case "U":
      return `\\u{${escape.slice(2).replace(/^0+(?=.)/, "")}}`;
    default:
      return otherEscape(escape, letter, inSet);
  }
}

function otherEscape(escape: string, letter: string, inSet: boolean): string {
  if (/[sSnrtfvux1-9]/.test(letter)) return escape;
  if (/[A-Za-z]/.test(letter)) throw new SyntaxError(`the escape \\${letter} is not supported`);
  // JavaScript takes a backslash only before characters that need one.
  return /[\\^$.*+?()[\]{}|/]/.test(letter) || (inSet && letter === "-") ? escape : letter;
}

const REPLACEMENT_ESCAPE = /\\(?:g<(\w+)>|(\d{1,2})|([nrt\\]))/g;
const REPLACEMENT_CHARS: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", "\\": "\\" };

function parseReplacement(replacement: string): readonly ReplacementPart[] {
  const parts: ReplacementPart[] = [];
  let from = 0;
  for (const match of replacement.matchAll(REPLACEMENT_ESCAPE)) {
    const [whole, reference, number, char] = match;
    parts.push({ text: replacement.slice(from, match.index) });
    from = match.index + whole.length;
    if (char !== undefined) parts.push({ text: REPLACEMENT_CHARS[char] ?? "" });
    else parts.push({ group: number !== undefined ? Number(number) : /^\d+$/.test(reference ?? "") ? Number(reference) : (reference ?? "") });
  }
  parts.push({ text: replacement.slice(from) });
  return parts.filter((part) => !("text" in part) || part.text !== "");
}
