/**
 * Reads command-line arguments against a table of flags: for both servers and for every command. Pure; each caller
 * turns a problem into its own error. A command line is understood whole or not at all.
 */
import { nearestName } from "../base/nearest.js";

/** A flag as data. */
export interface Flag {
  /** Long name without dashes: `log-level`. */
  readonly name: string;
  /** Another spelling of the name. */
  readonly alias?: string;
  /** One letter: `-o`. */
  readonly short?: string;
  /** Placeholder of the value; a flag without one is a switch, and `default: true` gives it a `--no-` form. */
  readonly value?: string;
  /** The value may be left out; says whether the argument after the flag is one. Then the flag's value is the empty text. */
  readonly optional?: (word: string) => boolean;
  readonly help: string;
  readonly default?: string | boolean;
  /** The empty text is a value, as it clears a setting; elsewhere `--name=` is a usage error. */
  readonly mayBeEmpty?: true;
  /** A switch that also takes `=VALUE`, and `--no-` whatever its default: it is a setting that a file may hold too. */
  readonly setting?: true;
  /** Only of `toolsrv serve`: a built server, which has no compiler, refuses it by name. */
  readonly needsCompiler?: true;
}

export type FlagValue = string | boolean;

export type FlagReading =
  | { readonly kind: "help" }
  | { readonly kind: "problem"; readonly message: string }
  /** Values by name, in the order of their first mention; a repeated flag has its last value. */
  | { readonly kind: "read"; readonly values: ReadonlyMap<string, FlagValue>; readonly args: readonly string[] };

export function readFlagWords(words: readonly string[], flags: readonly Flag[]): FlagReading {
  const values = new Map<string, FlagValue>();
  const args: string[] = [];
  const problem = (message: string): FlagReading => ({ kind: "problem", message });
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") {
      args.push(...words.slice(index + 1));
      break;
    }
    if (word === "--help" || word === "-h") return { kind: "help" };
    if (!word.startsWith("-") || word === "-") {
      args.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const typed = equals < 0 ? word : word.slice(0, equals);
    const found = findFlag(typed, flags);
    if (found === null) return problem(`unknown option ${typed}${didYouMean(typed, flags)}`);
    const { flag, negated } = found;
    if (flag.value === undefined) {
      if (equals >= 0 && (flag.setting !== true || negated)) return problem(`${typed} takes no value`);
      values.set(flag.name, equals >= 0 ? word.slice(equals + 1) : !negated);
      continue;
    }
    if (equals < 0 && flag.optional !== undefined && !flag.optional(words[index + 1] ?? "")) {
      values.set(flag.name, "");
      continue;
    }
    const value = equals >= 0 ? word.slice(equals + 1) : words[(index += 1)];
    const isMissing = value === undefined || (value === "" && flag.optional === undefined && flag.mayBeEmpty !== true);
    if (isMissing) return problem(`${typed} needs a value: ${typed} ${flag.value}`);
    if (equals < 0 && value.startsWith("--")) return problem(`${typed} needs a value; one that starts with -- is written ${typed}=${value}`);
    values.set(flag.name, value);
  }
  return { kind: "read", values, args };
}

function findFlag(typed: string, flags: readonly Flag[]): { readonly flag: Flag; readonly negated: boolean } | null {
  for (const flag of flags) {
    if (typed === `--${flag.name}` || (flag.alias !== undefined && typed === `--${flag.alias}`) || (flag.short !== undefined && typed === `-${flag.short}`)) return { flag, negated: false };
    if ((flag.default === true || flag.setting === true) && flag.value === undefined && typed === `--no-${flag.name}`) return { flag, negated: true };
  }
  return null;
}

function didYouMean(typed: string, flags: readonly Flag[]): string {
  const known = flags.flatMap(({ name, alias, default: on }) => [
    `--${name}`, ...(alias === undefined ? [] : [`--${alias}`]), ...(on === true ? [`--no-${name}`] : []),
  ]);
  const meant = nearestName(typed, [...known, "--help"]);
  return meant === null ? "" : `; did you mean ${meant}?`;
}

/** `--trace [HOST:PORT]` */
export function flagLabel({ name, alias, value, optional, default: on }: Flag): string {
  if (value === undefined) return on === true ? `--[no-]${name}` : `--${name}`;
  const shown = optional === undefined ? value : `[${value}]`;
  return `--${alias ?? name} ${shown}`;
}
