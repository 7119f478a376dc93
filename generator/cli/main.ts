/**
 * The shell around the commands: checks the words, lets sade parse them, runs the command, and turns whatever
 * happens into an exit code. `main` is the only place that ends the process.
 */
import sade from "sade";
import { UsageError } from "./command.js";
import type { CommandSpec, Invocation, Io } from "./command.js";
import { COMMANDS, UNAVAILABLE } from "./commands.js";
import { EXIT } from "./exit.js";
import { interruptedCode, processIo } from "./io.js";
import { packageVersion } from "./package.js";
import { commandHelp, programHelp, usageProblem } from "./usage.js";
import { carriedName, readWords } from "./words.js";

/** Runs the command line `argv` (without node and script) and returns the exit code. Never throws. */
export async function run(argv: readonly string[], io: Io, commands: readonly CommandSpec[] = COMMANDS): Promise<number> {
  const words = readWords(argv, commands, UNAVAILABLE);
  switch (words.kind) {
    case "help":
      io.stdout.write(words.spec === null ? programHelp(commands, UNAVAILABLE, io.stdout.columns) : commandHelp(words.spec, io.stdout.columns));
      return EXIT.OK;
    case "version":
      io.stdout.write(`toolsrv ${packageVersion()}\n`);
      return EXIT.OK;
    case "usage":
      io.stderr.write(usageProblem(words.spec, words.message, io.stderr.columns));
      return EXIT.USAGE;
    case "run":
      return runCommand(words.spec, parse(words.words, commands), io, words.debug);
  }
}

/** Runs the command line of this process and ends it. */
export async function main(): Promise<void> {
  const io = processIo();
  const code = await run(process.argv.slice(2), io);
  // A command may leave a timer or a socket open; its result is written, so nothing is worth waiting for.
  process.stdout.write("", () => process.exit(code));
}

async function runCommand(spec: CommandSpec, invocation: Invocation, io: Io, debug: boolean): Promise<number> {
  const stopped = spec.graceful === true ? null : interrupted(io.signal);
  try {
    const module = await spec.load();
    const ended = module.run(invocation, io);
    return await (stopped === null ? ended : Promise.race([ended, stopped.promise]));
  } catch (error) {
    if (error instanceof UsageError) {
      io.stderr.write(usageProblem(spec, error.message, io.stderr.columns));
      return EXIT.USAGE;
    }
    if (io.signal.aborted && isAbort(error)) return interruptedCode(io.signal.reason);
    io.stderr.write(apology(error, debug));
    return EXIT.BUG;
  } finally {
    stopped?.forget();
  }
}

/** A promise of the exit code that a signal asks for. */
function interrupted(signal: AbortSignal): { readonly promise: Promise<number>; forget(): void } {
  let onAbort = (): void => undefined;
  const promise = new Promise<number>((resolve) => {
    onAbort = () => resolve(interruptedCode(signal.reason));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
  });
  return { promise, forget: () => signal.removeEventListener("abort", onAbort) };
}

/** Words that passed `readWords`, through sade: types, negation and defaults as the table says. */
function parse(words: readonly string[], commands: readonly CommandSpec[]): Invocation {
  const program = sade("toolsrv");
  for (const spec of commands) {
    const args = spec.args.map((arg) => (arg.required ? `<${arg.name}>` : `[${arg.name}]`));
    program.command([spec.name, ...args].join(" "), spec.summary).action(() => undefined);
    for (const option of spec.options) program.option(`--${carriedName(option.name)}`, option.help, option.default);
  }
  const spec = commands.find((entry) => entry.name === words[0]);
  const own = spec?.options ?? [];
  const parsed = program.parse(["node", "toolsrv", ...words], {
    lazy: true,
    string: own.filter((option) => option.value !== undefined).map((option) => carriedName(option.name)),
    boolean: own.filter((option) => option.value === undefined).map((option) => carriedName(option.name)),
  });
  // sade hands over one value per declared argument, then the flags, among them the arguments beyond the declared ones.
  const flags = parsed.args.at(-1) as unknown as { readonly [name: string]: unknown };
  const rest = Array.isArray(flags["_"]) ? flags["_"] : [];
  const args = [...parsed.args.slice(0, -1), ...rest].filter((arg): arg is string => typeof arg === "string");
  const options: { [name: string]: string | boolean } = {};
  for (const option of own) {
    const value = flags[carriedName(option.name)];
    if (typeof value === "string" || typeof value === "boolean") options[option.name] = value;
  }
  return { args, options };
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function apology(error: unknown, debug: boolean): string {
  const what = error instanceof Error ? error.message : String(error);
  const line = `toolsrv: internal error: ${what.split("\n")[0]}; sorry, this is a bug of toolsrv, please report it`;
  if (debug) return `${line}\n${error instanceof Error ? error.stack : ""}\n`;
  return `${line} (--debug shows the stack)\n`;
}
