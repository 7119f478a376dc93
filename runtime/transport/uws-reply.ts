/**
 * Answers on a uWS response. The library's rules are obeyed here: nothing is touched after the answer or an abort,
 * writes outside a callback are corked, large bodies wait for the socket instead of filling memory, HEAD has no body.
 */
import { statusLine } from "./status-text.js";
import type { HeaderList, HttpReply, HttpStream, Refusal } from "./types.js";
import type { UwsResponse } from "./uws-api.js";

/** Above this size a body is written in parts as the socket accepts them; `end` would keep a second copy per connection. */
const LARGE_BODY_BYTES = 256 * 1024;
/** One write of a stream; unread data of a slow client is bounded by a few of these. */
const STREAM_SLICE_BYTES = 64 * 1024;

const SENT = Promise.resolve(true);
const GONE = Promise.resolve(false);

export interface AnsweredRequest {
  readonly method: string;
  readonly path: string;
}

/** What all answers of a server share. */
export interface Guard {
  /** Headers and body of the answer where a handler has a bug. */
  readonly headers: HeaderList;
  readonly body: string;
  report(error: unknown, request: AnsweredRequest): void;
  /** The headers of the latest answer: most answers have the same ones. */
  checked: HeaderList | null;
}

export class UwsReply implements HttpReply {
  aborted = false;
  /** An answer has been started. */
  answered = false;
  /** Inside a callback of the library, which has corked the socket already. */
  corked = false;
  /** The connection ends with this answer; bytes that follow the request are never read as another one. */
  closes = false;
  private listeners: (() => void)[] | null = null;
  /** What to do when the request is no longer needed: it was answered completely, or its client is gone. */
  private settlers: (() => void)[] | null = null;
  /** Set while the answer is incomplete and must handle an abort. */
  private open: UwsStream | null = null;
  unsent: Promise<void> | null = null;
  /** Settles `unsent`. */
  private settleUnsent: (() => void) | null = null;

  constructor(
    private readonly res: UwsResponse,
    private readonly request: AnsweredRequest,
    private readonly guard: Guard,
  ) {}

  private get head(): boolean {
    return this.request.method === "HEAD";
  }

  fail(error: unknown): void {
    this.send(500, this.guard.headers, this.guard.body);
    this.guard.report(error, this.request);
  }

  onAborted(listener: () => void): void {
    if (this.aborted) listener();
    else (this.listeners ??= []).push(listener);
  }

  /** Nothing of the request is needed any more. */
  get settled(): boolean {
    return this.aborted || (this.answered && this.open === null);
  }

  /** Calls back once when the request is settled. */
  onSettled(listener: () => void): void {
    if (this.settled) listener();
    else (this.settlers ??= []).push(listener);
  }

  send(status: number, headers: HeaderList, body: string | Uint8Array): void {
    if (this.aborted || this.answered) return;
    checkHeaders(headers, this.guard);
    this.answered = true;
    if (this.closes) this.sendAndClose(status, headers, body);
    else if (this.corked) this.writeAnswer(status, headers, body);
    else this.res.cork(() => this.writeAnswer(status, headers, body));
    if (this.settlers !== null) this.settle();
  }

  refuse({ status, headers, body }: Refusal): void {
    this.send(status, headers, body);
  }

  /**
   * The library continues parsing what it has read when a handler answers within its callback. While an answer is
   * pending it closes the connection instead, so this one waits until the callback has returned.
   */
  private sendAndClose(status: number, headers: HeaderList, body: string | Uint8Array): void {
    this.unsent = new Promise((resolve) => (this.settleUnsent = resolve));
    setImmediate(() => {
      if (!this.aborted) {
        this.res.cork(() => {
          writeHead(this.res, status, headers);
          this.res.end(this.head ? "" : body, true);
        });
      }
      this.settleUnsent?.();
    });
  }

  stream(status: number, headers: HeaderList): HttpStream {
    if (this.aborted || this.answered) return new UwsStream(this.res, true, false, () => undefined);
    checkHeaders(headers, this.guard);
    this.answered = true;
    const stream = new UwsStream(this.res, this.head, this.closes, () => {
      this.open = null;
      this.settle();
    });
    this.open = this.head ? null : stream;
    this.res.cork(() => {
      writeHead(this.res, status, headers);
      if (this.head) this.res.endWithoutBody();
    });
    return stream;
  }

  /** Called by the library's abort listener, at most once. */
  abort(): void {
    this.aborted = true;
    this.open?.abort();
    this.settleUnsent?.();
    const listeners = this.listeners;
    this.listeners = null;
    for (const listener of listeners ?? []) listener();
    this.settle();
  }

  private settle(): void {
    const settlers = this.settlers;
    this.settlers = null;
    for (const settler of settlers ?? []) settler();
  }

  private writeAnswer(status: number, headers: HeaderList, body: string | Uint8Array): void {
    const res = this.res;
    writeHead(res, status, headers);
    if (this.head || status === 204 || status === 304) {
      // With a length as its argument, endWithoutBody of 20.51 never completes the answer.
      if (status !== 204) res.writeHeader("content-length", String(Buffer.byteLength(body)));
      res.endWithoutBody();
      return;
    }
    if (body.length > LARGE_BODY_BYTES) {
      this.writeLarge(typeof body === "string" ? Buffer.from(body) : body);
      return;
    }
    res.end(body);
  }

  private writeLarge(bytes: Uint8Array): void {
    const res = this.res;
    const [, done] = res.tryEnd(bytes, bytes.length);
    if (done) return;
    this.unsent = new Promise((resolve) => (this.settleUnsent = resolve));
    res.onWritable((offset) => {
      const [ok, taken] = res.tryEnd(bytes.subarray(offset), bytes.length);
      if (taken) this.settleUnsent?.();
      return ok;
    });
  }
}

class UwsStream implements HttpStream {
  private waiting: ((open: boolean) => void)[] = [];
  private listening = false;
  private gone = false;

  constructor(
    private readonly res: UwsResponse,
    private closed: boolean,
    /** The connection ends with the stream. */
    private readonly closes: boolean,
    private readonly onEnd: () => void,
  ) {}

  write(chunk: string | Uint8Array): Promise<boolean> {
    if (this.closed) return GONE;
    if (chunk.length === 0) return SENT;
    if (chunk.length > STREAM_SLICE_BYTES) return this.writeSlices(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    let taken = true;
    this.res.cork(() => {
      taken = this.res.write(chunk);
    });
    return taken ? SENT : this.untilWritable();
  }

  end(): void {
    if (this.closed) return;
    this.closed = true;
    this.release(false);
    if (this.closes) {
      setImmediate(() => this.endAndClose());
      return;
    }
    this.res.cork(() => this.res.end());
    this.onEnd();
  }

  abort(): void {
    this.closed = true;
    this.gone = true;
    this.release(false);
  }

  private endAndClose(): void {
    if (this.gone) return;
    this.res.cork(() => this.res.end("", true));
    this.onEnd();
  }

  private async writeSlices(bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += STREAM_SLICE_BYTES) {
      if (!(await this.write(bytes.subarray(at, at + STREAM_SLICE_BYTES)))) return false;
    }
    return true;
  }

  private untilWritable(): Promise<boolean> {
    if (!this.listening) {
      this.listening = true;
      this.res.onWritable(() => {
        // The library drains its own buffer only after this returns: let it, before more is written.
        setImmediate(() => this.release(!this.closed));
        return true;
      });
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private release(open: boolean): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve(open);
  }
}

function writeHead(res: UwsResponse, status: number, headers: HeaderList): void {
  if (status !== 200) res.writeStatus(statusLine(status));
  for (const header of headers) res.writeHeader(header[0], header[1]);
}

const LINE_BREAK = /[\r\n\0]/;

/** The library writes values as they are; a line break in one would start another header. Names are ours, never a user's. */
function checkHeaders(headers: HeaderList, guard: Guard): void {
  if (headers === guard.checked) return;
  for (const header of headers) {
    if (LINE_BREAK.test(header[1])) throw new Error(`the value of header '${header[0]}' contains a line break`);
  }
  guard.checked = headers;
}
