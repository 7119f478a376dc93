/** The process as a server sees it: its streams, the signals that end it, and standard output kept for the protocol. */
import { systemProblem } from "../base/system-error.js";
import { EXIT } from "../config/exit.js";
import type { LineOutput } from "../transport/stdio.js";

export interface ServeIo {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Takes standard output for protocol messages; what else writes there goes to standard error from now on. */
  takeStdout(): LineOutput;
  /** Result of a command such as --help. */
  print(text: string): void;
  note(text: string): void;
  /** Takes the warnings of Node and of packages, which are printed as text otherwise; absent where there are none. */
  takeWarnings?(listen: (text: string) => void): void;
  /** Takes promises that fail and that nobody waits for, which would end the process; absent where the process is another's. */
  takeRejections?(listen: (reason: unknown) => void): void;
  /** Aborts when the process is asked to end. */
  readonly stop: AbortSignal;
  /** Calls the listener at each SIGHUP, which ends a process that nobody has asked to listen. Absent where there are no signals. */
  onHangup?(listener: () => void): void;
  /** Variables of the process; only the trace service's own settings are read from it. */
  readonly environment: { readonly [name: string]: string | undefined };
  /** Monotonic milliseconds. */
  now(): number;
}

/** This process. `stop` is given where signals are handled already. */
export function processIo(stop: AbortSignal = stopSignal()): ServeIo {
  // The global is a getter of Node, which would be run for each time that is asked for.
  const clock = performance;
  return {
    stdin: process.stdin,
    takeStdout() {
      const write = process.stdout.write.bind(process.stdout);
      const stray = process.stderr.write.bind(process.stderr);
      process.stdout.write = stray as typeof process.stdout.write;
      return {
        write: (text, done) => write(text, done),
        once: (event, listener) => process.stdout.once(event, listener),
        on: (event, listener) => process.stdout.on(event, listener),
      };
    },
    takeWarnings(listen) {
      process.removeAllListeners("warning");
      process.on("warning", ({ name, message }) => listen(message.startsWith(name) ? message : `${name}: ${message}`));
    },
    takeRejections(listen) {
      process.removeAllListeners("unhandledRejection");
      process.on("unhandledRejection", listen);
    },
    print: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(text),
    stop,
    onHangup: (listener) => void process.on("SIGHUP", listener),
    environment: process.env,
    now: () => clock.now(),
  };
}

/** Standard output of an application that also writes there itself. */
export function sharedStdout(): Pick<LineOutput, "write"> {
  return { write: (text, done) => process.stdout.write(text, done) };
}

/** Aborts at the first SIGTERM or SIGINT; the second ends the process at once. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(name === "SIGTERM" ? 143 : 130);
      controller.abort(name);
    });
  }
  return controller.signal;
}

/** Ends this process with a code, once what was written has left it. A result that could not be written is no success. */
export function endProcess(code: number): void {
  let failure: Error | null = null;
  process.stdout.on("error", (error) => (failure = error));
  process.exitCode = code;
  // The error of a failed write comes after its callback.
  process.stdout.write("", () => setImmediate(() => process.exit(failure === null ? code : outputFailure(code, failure, (text) => process.stderr.write(text)))));
}

/** The exit code of a server whose standard output cannot be written. A reader that has gone away is the usual end. */
export function outputFailure(code: number, error: Error, note: (text: string) => void): number {
  if ("code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED")) return code;
  note(`toolsrv: standard output: ${systemProblem(error) ?? error.message}\n`);
  return code === EXIT.OK ? EXIT.USAGE : code;
}
