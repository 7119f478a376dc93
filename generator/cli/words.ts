/**
 * Checks the arguments of a command line against the table, before sade sees them: sade would exit 1 on a usage error,
 * and takes the argument after a switch for its value. Pure; the result is safe for any parser: the command, each
 * option once as `--name=value`, `--`, then the arguments.
 */
import { nearestName } from "../../runtime/base/nearest.js";
import { readFlagWords, type FlagValue } from "../../runtime/config/flags.js";
import type { CommandSpec } from "./command.js";

export type Words =
  /** `shown` is what the user typed, for messages: of `trace show` that command alone. */
  | { readonly kind: "run"; readonly spec: CommandSpec; readonly shown: CommandSpec; readonly words: readonly string[]; readonly debug: boolean }
  | { readonly kind: "help"; readonly spec: CommandSpec | null }
  | { readonly kind: "version" }
  | { readonly kind: "usage"; readonly spec: CommandSpec | null; readonly message: string };

/** sade handles these two itself wherever they occur, so a command's own option of that name is passed under another. */
const RESERVED: ReadonlySet<string> = new Set(["version", "help"]);

/** The name under which an option is passed to sade. */
export function carriedName(option: string): string {
  return RESERVED.has(option) ? `own-${option}` : option;
}

/** Reads the arguments after the program's name. Never throws. */
export function readWords(argv: readonly string[], commands: readonly CommandSpec[]): Words {
  const [first, ...rest] = argv.filter((word, i) => word !== "--debug" || argv.slice(0, i).includes("--"));
  const debug = rest.length + (first === undefined ? 0 : 1) < argv.length;
  if (first === undefined) return { kind: "usage", spec: null, message: "no command given" };
  if (first === "--help" || first === "-h") return { kind: "help", spec: null };
  if (first === "--version" || first === "-v") return { kind: "version" };
  if (first.startsWith("-")) return { kind: "usage", spec: null, message: `the command comes first, before ${first}` };
  if (first === "help") return readHelp(rest, commands);
  const spec = commands.find((entry) => entry.name === first);
  if (spec === undefined) return { kind: "usage", spec: null, message: unknownCommand(first, commands) };
  return readCommandWords(spec, rest, debug);
}

function readHelp([topic, ...rest]: readonly string[], commands: readonly CommandSpec[]): Words {
  if (topic === undefined) return { kind: "help", spec: null };
  const spec = commands.find((entry) => entry.name === topic);
  return spec === undefined ? { kind: "usage", spec: null, message: unknownCommand(topic, commands) } : { kind: "help", spec: inner(spec, rest) };
}

/** The command that is meant, of a command with commands the one that is named; the command itself where none is. */
function inner(spec: CommandSpec, words: readonly string[]): CommandSpec {
  const found = spec.commands?.find(({ name }) => words.includes(name));
  if (found === undefined) return spec;
  const { commands: _, examples: __, ...common } = spec;
  const takes = ({ of }: CommandSpec["options"][number]): boolean => of === undefined || of.includes(found.name) || (found.serves === true && of.includes("serve"));
  return { ...common, name: `${spec.name} ${found.name}`, summary: found.summary, args: found.args, options: spec.options.filter(takes), brief: true, ...(found.examples === undefined ? {} : { examples: found.examples }) };
}

function unknownCommand(word: string, commands: readonly CommandSpec[]): string {
  return `unknown command '${word}'${didYouMean(word, commands.map((entry) => entry.name))}`;
}

function readCommandWords(spec: CommandSpec, rest: readonly string[], debug: boolean): Words {
  const read = readFlagWords(rest, spec.options);
  if (read.kind === "help") return { kind: "help", spec: inner(spec, rest) };
  if (read.kind === "problem") return { kind: "usage", spec: inner(spec, rest), message: read.message };
  const { args, values } = read;
  const shown = inner(spec, args.slice(0, 1));
  const problem = checkCommand(spec, args) ?? checkArgs(shown, shown === spec ? args : args.slice(1)) ?? checkRequired(spec, values);
  if (problem !== null) return { kind: "usage", spec: shown, message: problem };
  const options = [...values].map(([name, value]) => (typeof value === "string" ? `--${carriedName(name)}=${value}` : `--${value ? "" : "no-"}${carriedName(name)}`));
  return { kind: "run", spec, shown, words: [spec.name, ...options, "--", ...args], debug };
}

/** What is wrong with the name of a command's command. */
function checkCommand({ commands }: CommandSpec, [word]: readonly string[]): string | null {
  if (commands === undefined || word === undefined || commands.some(({ name }) => name === word)) return null;
  return `unknown command '${word}'${didYouMean(word, commands.map(({ name }) => name))}`;
}

function checkArgs(spec: CommandSpec, args: readonly string[]): string | null {
  const missing = spec.args.filter((arg, i) => arg.required && i >= args.length).map((arg) => arg.name);
  if (missing.length > 0) return `missing ${missing.join(" and ")}`;
  const extra = args[spec.args.length];
  if (extra !== undefined && spec.args.at(-1)?.many !== true) return `unexpected argument '${extra}'`;
  return null;
}

function checkRequired(spec: CommandSpec, given: ReadonlyMap<string, FlagValue>): string | null {
  const missing = spec.options.filter((option) => option.required === true && !given.has(option.name));
  return missing.length === 0 ? null : `missing ${missing.map((option) => `--${option.name} ${option.value}`).join(" and ")}`;
}

function didYouMean(word: string, known: readonly string[]): string {
  const guess = nearestName(word, known);
  return guess === null ? "" : `; did you mean ${guess}?`;
}
