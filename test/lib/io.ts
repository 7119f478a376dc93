/** An `Io` in memory: what a command writes is text to compare. */
import { Readable } from "node:stream";
import type { Host } from "../../generator/host.js";
import { nodeHost } from "../../generator/host.js";
import type { Io, TextSink } from "../../generator/cli/command.js";

export interface MemoryIo extends Io {
  /** Everything written to stdout so far. */
  out(): string;
  /** Everything written to stderr so far. */
  err(): string;
  /** Sends the signal. */
  interrupt(name?: "SIGINT" | "SIGTERM"): void;
  /** Makes standard output fail. */
  failOutput(error: NodeJS.ErrnoException): void;
}

export interface MemoryIoOptions {
  readonly stdin?: string;
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
  readonly host?: Host;
  readonly tty?: boolean;
  readonly columns?: number;
}

/** Io whose streams are strings; the host is the real one unless another is given. */
export function memoryIo(options: MemoryIoOptions = {}): MemoryIo {
  const controller = new AbortController();
  const output = new AbortController();
  const written = { out: "", err: "" };
  const sink = (key: "out" | "err"): TextSink => ({
    write: (text) => void (written[key] += text),
    isTTY: options.tty ?? false,
    columns: options.columns ?? 80,
  });
  return {
    stdin: Readable.from(options.stdin === undefined ? [] : [options.stdin]),
    stdout: sink("out"),
    stderr: sink("err"),
    cwd: options.cwd ?? process.cwd(),
    env: options.env ?? {},
    host: options.host ?? nodeHost(),
    signal: controller.signal,
    outputFailed: output.signal,
    failOutput: (error) => output.abort(error),
    out: () => written.out,
    err: () => written.err,
    interrupt: (name = "SIGINT") => controller.abort(name),
  };
}
