/**
 * The meaning of the operator `like`, in time that no pattern can make long: parts without `_` are found by Knuth,
 * Morris and Pratt's algorithm, parts with it by Baeza-Yates and Gonnet's (one bit a character, 32 at a time).
 */
import { foldCase } from "./text.js";

/** One piece of a pattern. */
export type LikeToken = { readonly text: string } | "any" | "one";

/** Longest part with `_` that is looked for at every place of a value, in code points. */
const MAX_WILD_PART = 1024;

/**
 * A pattern taken apart: `%` is any run, `_` one code point, a backslash takes either (or itself) literally; before
 * anything else, and at the end, it is an ordinary character.
 */
export function parseLike(pattern: string): readonly LikeToken[] {
  const tokens: LikeToken[] = [];
  let [text, from] = ["", 0];
  const flush = (end: number): void => {
    text += pattern.slice(from, end);
    if (text !== "") tokens.push({ text });
    text = "";
  };
  for (let i = 0; i < pattern.length; i++) {
    const code = pattern.charCodeAt(i);
    if (code === BACKSLASH && isSpecial(pattern.charCodeAt(i + 1))) {
      text += pattern.slice(from, i);
      from = ++i;
    } else if (code === PERCENT || code === UNDERSCORE) {
      flush(i);
      tokens.push(code === PERCENT ? "any" : "one");
      from = i + 1;
    }
  }
  flush(pattern.length);
  return tokens;
}

const [BACKSLASH, PERCENT, UNDERSCORE] = [0x5c, 0x25, 0x5f];

function isSpecial(code: number): boolean {
  return code === BACKSLASH || code === PERCENT || code === UNDERSCORE;
}

/** Why a pattern is refused, or `null`: beyond this bound one value could take too long to test. */
export function likeProblem(pattern: string): string | null {
  return problemOf(partsOf(pattern));
}

function problemOf({ codes, parts }: Parts): string | null {
  const tooLong = parts.slice(1, -1).some(({ from, to }) => to - from > MAX_WILD_PART && codes.subarray(from, to).includes(ONE));
  return tooLong ? `a pattern with _ may have at most ${MAX_WILD_PART} characters between two %` : null;
}

/**
 * Tests whole values against a pattern, ignoring case by Unicode's simple folding.
 * @throws RangeError for a pattern that `likeProblem` refuses
 */
export function likeMatcher(pattern: string): (value: string) => boolean {
  const { codes, parts } = partsOf(pattern);
  const problem = problemOf({ codes, parts });
  if (problem !== null) throw new RangeError(problem);
  const head = parts[0] ?? { from: 0, to: 0 };
  const tail = parts[parts.length - 1] ?? head;
  if (parts.length === 1) return (value) => {
    const text = codesOf(foldCase(value));
    return text.length === head.to && matchesAt(text, 0, codes, head);
  };
  const middle = parts.slice(1, -1).filter(({ from, to }) => to > from);
  const finders = new Map(middle.filter(({ from, to }) => to - from > SHORT).map((part) => [part, finderOf(codes, part)]));
  return (value) => {
    const text = codesOf(foldCase(value));
    const end = text.length - (tail.to - tail.from);
    if (text.length < codes.length || !matchesAt(text, 0, codes, head) || !matchesAt(text, end, codes, tail)) return false;
    let at = head.to;
    // The first place of each part is the best: it leaves the most for those behind it.
    for (const part of middle) {
      at = finders.get(part)?.(text, at, end) ?? findShort(text, at, end, codes, part);
      if (at < 0) return false;
    }
    return true;
  };
}

/** Stands for `_` among code points. */
const ONE = -1;

/** A run of `codes` between two `%`. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/** The folded code points of a pattern, and where its `%`s part them; without any `%` there is one part. */
interface Parts {
  readonly codes: Int32Array;
  readonly parts: readonly Part[];
}

function partsOf(pattern: string): Parts {
  const codes = new Int32Array(pattern.length);
  const parts: Part[] = [];
  let from = 0;
  let length = 0;
  for (const token of parseLike(foldCase(pattern))) {
    if (token === "one") codes[length++] = ONE;
    else if (token === "any") {
      parts.push({ from, to: length });
      from = length;
    } else length = writeCodes(token.text, codes, length);
  }
  parts.push({ from, to: length });
  return { codes: codes.subarray(0, length), parts };
}

function codesOf(text: string): Int32Array {
  const codes = new Int32Array(text.length);
  return codes.subarray(0, writeCodes(text, codes, 0));
}

/** Writes a text's code points from `at` on; returns where they end. */
function writeCodes(text: string, into: Int32Array, at: number): number {
  let length = at;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) ?? 0;
    into[length++] = code;
    if (code > 0xffff) i++;
  }
  return length;
}

function matchesAt(text: Int32Array, at: number, codes: Int32Array, { from, to }: Part): boolean {
  if (at < 0 || at + to - from > text.length) return false;
  for (let i = from; i < to; i++) if (codes[i] !== ONE && codes[i] !== text[at + i - from]) return false;
  return true;
}

/** Finds the end of the first place of a part within `start` and `end`; -1 where there is none. */
type Finder = (text: Int32Array, start: number, end: number) => number;

/** Parts up to this length are compared at each place: no table is made for them. */
const SHORT = 8;

function finderOf(codes: Int32Array, part: Part): Finder {
  const own = codes.subarray(part.from, part.to);
  return own.includes(ONE) ? wildFinder(own) : literalFinder(own);
}

function findShort(text: Int32Array, start: number, end: number, codes: Int32Array, part: Part): number {
  const length = part.to - part.from;
  for (let at = start; at + length <= end; at++) if (matchesAt(text, at, codes, part)) return at + length;
  return -1;
}

function literalFinder(part: Int32Array): Finder {
  // borders[i]: length of the longest proper prefix of part[0..i] that is also its suffix.
  const borders = new Int32Array(part.length);
  for (let i = 1, length = 0; i < part.length; i++) {
    while (length > 0 && part[i] !== part[length]) length = borders[length - 1] ?? 0;
    if (part[i] === part[length]) length++;
    borders[i] = length;
  }
  return (text, start, end) => {
    for (let i = start, length = 0; i < end; i++) {
      while (length > 0 && text[i] !== part[length]) length = borders[length - 1] ?? 0;
      if (text[i] === part[length]) length++;
      if (length === part.length) return i + 1;
    }
    return -1;
  };
}

function wildFinder(part: Int32Array): Finder {
  const words = Math.ceil(part.length / 32);
  // One table for all characters, `words` numbers for each: a part of many different ones would need as many arrays.
  const rows = new Map<number, number>();
  for (const code of part) if (code !== ONE && !rows.has(code)) rows.set(code, (rows.size + 1) * words);
  // The first row is for characters that only a `_` accepts.
  const masks = new Int32Array((rows.size + 1) * words);
  const set = (row: number, bit: number): void => void (masks[row + (bit >> 5)] = (masks[row + (bit >> 5)] ?? 0) | (1 << (bit & 31)));
  part.forEach((code, bit) => code === ONE && set(0, bit));
  for (const row of rows.values()) masks.copyWithin(row, 0, words);
  part.forEach((code, bit) => code !== ONE && set(rows.get(code) ?? 0, bit));
  const last = 1 << ((part.length - 1) & 31);
  return (text, start, end) => {
    // Bit n of the state: the n + 1 characters up to here match the part's first n + 1.
    const state = new Int32Array(words);
    for (let i = start; i < end; i++) {
      const row = rows.get(text[i] ?? 0) ?? 0;
      let carry = 1;
      for (let word = 0; word < words; word++) {
        const before = state[word] ?? 0;
        state[word] = ((before << 1) | carry) & (masks[row + word] ?? 0);
        carry = before >>> 31;
      }
      if (((state[words - 1] ?? 0) & last) !== 0) return i + 1;
    }
    return -1;
  };
}
