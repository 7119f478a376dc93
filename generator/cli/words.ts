/**
 * Checks the words of a command line against the table, before sade sees them: sade would exit 1 on a usage error,
 * and lets a switch eat the word after it. Pure; what comes out is safe for any parser: the command, each option
 * once as `--name=value`, `--`, then the arguments.
 */
import { nearestName } from "../../runtime/base/nearest.js";
import type { CommandSpec, OptionSpec } from "./command.js";

export type Words =
  | { readonly kind: "run"; readonly spec: CommandSpec; readonly words: readonly string[]; readonly debug: boolean }
  | { readonly kind: "help"; readonly spec: CommandSpec | null }
  | { readonly kind: "version" }
  | { readonly kind: "usage"; readonly spec: CommandSpec | null; readonly message: string };

/** sade answers these two itself wherever they stand, so a command's own option of that name travels under another. */
const RESERVED: ReadonlySet<string> = new Set(["version", "help"]);

/** The name under which an option is handed to sade. */
export function carriedName(option: string): string {
  return RESERVED.has(option) ? `own-${option}` : option;
}

/** Sorts out the words after the program's name. Never throws. */
export function readWords(argv: readonly string[], commands: readonly CommandSpec[], unavailable: readonly string[]): Words {
  const [first, ...rest] = argv.filter((word, i) => word !== "--debug" || argv.slice(0, i).includes("--"));
  const debug = rest.length + (first === undefined ? 0 : 1) < argv.length;
  if (first === undefined) return { kind: "usage", spec: null, message: "no command given" };
  if (first === "--help" || first === "-h") return { kind: "help", spec: null };
  if (first === "--version" || first === "-v") return { kind: "version" };
  if (first.startsWith("-")) return { kind: "usage", spec: null, message: `the command comes first, before ${first}` };
  if (first === "help") return readHelp(rest[0], commands, unavailable);
  const spec = commands.find((entry) => entry.name === first);
  if (spec === undefined) return { kind: "usage", spec: null, message: unknownCommand(first, commands, unavailable) };
  return readCommandWords(spec, rest, debug);
}

function readHelp(topic: string | undefined, commands: readonly CommandSpec[], unavailable: readonly string[]): Words {
  if (topic === undefined) return { kind: "help", spec: null };
  const spec = commands.find((entry) => entry.name === topic);
  return spec === undefined ? { kind: "usage", spec: null, message: unknownCommand(topic, commands, unavailable) } : { kind: "help", spec };
}

function unknownCommand(word: string, commands: readonly CommandSpec[], unavailable: readonly string[]): string {
  if (unavailable.includes(word)) return `'${word}' is not available in this version`;
  return `unknown command '${word}'${didYouMean(word, commands.map((entry) => entry.name))}`;
}

function readCommandWords(spec: CommandSpec, rest: readonly string[], debug: boolean): Words {
  const usage = (message: string): Words => ({ kind: "usage", spec, message });
  const args: string[] = [];
  const options = new Map<string, string>();
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i] ?? "";
    if (word === "--") {
      args.push(...rest.slice(i + 1));
      break;
    }
    if (word === "--help" || word === "-h") return { kind: "help", spec };
    if (!word.startsWith("-") || word === "-") {
      args.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const flag = equals < 0 ? word : word.slice(0, equals);
    const found = findOption(flag, spec.options);
    if (found === undefined) return usage(`unknown option ${flag}${didYouMean(flag, flagsOf(spec))}`);
    const { option, negated } = found;
    if (option.unavailable === true && negated) continue;
    if (option.unavailable === true) return usage(`${flag} is not available in this version`);
    if (option.value === undefined) {
      if (equals >= 0) return usage(`${flag} takes no value`);
      options.set(option.name, negated ? `--no-${carriedName(option.name)}` : `--${carriedName(option.name)}`);
      continue;
    }
    if (equals < 0 && option.optional !== undefined && !option.optional(rest[i + 1] ?? "")) {
      options.set(option.name, `--${carriedName(option.name)}=`);
      continue;
    }
    const value = equals >= 0 ? word.slice(equals + 1) : rest[++i];
    if (value === undefined) return usage(`${flag} needs a value: ${flag} ${option.value}`);
    if (equals < 0 && value.startsWith("--")) return usage(`${flag} needs a value; one that starts with -- is written ${flag}=${value}`);
    options.set(option.name, `--${carriedName(option.name)}=${value}`);
  }
  const problem = checkArgs(spec, args) ?? checkRequired(spec, options);
  if (problem !== null) return usage(problem);
  return { kind: "run", spec, words: [spec.name, ...options.values(), "--", ...args], debug };
}

function findOption(flag: string, options: readonly OptionSpec[]): { option: OptionSpec; negated: boolean } | undefined {
  for (const option of options) {
    if (flag === `--${option.name}`) return { option, negated: false };
    if (flag === `--no-${option.name}` && option.default === true) return { option, negated: true };
  }
  return undefined;
}

/** Every flag of a command that works, as it is typed. */
function flagsOf(spec: CommandSpec): readonly string[] {
  return spec.options
    .filter((option) => option.unavailable !== true)
    .flatMap((option) => (option.default === true ? [`--${option.name}`, `--no-${option.name}`] : [`--${option.name}`]))
    .concat("--help");
}

function checkArgs(spec: CommandSpec, args: readonly string[]): string | null {
  const missing = spec.args.filter((arg, i) => arg.required && i >= args.length).map((arg) => arg.name);
  if (missing.length > 0) return `missing ${missing.join(" and ")}`;
  const extra = args[spec.args.length];
  if (extra !== undefined && spec.args.at(-1)?.many !== true) return `unexpected argument '${extra}'`;
  return null;
}

function checkRequired(spec: CommandSpec, given: ReadonlyMap<string, string>): string | null {
  const missing = spec.options.filter((option) => option.required === true && !given.has(option.name));
  return missing.length === 0 ? null : `missing ${missing.map((option) => `--${option.name} ${option.value}`).join(" and ")}`;
}

function didYouMean(word: string, known: readonly string[]): string {
  const guess = nearestName(word, known);
  return guess === null ? "" : `; did you mean ${guess}?`;
}
