/**
 * The only ways by which text of a catalog enters generated code: a string literal, a comment, or an identifier.
 * Each makes its result harmless whatever the text holds; nothing in this folder may quote by hand.
 */

/** Characters that a reviewer cannot see or that reorder what is seen (controls, bidi marks, joiners, line separators). */
const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu;

/** Most texts, which hold nothing of that: this is asked first, as classes of Unicode characters are slow to match. */
const ASCII = /^[\n -~]*$/;

/** The text with everything unseen, except line ends, as `\uXXXX`; means the same inside strings of JavaScript and JSON. */
export function showUnseen(text: string): string {
  if (ASCII.test(text)) return text;
  return text.replace(UNSEEN, (char) => {
    const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index).toString(16).padStart(4, "0"));
    return units.map((unit) => `\\u${unit}`).join("");
  });
}

/** A double-quoted JavaScript string; everything unseen is written as an escape. */
export function jsString(text: string): string {
  return showUnseen(JSON.stringify(text));
}

/** Text that can stand in any comment: one line, no comment end, unseen characters as escapes. */
export function commentText(text: string): string {
  return showUnseen(text.replace(/\s+/g, " ").trim()).replaceAll("*/", "*\\/").replaceAll("/*", "/\\*");
}

/** Words that cannot name a binding in a module, and the names that generated files use themselves. */
const TAKEN = new Set(
  (
    "arguments as async await boolean break case catch class const continue debugger declare default delete do else enum eval export " +
    "extends false finally for from function get globalThis if implements import in infinity instanceof interface let nan new null " +
    "package private protected public return set static super switch symbol this throw true try type typeof undefined var void " +
    "while with yield " +
    "catalog connections embeddings handlers plans rt schemas serve settings tools validators"
  ).split(" "),
);

/** Device names that some file systems refuse as file names. */
const DEVICES = /^(aux|con|nul|prn|com\d|lpt\d)$/;

/**
 * One identifier for each name, the name itself wherever that is possible; otherwise unusable characters become
 * `_` and a trailing `_` makes it free. Identifiers are unique, also as file names.
 */
export function identifiers(names: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set(names.filter(isFree));
  return new Map(
    names.map((name) => {
      if (isFree(name)) return [name, name];
      let identifier = name.replace(/\W/g, "_").replace(/^(?=\d|$)/, "_");
      while (!isFree(identifier) || used.has(identifier)) identifier += "_";
      used.add(identifier);
      return [name, identifier];
    }),
  );
}

function isFree(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !TAKEN.has(name) && !DEVICES.test(name);
}

/** Whether a name can be an object key without quotes. `__proto__` cannot: as a literal's key it would set the prototype. */
export function isPlainKey(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__";
}

/** An object key: bare, quoted, or computed. */
export function jsKey(name: string): string {
  if (isPlainKey(name)) return name;
  return name === "__proto__" ? `["__proto__"]` : jsString(name);
}
