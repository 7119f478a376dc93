/**
 * The regular expressions of users run on RE2, whose time is linear in the text for every pattern and every text: no
 * pattern stops a server. This file is the only one that uses the engine; pattern.ts translates another dialect for it.
 */
import { createRequire } from "node:module";

export type Regex = import("re2js").RE2JS;
type Engine = typeof import("re2js");

/** Loaded by the first pattern: most programs have none, and the engine takes longer than the rest of a start. */
let engine: Engine | null = null;
const load = (): Engine => (engine ??= createRequire(import.meta.url)("re2js") as Engine);

export interface RegexFlags {
  readonly ignoreCase?: boolean;
  readonly multiline?: boolean;
  readonly dotAll?: boolean;
}

export interface LinearPattern {
  test(text: string): boolean;
  /** The text with every match replaced; `replace` gives what takes the place of a match. */
  replace(text: string, replace: (found: string) => string): string;
}

/** Compiles a pattern in RE2's own syntax. @throws SyntaxError with the reason, in one line */
export function compileRegex(source: string, { ignoreCase, multiline, dotAll }: RegexFlags = {}): Regex {
  const { RE2JS } = load();
  const bits = RE2JS.LOOKBEHINDS | (ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0) | (multiline === true ? RE2JS.MULTILINE : 0) | (dotAll === true ? RE2JS.DOTALL : 0);
  return orSyntaxError(() => RE2JS.compile(source, bits));
}

/** What running a pattern costs for one character in the worst case: the number of its instructions. */
export function costOf(regex: Regex): number {
  return regex.programSize();
}

/**
 * Compiles a pattern in JavaScript's syntax, without lookahead and backreferences.
 * @throws SyntaxError with the reason, in one line
 */
export function compileLinear(source: string): LinearPattern {
  const compiled = compileRegex(orSyntaxError(() => load().RE2JS.translateRegExp(source)));
  return {
    test: (text) => compiled.test(text),
    replace: (text, replace) => (compiled.test(text) ? compiled.matcher(text).replaceAll((found: unknown) => replace(String(found))) : text),
  };
}

function orSyntaxError<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw new SyntaxError((error instanceof Error ? error.message : String(error)).replace(/^error parsing regexp: /, ""));
  }
}
