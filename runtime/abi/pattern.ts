/**
 * Redaction patterns: catalogs write them in the dialect of Python's `re`, the runtime runs JavaScript's.
 * Pure; used by the compiler to refuse what can't be translated and by the runtime to redact.
 */

/** A regular expression and its replacement, ready to run. */
export interface Pattern {
  readonly regex: RegExp;
  readonly replacement: readonly (string | number)[];
}

/** What Python's classes mean for Unicode text. Inside a set the same text without brackets is used. */
const CLASSES: { readonly [letter: string]: string } = {
  d: "\\p{Nd}",
  w: "\\p{L}\\p{N}_",
  s: "\\s",
};
const WORD = "[\\p{L}\\p{N}_]";
const BOUNDARY = `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`;
const SYNTAX = /[\\^$.*+?()[\]{}|/]/;

/**
 * Translates one pattern and its replacement.
 * @throws SyntaxError with the reason, when the pattern is wrong or uses what JavaScript can't express.
 */
export function compilePattern(source: string, replacement: string): Pattern {
  const { body, flags } = takeFlags(source);
  return { regex: new RegExp(translate(body), `gu${flags}`), replacement: parseReplacement(replacement) };
}

/** Every match replaced. */
export function replaceAll(text: string, { regex, replacement }: Pattern): string {
  return text.replace(regex, (...match: unknown[]) => {
    const groups = typeof match.at(-1) === "object" ? (match.at(-1) as { [name: string]: string | undefined }) : {};
    return replacement.map((part) => (typeof part === "number" ? ((match[part] as string | undefined) ?? "") : part.startsWith("\0") ? (groups[part.slice(1)] ?? "") : part)).join("");
  });
}

/** Leading `(?ims)`; anywhere else Python refuses them too. */
function takeFlags(source: string): { readonly body: string; readonly flags: string } {
  const match = /^\(\?([aiLmsux]+)\)/.exec(source);
  if (match === null) return { body: source, flags: "" };
  const letters = match[1] ?? "";
  const unknown = /[aLx]/.exec(letters);
  if (unknown !== null) throw new SyntaxError(`the flag '${unknown[0]}' is not supported`);
  return { body: source.slice(match[0].length), flags: [...new Set(letters.replaceAll("u", ""))].sort().join("") };
}

function translate(source: string): string {
  let out = "";
  let inSet = false;
  for (let i = 0; i < source.length; i++) {
    const char = source.charAt(i);
    if (char === "\\") {
      const escape = translateEscape(source, i + 1, inSet);
      out += escape.text;
      i = escape.end - 1;
    } else if (inSet) {
      // A "]" right after "[" or "[^" is a member in Python; "[" and "/" need escapes under the u flag nowhere in a set.
      if (char === "]" && !/\[\^?$/.test(source.slice(Math.max(0, i - 2), i).replace(/^[^[]/, ""))) inSet = false;
      out += inSet && char === "]" ? "\\]" : char;
    } else if (char === "[") {
      inSet = true;
      out += char;
    } else if (source.startsWith("(?P<", i)) {
      out += "(?<";
      i += 3;
    } else if (source.startsWith("(?P=", i)) {
      const end = source.indexOf(")", i);
      if (end < 0) throw new SyntaxError("missing ) in a backreference");
      out += `\\k<${source.slice(i + 4, end)}>`;
      i = end;
    } else if (char === "$") {
      // Python's $ also matches before a final line feed.
      out += "(?=\\n?(?![\\s\\S]))";
    } else if ((char === "}" || char === "{") && !isQuantifierBrace(source, i)) {
      out += `\\${char}`;
    } else {
      out += char;
    }
  }
  return out;
}

function isQuantifierBrace(source: string, index: number): boolean {
  const open = source.charAt(index) === "{" ? index : source.lastIndexOf("{", index);
  return open >= 0 && /^\{\d*(?:,\d*)?\}/.test(source.slice(open)) && !source.startsWith("{}", open) && !source.startsWith("{,}", open);
}

/** `at` is the index after the backslash; `end` the index after the escape. */
function translateEscape(source: string, at: number, inSet: boolean): { readonly text: string; readonly end: number } {
  const letter = source.charAt(at);
  if (letter === "") throw new SyntaxError("the pattern ends with a backslash");
  const members = CLASSES[letter.toLowerCase()];
  if (members !== undefined) {
    if (letter === letter.toLowerCase()) return { text: inSet ? members : `[${members}]`, end: at + 1 };
    if (!inSet) return { text: `[^${members}]`, end: at + 1 };
    if (letter === "W") throw new SyntaxError("\\W inside [...] is not supported");
    return { text: letter === "D" ? "\\P{Nd}" : "\\S", end: at + 1 };
  }
  if (letter === "b") return { text: inSet ? "\\x08" : BOUNDARY, end: at + 1 };
  if (letter === "B" && !inSet) return { text: `(?!${BOUNDARY})`, end: at + 1 };
  if (letter === "A" && !inSet) return { text: "(?<![\\s\\S])", end: at + 1 };
  if (letter === "Z" && !inSet) return { text: "(?![\\s\\S])", end: at + 1 };
  if (letter === "a") return { text: "\\x07", end: at + 1 };
  if (letter === "U") {
    const hex = /^[0-9a-fA-F]{8}/.exec(source.slice(at + 1));
    if (hex === null) throw new SyntaxError("\\U needs eight hexadecimal digits");
    return { text: `\\u{${hex[0].replace(/^0+(?=.)/, "")}}`, end: at + 9 };
  }
  if (/[nrtfvxu1-9]/.test(letter)) return { text: `\\${letter}`, end: at + 1 };
  if (letter === "0") return { text: "\\x00", end: at + 1 };
  if (/[A-Za-z]/.test(letter)) throw new SyntaxError(`the escape \\${letter} is not supported`);
  return { text: SYNTAX.test(letter) || (inSet && letter === "-") ? `\\${letter}` : letter, end: at + 1 };
}

/** Text, group numbers, and names marked with a leading NUL. */
function parseReplacement(replacement: string): readonly (string | number)[] {
  const parts: (string | number)[] = [];
  const escape = /\\(?:g<(\d+)>|g<([^>]+)>|(\d{1,2})|([nrt\\]))/g;
  const chars: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", "\\": "\\" };
  let from = 0;
  for (const match of replacement.matchAll(escape)) {
    parts.push(replacement.slice(from, match.index));
    from = match.index + match[0].length;
    const number = match[1] ?? match[3];
    if (number !== undefined) parts.push(Number(number));
    else if (match[2] !== undefined) parts.push(`\0${match[2]}`);
    else parts.push(chars[match[4] ?? ""] ?? "");
  }
  parts.push(replacement.slice(from));
  return parts;
}
