/**
 * Messages as lines of JSON over two streams. Knows lines and bytes, not what is in them: a line that is too long or
 * not UTF-8 is reported like any other bad message, and the next line is read normally.
 */
import { isUtf8 } from "node:buffer";

/** The part of a writable stream that is used. */
export interface LineOutput {
  /** False when the reader is behind. */
  write(text: string, done?: () => void): boolean;
  once(event: "drain", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

export interface LineOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: LineOutput;
  /** Longest line in bytes, without its line break. */
  readonly maxLineBytes: number;
  /** A line without its line break; never blank. */
  readonly onLine: (line: string) => void;
  /** A line was longer than the limit or not UTF-8. */
  readonly onBadLine: () => void;
  /** The peer has closed its end, or writing to it fails, with the reason. Called once. */
  readonly onEnd: (outputError: Error | null) => void;
}

export interface LineChannel {
  /** Sends one message; `text` contains no line break. Does nothing once the peer is gone. */
  send(text: string): void;
  /** Resolves when everything sent has been passed to the system, or can no longer be sent. */
  flush(): Promise<void>;
}

/** Starts reading at once. Reading pauses while the peer leaves our output unread. */
export function openLines({ input, output, maxLineBytes, onLine, onBadLine, onEnd }: LineOptions): LineChannel {
  const splitter = new LineSplitter(maxLineBytes);
  let ended = false;
  let broken = false;
  /** The reader is behind, and reading waits for it. */
  let full = false;

  const end = (outputError: Error | null): void => {
    if (ended) return;
    ended = true;
    onEnd(outputError);
  };
  input.on("data", (chunk: Buffer | string) => {
    for (const line of splitter.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)) {
      if (line === null || !isUtf8(line)) onBadLine();
      else onLine(line.toString());
    }
  });
  input.on("end", () => {
    // A last message without its line break still counts.
    const rest = splitter.rest();
    if (rest === null || !isUtf8(rest)) onBadLine();
    else if (!isBlank(rest)) onLine(rest.toString());
    end(null);
  });
  input.on("error", () => end(null));
  output.on("error", (error) => {
    broken = true;
    end(error);
  });

  return {
    send(text) {
      if (broken) return;
      if (output.write(`${text}\n`) || full) return;
      full = true;
      input.pause();
      output.once("drain", () => {
        full = false;
        input.resume();
      });
    },
    flush: () =>
      new Promise((resolve) => {
        if (broken) resolve();
        else output.write("", () => resolve());
      }),
  };
}

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const MAX_PARTS = 1024;

/** Splits bytes into lines wherever the chunks were cut. Blank lines are dropped; `null` is one that is too long. */
export class LineSplitter {
  private parts: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly maxLineBytes: number) {}

  push(chunk: Buffer): readonly (Buffer | null)[] {
    const lines: (Buffer | null)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.keep(chunk.subarray(start, end));
      const line = this.rest();
      if (line === null || !isBlank(line)) lines.push(line);
      start = end + 1;
    }
    this.keep(chunk.subarray(start));
    return lines;
  }

  /** What came since the last line break; `null` when that is too long. */
  rest(): Buffer | null {
    const { parts, bytes } = this;
    this.parts = [];
    this.bytes = 0;
    if (bytes > this.maxLineBytes) return null;
    const line = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, bytes);
    return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
  }

  private keep(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.bytes > this.maxLineBytes) this.parts = [];
    else if (piece.length > 0) this.parts.push(piece);
    // A line that comes byte by byte would otherwise cost a buffer a byte.
    if (this.parts.length > MAX_PARTS) this.parts = [Buffer.concat(this.parts, this.bytes)];
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 32 || byte === 9);
}
