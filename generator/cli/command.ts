/**
 * A command as data, and its inputs. Commands decide and print; they never touch `process`, so that tests run them
 * with memory streams and get the exit code back.
 */
import type { Host } from "../host.js";
import type { Flag } from "../../runtime/config/flags.js";

/** An option; without `value` it is a switch, and `--no-<name>` turns a switch with `default: true` off. */
export interface OptionSpec extends Flag {
  /** Must be given; only for an option with a value. */
  readonly required?: true;
  /** The commands of a command that take it; absent for all of them. */
  readonly of?: readonly string[];
}

/** One of the commands that a command has, such as `toolsrv trace show`. */
export interface SubCommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly args: readonly ArgSpec[];
  readonly examples?: readonly string[];
  /** It takes what `serve` takes as well. */
  readonly serves?: true;
}

export interface ArgSpec {
  readonly name: string;
  readonly required: boolean;
  /** The last argument may repeat. */
  readonly many?: boolean;
}

export interface CommandSpec {
  readonly name: string;
  /** One line for the command list. */
  readonly summary: string;
  readonly args: readonly ArgSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples?: readonly string[];
  /** The first argument is one of these. */
  readonly commands?: readonly SubCommandSpec[];
  /** It has more options than an error should be followed by: they are listed by --help alone. */
  readonly brief?: true;
  /** Ends by itself when `io.signal` aborts (it drains or sums up); any other command is ended at once. */
  readonly graceful?: true;
  /** Its purpose is more than its output, so it finishes when nobody can read that; any other command is ended. */
  readonly writes?: true;
  readonly load: () => Promise<CommandModule>;
}

/** Command-line arguments after they were checked against the spec. */
export interface Invocation {
  readonly args: readonly string[];
  /** By long name; switches are booleans, values strings; absent options without a default are missing. */
  readonly options: { readonly [name: string]: string | boolean };
}

export interface TextSink {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Terminal width; 80 where unknown. */
  readonly columns: number;
}

/** The world of a command: streams, working directory, and the host that does all other I/O. */
export interface Io {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly cwd: string;
  /** Process environment; read only for NO_COLOR, USER and the like, never for catalog values. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly host: Host;
  /** Aborts on Ctrl-C or SIGTERM; `reason` is the signal's name. */
  readonly signal: AbortSignal;
  /** Aborts when standard output can't be written; `reason` is the error. */
  readonly outputFailed: AbortSignal;
}

/**
 * Thrown by a command for arguments that are well-formed but not accepted, such as `--emit cobol`. `main.ts` prints the
 * one line with the command's usage and returns `EXIT.USAGE`. The message starts in lower case and has no full stop.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface CommandModule {
  /** Exit code, from exit.ts. */
  run(invocation: Invocation, io: Io): Promise<number>;
}
