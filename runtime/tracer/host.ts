/** The process around a sink: the only file of the tracer that touches it. */

export interface SinkHost {
  /** Prints one line for the person who runs the program. */
  report(line: string): void;
  /** Calls back when the program has nothing left to do, and when it ends. Returns what takes that back. */
  onEnd(idle: () => void, exit: () => void): () => void;
}

export function processHost(): SinkHost {
  return {
    report: (line) => void process.stderr.write(`${line}\n`),
    onEnd(idle, exit) {
      process.on("beforeExit", idle);
      process.on("exit", exit);
      return () => {
        process.off("beforeExit", idle);
        process.off("exit", exit);
      };
    },
  };
}
