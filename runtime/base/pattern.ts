/**
 * Patterns for redaction: written in the dialect of Python's `re`, translated for the linear-time engine of
 * linear-pattern.ts. What that cannot express (lookahead, backreferences) is refused when the pattern is compiled.
 * Where a word boundary of Unicode text cannot be expressed exactly, the translation matches more, never less.
 */
import { compileRegex, costOf, type Regex } from "./linear-pattern.js";

/** A regular expression and its replacement, ready to run. */
export interface Pattern {
  readonly regex: Regex;
  /** Index of the group that the author calls 1, 2, …; the translation adds groups of its own. */
  readonly groups: readonly number[];
  /** Groups that matched a line feed before the end of the text; they are kept. */
  readonly kept: readonly number[];
  readonly replacement: readonly ReplacementPart[];
  /** What running it costs for one character in the worst case. */
  readonly cost: number;
}

/** Literal text, or the group that is inserted. */
export type ReplacementPart = { readonly text: string } | { readonly group: number | string };

/** What a class holds, usable inside brackets: for Unicode text as in Python, and under the flag `a`. */
interface Classes {
  readonly digit: string;
  readonly word: string;
  readonly space: string;
  readonly ascii: boolean;
}
const UNICODE: Classes = { digit: "\\p{Nd}", word: "\\p{L}\\p{N}_", space: "\\t-\\r\\x1c-\\x20\\x{85}\\p{Z}", ascii: false };
const ASCII: Classes = { digit: "0-9", word: "0-9A-Za-z_", space: "\\t-\\r\\x20", ascii: true };

/**
 * Translates one pattern and its replacement.
 * @throws SyntaxError with the reason, when the pattern is wrong or uses what a linear-time engine can't express.
 */
export function compilePattern(source: string, replacement: string): Pattern {
  const { body, flags } = takeFlags(source);
  const { text, groups, kept } = translate(body, flags.includes("m"), flags.includes("a") ? ASCII : UNICODE);
  const regex = compileRegex(text, { ignoreCase: flags.includes("i"), multiline: flags.includes("m"), dotAll: flags.includes("s") });
  return { regex, groups, kept, cost: costOf(regex), replacement: parseReplacement(replacement) };
}

/** What replacing may cost. */
export interface ReplaceBounds {
  readonly matches: number;
  /** Characters looked at, by the cost of the pattern. A search may go on to the end of the text for each match, so all that is left of it counts. */
  readonly work: number;
}

const UNBOUNDED: ReplaceBounds = { matches: Number.POSITIVE_INFINITY, work: Number.POSITIVE_INFINITY };

/** The text with every match replaced. A group that took no part is empty. */
export function replaceAll(text: string, pattern: Pattern): string {
  const steps = replaceInSteps(text, pattern);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value ?? "";
}

/** The same in steps of one match each; `null` as soon as a bound is passed. */
export function* replaceInSteps(text: string, { regex, groups, kept, replacement, cost }: Pattern, most: ReplaceBounds = UNBOUNDED): Generator<void, string | null> {
  const matcher = regex.matcher(text);
  let out = "";
  let [from, work, found] = [0, 0, 0];
  for (;;) {
    work += (text.length - from) * cost;
    if (work > most.work) return null;
    if (!matcher.find()) return out + text.slice(from);
    if (++found > most.matches) return null;
    const group = (key: number | string): string => {
      if (typeof key === "string") return matcher.getNamedGroups()[key] ?? "";
      const index = key === 0 ? 0 : groups[key - 1];
      return index === undefined ? "" : (matcher.group(index) ?? "");
    };
    out += text.slice(from, matcher.start());
    for (const part of replacement) out += "text" in part ? part.text : group(part.group);
    for (const index of kept) out += matcher.group(index) ?? "";
    from = matcher.end();
    yield;
  }
}

/** Flags at the start, `(?im)`; anywhere else Python refuses them too. */
function takeFlags(source: string): { readonly body: string; readonly flags: string } {
  const match = /^\(\?([a-zA-Z]+)\)/.exec(source);
  if (match === null) return { body: source, flags: "" };
  const letters = [...new Set(match[1] ?? "")].filter((letter) => letter !== "u");
  const unknown = letters.find((letter) => !"aims".includes(letter));
  if (unknown !== undefined) throw new SyntaxError(`the flag '${unknown}' is not supported; a, i, m, s and u are`);
  return { body: source.slice(match[0].length), flags: letters.join("") };
}

/** One piece of a pattern: an escape, a set, a group opening, or a single character. */
const PIECE = /\\(?:U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[1-9]\d?|[\s\S]|$)|\[\^?\]?(?:\\[\s\S]|[^\]\\])*(?:\]|$)|\(\?P<\w*>|\(\?P=\w*\)?|\(\?(?:<?[=!]|>|\(|#|:|)|\(|\{\d*,?\d*\}|[\s\S]/gu;

interface Translation {
  readonly text: string;
  readonly groups: readonly number[];
  readonly kept: readonly number[];
}

function translate(source: string, multiline: boolean, classes: Classes): Translation {
  const groups: number[] = [];
  const kept: number[] = [];
  let opened = 0;
  const pieces = Array.from(source.matchAll(PIECE), ([piece]) => piece);
  const text = pieces.map((piece, index) => {
    if (piece === "(" || piece.startsWith("(?P<")) {
      groups.push(++opened);
      return piece;
    }
    // Python's $ also matches before a line feed that ends the text: it is matched here, and kept by replaceAll.
    if (piece === "$" && !multiline) {
      kept.push(++opened);
      return "(\\n?)\\z";
    }
    // A boundary that a word follows is exact: no part of a word is before it.
    if (piece === "\\b" && isWord(pieces[index + 1]) && !isOptional(pieces[index + 2])) return `(?<![${classes.word}])`;
    return translatePiece(piece, classes);
  }).join("");
  return { text, groups, kept };
}

function isWord(piece: string | undefined): boolean {
  return piece !== undefined && (piece === "\\w" || piece === "\\d" || /^[\p{L}\p{N}_]$/u.test(piece));
}

function isOptional(piece: string | undefined): boolean {
  return piece !== undefined && /^(?:[*?]|\{0|\{,)/.test(piece);
}

function translatePiece(piece: string, classes: Classes): string {
  if (piece.startsWith("\\")) return translateEscape(piece, classes);
  if (piece.startsWith("[")) return translateSet(piece, classes);
  if (piece.startsWith("(?")) return translateGroup(piece);
  if (piece.startsWith("{") && piece.length > 1) return /\d/.test(piece) ? piece.replace("{,", "{0,") : piece.replace(/[{}]/g, "\\$&");
  return piece === "{" || piece === "}" || piece === "]" ? `\\${piece}` : piece;
}

function translateGroup(piece: string): string {
  if (piece === "(?=" || piece === "(?!") throw new SyntaxError("lookahead (?=…) and (?!…) is not supported: a linear-time engine cannot run it");
  if (piece.startsWith("(?P=")) throw new SyntaxError("backreferences (?P=name) are not supported: a linear-time engine cannot run them");
  if (piece === "(?>" || piece === "(?(" || piece === "(?#") throw new SyntaxError(`groups with ${piece} are not supported`);
  return piece;
}

/** In Python a "]" in first position is a member, and so is every "[". */
function translateSet(set: string, classes: Classes): string {
  if (set.length < 3 || !set.endsWith("]")) throw new SyntaxError("a set has no closing ]");
  const negated = set.startsWith("[^");
  // Classes of everything but something; beside other members they become an alternative.
  const others: string[] = [];
  const members = set.slice(negated ? 2 : 1, -1).replace(/\\(?:U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S])|[[\]]/gu, (member) => {
    if (!member.startsWith("\\")) return `\\${member}`;
    const all = complement(member.slice(1), classes);
    if (all === null) return memberEscape(member, classes);
    if (negated) throw new SyntaxError(`${member} inside [^...] is not supported`);
    others.push(all);
    return "";
  });
  const own = members === "" ? [] : [`[${negated ? "^" : ""}${members}]`];
  const parts = [...own, ...others];
  return parts.length === 1 ? (parts[0] ?? "") : `(?:${parts.join("|")})`;
}

function complement(letter: string, { digit, word, space }: Classes): string | null {
  return letter === "D" ? `[^${digit}]` : letter === "W" ? `[^${word}]` : letter === "S" ? `[^${space}]` : null;
}

function translateEscape(escape: string, classes: Classes): string {
  const letter = escape.slice(1, 2);
  const { word, ascii } = classes;
  if (/[1-9]/.test(letter)) throw new SyntaxError(`backreferences (\\${letter}) are not supported: a linear-time engine cannot run them`);
  switch (letter) {
    case "d":
    case "w":
    case "s":
      return `[${memberEscape(escape, classes)}]`;
    case "b":
      // RE2's \b knows ASCII only. Before a word: no part of a word is behind; after one: RE2's own, or a letter beyond ASCII.
      return ascii ? "\\b" : `(?:\\b|(?<![${word}])|(?<=[^\\x00-\\x7f]))`;
    case "B":
      return ascii ? "\\B" : `(?:\\B|(?<=[${word}]))`;
    case "A":
      return "\\A";
    case "Z":
      return "\\z";
    default:
      return complement(letter, classes) ?? memberEscape(escape, classes);
  }
}

/** An escape that may stand inside a set. */
function memberEscape(escape: string, { digit, word, space }: Classes): string {
  const letter = escape.slice(1, 2);
  switch (letter) {
    case "":
      throw new SyntaxError("the pattern ends with a backslash");
    case "d":
      return digit;
    case "w":
      return word;
    case "s":
      return space;
    case "b":
      return "\\x08";
    case "a":
      return "\\x07";
    case "0":
      return "\\x00";
    case "x":
    case "u":
    case "U":
      if (escape.length === 2) throw new SyntaxError(`the escape ${escape} needs its digits`);
      return `\\x{${escape.slice(2).replace(/^0+(?=.)/, "")}}`;
    default:
      if (/[nrtfv]/.test(letter)) return escape;
      if (/[A-Za-z0-9]/.test(letter)) throw new SyntaxError(`the escape \\${letter} is not supported`);
      return /[!-/:-@[-`{-~]/.test(letter) ? `\\${letter}` : escape.slice(1);
  }
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
