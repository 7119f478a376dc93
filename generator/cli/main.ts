/**
 * Runs a command line: checks the arguments, lets sade parse them, runs the command, and turns every end into an exit
 * code. `main` ends the process.
 */
import sade from "sade";
import { systemProblem } from "../../runtime/base/system-error.js";
import { UsageError } from "./command.js";
import type { CommandSpec, Invocation, Io } from "./command.js";
import { COMMANDS } from "./commands.js";
import { EXIT } from "./exit.js";
import { interruptedCode, isReaderGone, processIo } from "./io.js";
import { packageVersion } from "./package.js";
import { commandHelp, programHelp, usageProblem } from "./usage.js";
import { carriedName, readWords } from "./words.js";

/** Runs the command line `argv` (without node and script) and returns the exit code. Never throws. */
export async function run(argv: readonly string[], io: Io, commands: readonly CommandSpec[] = COMMANDS): Promise<number> {
  const words = readWords(argv, commands);
  switch (words.kind) {
    case "help":
      io.stdout.write(words.spec === null ? programHelp(commands, io.stdout.columns) : commandHelp(words.spec, io.stdout.columns));
      return EXIT.OK;
    case "version":
      io.stdout.write(`toolsrv ${packageVersion()}\n`);
      return EXIT.OK;
    case "usage":
      io.stderr.write(usageProblem(words.spec, words.message, io.stderr.columns));
      return EXIT.USAGE;
    case "run":
      return runCommand(words.spec, words.shown, parse(words.words, commands), io, words.debug);
  }
}

/** Runs the command line of this process and ends it. */
export async function main(): Promise<void> {
  const debug = process.argv.includes("--debug");
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error) => {
      process.stderr.write(`${systemProblem(error) === null ? apology(error, debug) : `toolsrv: ${systemProblem(error)}\n`}`);
      process.exit(systemProblem(error) === null ? EXIT.BUG : EXIT.USAGE);
    });
  }
  const io = processIo();
  const code = await run(process.argv.slice(2), io);
  // A command may leave a timer or a socket open; its result is written, so nothing is worth waiting for. The error
  // of a failed write comes after its callback.
  process.stdout.write("", () => setImmediate(() => process.exit(withOutput(code, io))));
}

/** The exit code of a command with regard to what became of its output: a result that was lost is no success. */
function withOutput(code: number, { outputFailed, stdout, stderr }: Io): number {
  if (!outputFailed.aborted || isReaderGone(outputFailed.reason, stdout.isTTY)) return code;
  stderr.write(`toolsrv: the result is lost: standard output: ${systemProblem(outputFailed.reason) ?? String(outputFailed.reason)}\n`);
  return code === EXIT.OK || code === EXIT.FINDINGS ? EXIT.USAGE : code;
}

async function runCommand(spec: CommandSpec, shown: CommandSpec, invocation: Invocation, io: Io, debug: boolean): Promise<number> {
  const stopped = new AbortController();
  const endings = [
    ...(spec.graceful === true ? [] : [onAbort(io.signal, () => interruptedCode(io.signal.reason), stopped.signal)]),
    ...(spec.writes === true ? [] : [onAbort(io.outputFailed, () => EXIT.OK, stopped.signal)]),
  ];
  try {
    const module = await spec.load();
    return await Promise.race([module.run(invocation, io), ...endings]);
  } catch (error) {
    if (error instanceof UsageError) {
      io.stderr.write(usageProblem(shown, error.message, io.stderr.columns));
      return EXIT.USAGE;
    }
    if (io.signal.aborted && isAbort(error)) return interruptedCode(io.signal.reason);
    const problem = systemProblem(error);
    if (problem !== null) {
      io.stderr.write(`toolsrv ${spec.name}: ${problem}${debug && error instanceof Error ? `\n${error.stack}` : ""}\n`);
      return EXIT.USAGE;
    }
    io.stderr.write(apology(error, debug));
    return EXIT.BUG;
  } finally {
    stopped.abort();
  }
}

/** A promise of the exit code for when `signal` aborts; `forget` removes its listener. */
function onAbort(signal: AbortSignal, code: () => number, forget: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(code());
    signal.addEventListener("abort", () => resolve(code()), { once: true, signal: forget });
  });
}

/** Arguments that passed `readWords`, through sade: types, negation and defaults as the table says. */
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
