/** The real world of a command: the process's streams, signals and host. */
import { nodeHost } from "../host.js";
import type { Io, TextSink } from "./command.js";
import { EXIT } from "./exit.js";

/**
 * Io of this process. The first SIGINT or SIGTERM aborts `signal` with its name as reason; the second ends the
 * process at once, for a command that is too slow to stop.
 */
export function processIo(): Io {
  const signals = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (signals.signal.aborted) process.exit(interruptedCode(name));
      signals.abort(name);
    });
  }
  const output = new AbortController();
  process.stdout.on("error", (error) => output.abort(error));
  // Lost messages cannot be reported; the exit code and the result still say how the command ended.
  process.stderr.on("error", () => undefined);
  return {
    stdin: process.stdin,
    stdout: sink(process.stdout),
    stderr: sink(process.stderr),
    cwd: process.cwd(),
    env: process.env,
    host: nodeHost(),
    signal: signals.signal,
    outputFailed: output.signal,
  };
}

/** Exit code of a command that a signal ended. */
export function interruptedCode(reason: unknown): number {
  return reason === "SIGTERM" ? EXIT.TERMINATED : EXIT.INTERRUPTED;
}

/** Whether the output lost its reader, as in `toolsrv schema | head -1` or when a terminal closes: no error. */
export function isReaderGone(error: unknown, isTTY: boolean): boolean {
  return error instanceof Error && "code" in error && (error.code === "EPIPE" || (error.code === "EIO" && isTTY));
}

function sink(stream: NodeJS.WriteStream): TextSink {
  return {
    write: (text) => void stream.write(text),
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns > 0 ? stream.columns : 80;
    },
  };
}
