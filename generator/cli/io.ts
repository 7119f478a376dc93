/** The real world of a command: the process's streams, signals and host. */
import { nodeHost } from "../host.js";
import type { Io, TextSink } from "./command.js";
import { EXIT } from "./exit.js";

/**
 * Io of this process. The first SIGINT or SIGTERM aborts `signal` with its name as reason; the second ends the
 * process at once, for a command that is too slow to stop.
 */
export function processIo(): Io {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(interruptedCode(name));
      controller.abort(name);
    });
  }
  return {
    stdin: process.stdin,
    stdout: sink(process.stdout),
    stderr: sink(process.stderr),
    cwd: process.cwd(),
    env: process.env,
    host: nodeHost(),
    signal: controller.signal,
  };
}

/** Exit code of a command that a signal ended. */
export function interruptedCode(reason: unknown): number {
  return reason === "SIGTERM" ? EXIT.TERMINATED : EXIT.INTERRUPTED;
}

function sink(stream: NodeJS.WriteStream): TextSink {
  // `toolsrv schema | head -1`: the reader has what it wanted, and there is nobody left to tell.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(EXIT.OK);
    throw error;
  });
  return {
    write: (text) => void stream.write(text),
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns > 0 ? stream.columns : 80;
    },
  };
}
