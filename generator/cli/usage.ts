/** Help and usage as text, printed from the command table. Pure; never wider than the terminal. */
import type { ArgSpec, CommandSpec, OptionSpec } from "./command.js";

const GLOBAL_OPTIONS: readonly OptionSpec[] = [{ name: "help", help: "show this and exit" }];

/** `toolsrv --help`. */
export function programHelp(commands: readonly CommandSpec[], columns: number): string {
  return [
    "Compile a declarative tool catalog into a reviewable MCP server, and run it.",
    "",
    "Usage: toolsrv COMMAND [ARGS]",
    "",
    "Commands:",
    twoColumns(commands.map((spec) => [spec.name, spec.summary]), columns),
    "",
    "Options:",
    twoColumns(
      [
        ["--help", "show this; toolsrv COMMAND --help shows one command"],
        ["--version", "print the version"],
        ["--debug", "show the stack of an internal error"],
      ],
      columns,
    ),
    "",
  ].join("\n");
}

/** `toolsrv COMMAND --help`. */
export function commandHelp(spec: CommandSpec, columns: number): string {
  const options = [...spec.options, ...GLOBAL_OPTIONS];
  const listed = spec.commands === undefined
    ? ["Options:", twoColumns(options.map((option) => [optionLabel(option), optionHelp(option)]), columns)]
    : ["Commands:", twoColumns(spec.commands.map(({ name, summary }) => [name, summary]), columns), "", `toolsrv ${spec.name} COMMAND --help shows one command with its options.`];
  const lines = [wrap(`${spec.summary}.`, columns, ""), "", synopsis(spec, columns), "", ...listed, ""];
  if (spec.examples !== undefined) lines.push("Examples:", ...spec.examples.map((example) => `  ${example}`), "");
  return lines.join("\n");
}

/** One line that says what is wrong, then the usage; for exit code 2. */
export function usageProblem(spec: CommandSpec | null, message: string, columns: number): string {
  if (spec === null) return `toolsrv: ${message}\nUsage: toolsrv COMMAND [ARGS]   (toolsrv --help lists the commands)\n`;
  const more = isBrief(spec) ? `(toolsrv ${spec.name} --help lists the ${spec.commands === undefined ? "options" : "commands"})\n` : "";
  return `toolsrv ${spec.name}: ${message}\n${synopsis(spec, columns)}\n${more}`;
}

/** `Usage: toolsrv load TOOLS.yaml FILE [--id FIELD] …`, wrapped under the arguments. */
export function synopsis(spec: CommandSpec, columns: number): string {
  const start = `Usage: toolsrv ${spec.name}`;
  const flag = (option: OptionSpec): string => (option.required === true ? optionLabel(option) : `[${optionLabel(option)}]`);
  const words = [...spec.args.map(argLabel), ...(isBrief(spec) ? ["[OPTIONS]"] : spec.options.map(flag))];
  return wrapWords([start, ...words], columns, " ".repeat(start.length + 1));
}

function isBrief({ brief, commands }: CommandSpec): boolean {
  return brief === true || commands !== undefined;
}

function argLabel(arg: ArgSpec): string {
  const name = arg.many === true ? `${arg.name} ...` : arg.name;
  return arg.required ? name : `[${name}]`;
}

function optionLabel(option: OptionSpec): string {
  return `${option.short === undefined ? "" : `-${option.short}, `}${longLabel(option)}`;
}

function longLabel(option: OptionSpec): string {
  if (option.value !== undefined) return option.optional === undefined ? `--${option.name} ${option.value}` : `--${option.name} [${option.value}]`;
  return option.default === true ? `--[no-]${option.name}` : `--${option.name}`;
}

function optionHelp({ help, default: on, value }: OptionSpec): string {
  return value === undefined && on === true ? `${help} (on by default)` : help;
}

function twoColumns(rows: readonly (readonly [string, string])[], columns: number): string {
  const left = Math.max(...rows.map(([label]) => label.length)) + 4;
  return rows.map(([label, text]) => `  ${label.padEnd(left - 2)}${wrap(text, columns, " ".repeat(left))}`).join("\n");
}

function wrap(text: string, columns: number, indent: string): string {
  return wrapWords(text.split(" "), columns, indent, indent.length);
}

/** Fills lines with whole words; every line but the first starts with `indent`. */
function wrapWords(words: readonly string[], columns: number, indent: string, firstColumn = 0): string {
  const width = Math.max(columns, 40);
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    const used = (lines.length === 0 ? firstColumn : indent.length) + line.length;
    if (line !== "" && used + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join(`\n${indent}`);
}
