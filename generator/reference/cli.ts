/** docs/reference/cli.md: the commands and their options, from the table that the shell checks words against. */
import type { CommandSpec, OptionSpec } from "../cli/command.js";
import { HEADER, cell, table } from "./markdown.js";

/** The page. */
export function cliPage(commands: readonly CommandSpec[], exits: { readonly [name: string]: number }): string {
  const codes = table(["exit code", "meaning"], Object.entries(exits).map(([name, code]) => [String(code), EXIT_WORDS[name] ?? name.toLowerCase()]));
  return `${HEADER}# Command line\n\n\`toolsrv COMMAND [ARGS]\`; \`toolsrv --help\` and \`toolsrv COMMAND --help\` print the same. Results go to stdout, everything else to stderr.\n\n${codes}${commands.map(section).join("")}`;
}

const EXIT_WORDS: { readonly [name: string]: string } = {
  OK: "success", FINDINGS: "a finding: warnings with --strict, drift, failed scenarios", USAGE: "a mistake in the catalog or on the command line",
  LIVE: "a store or a call failed, or a server was refused", BUG: "a defect of toolsrv itself",
};

function section({ name, summary, args, options, commands, examples }: CommandSpec): string {
  const words = args.map((arg) => `${arg.required ? arg.name : `[${arg.name}]`}${arg.many === true ? " …" : ""}`);
  const usage = ["toolsrv", name, ...words, ...(options.length > 0 ? ["[OPTIONS]"] : [])].join(" ");
  return [
    `\n## ${name}\n\n${summary}.\n\n\`\`\`sh\n${usage}\n\`\`\`\n`,
    commands === undefined ? "" : `\n${table(["command", "what it does"], commands.map((command) => [`\`${[command.name, ...command.args.map((arg) => (arg.required ? arg.name : `[${arg.name}]`))].join(" ").replaceAll("|", "\\|")}\``, cell(command.summary)]))}`,
    options.length === 0 ? "" : `\n${table(["option", "meaning"], options.map((option) => [`\`${flag(option)}\``, cell(`${option.of === undefined ? "" : `${option.of.join(", ")}: `}${option.help}`)]))}`,
    examples === undefined ? "" : `\n\`\`\`sh\n${examples.join("\n")}\n\`\`\`\n`,
  ].join("");
}

function flag(option: OptionSpec): string {
  return `${option.short === undefined ? "" : `-${option.short}, `}${longFlag(option)}`;
}

/** A switch that is on has its `--no-` form in brackets: its meaning is what it does when it is on. */
function longFlag({ name, value, optional, default: fallback }: OptionSpec): string {
  if (value === undefined) return fallback === true ? `--[no-]${name}` : `--${name}`;
  return `--${name} ${optional === undefined ? value : `[${value}]`}`.replaceAll("|", "\\|");
}
