/**
 * `like` as a regular expression that means the same in every database: ILIKE and `~*` ignore case by the rules of the
 * database's locale, so each character is written with all characters that our folding makes equal to it.
 */
import { parseLike } from "../../base/like.js";
import { foldCase } from "../../base/text.js";

/** The last code point with a case. */
const LAST_CASED = 0x1e943;

let variants: ReadonlyMap<string, readonly string[]> | null = null;

/** A regular expression of PostgreSQL (`~`) for a pattern of `like`. */
export function likeRegex(pattern: string): string {
  const parts = parseLike(pattern).map((token) => (token === "any" ? ".*" : token === "one" ? "." : Array.from(token.text, anyCase).join("")));
  return `^${parts.join("")}$`;
}

function anyCase(char: string): string {
  const folded = foldCase(char);
  const all = (variants ??= variantsOfAll()).get(folded) ?? [char];
  return all.length === 1 ? escaped(all[0] ?? char) : `[${all.map(escaped).join("")}]`;
}

/** Characters that fold to the same one; those without others are left out. */
function variantsOfAll(): ReadonlyMap<string, readonly string[]> {
  const byFold = new Map<string, string[]>();
  for (let code = 0; code <= LAST_CASED; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const char = String.fromCodePoint(code);
    const folded = foldCase(char);
    if (folded === char) continue;
    const group = byFold.get(folded);
    if (group === undefined) byFold.set(folded, [folded, char]);
    else group.push(char);
  }
  return byFold;
}

/** ASCII that is no letter or digit may mean something; a backslash before it never does. */
function escaped(char: string): string {
  return /^[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]$/.test(char) ? `\\${char}` : char;
}
