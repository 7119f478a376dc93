/** Regular expressions of users, run by an engine whose time is linear in the text: no pattern and no text stops a server. */
import { RE2JS } from "re2js";

export interface LinearPattern {
  test(text: string): boolean;
  /** The text with every match replaced; `replace` gives what takes the place of a match. */
  replace(text: string, replace: (found: string) => string): string;
}

/**
 * Compiles a pattern in JavaScript's syntax, without lookahead and backreferences.
 * @throws SyntaxError with the reason, in one line
 */
export function compileLinear(source: string): LinearPattern {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(source), RE2JS.LOOKBEHINDS);
  } catch (error) {
    throw new SyntaxError((error instanceof Error ? error.message : String(error)).replace(/^error parsing regexp: /, ""));
  }
  return {
    test: (text) => compiled.test(text),
    replace: (text, replace) => (compiled.test(text) ? compiled.matcher(text).replaceAll((found: unknown) => replace(String(found))) : text),
  };
}
