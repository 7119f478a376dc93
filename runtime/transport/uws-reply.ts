/**
 * Answers on a uWS response. The library's rules are kept here: nothing is touched after the answer or an abort,
 * writes outside a callback are corked, large bodies wait for the socket instead of filling memory, HEAD has no body.
 */
import { STATUS_CODES } from "node:http";
import type { HeaderList, HttpReply, HttpStream } from "./types.js";
import type { UwsResponse } from "./uws-api.js";

/** Above this a body is handed over as the socket takes it; `end` would hold a second copy per connection. */
const LARGE_BODY_BYTES = 256 * 1024;
/** One write of a stream; what a slow client leaves unread is bounded by a few of these. */
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
  /** The headers that were looked at last: most answers have the very same ones. */
  checked: HeaderList | null;
}

export class UwsReply implements HttpReply {
  aborted = false;
  /** An answer has been started. */
  answered = false;
  /** Inside a callback of the library, which has corked the socket already. */
  corked = false;
  private listeners: (() => void)[] | null = null;
  /** Set while the answer is not complete and an abort must still be told to it. */
  private open: UwsStream | null = null;
  unsent: Promise<void> | null = null;
  /** Settles `unsent`. */
  private settle: (() => void) | null = null;

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

  send(status: number, headers: HeaderList, body: string | Uint8Array): void {
    if (this.aborted || this.answered) return;
    checkHeaders(headers, this.guard);
    this.answered = true;
    if (this.corked) this.writeAnswer(status, headers, body);
    else this.res.cork(() => this.writeAnswer(status, headers, body));
  }

  /** `send`, then close the connection: what is left of the request must not be read as the next one. */
  sendAndClose(status: number, headers: HeaderList, body: string): void {
    if (this.aborted || this.answered) return;
    this.answered = true;
    this.res.cork(() => {
      writeHead(this.res, status, headers);
      this.res.end(this.head ? "" : body, true);
    });
  }

  stream(status: number, headers: HeaderList): HttpStream {
    if (this.aborted || this.answered) return new UwsStream(this.res, true);
    checkHeaders(headers, this.guard);
    this.answered = true;
    const stream = new UwsStream(this.res, this.head);
    this.open = stream;
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
    this.settle?.();
    const listeners = this.listeners;
    this.listeners = null;
    for (const listener of listeners ?? []) listener();
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
    this.unsent = new Promise((resolve) => (this.settle = resolve));
    res.onWritable((offset) => {
      const [ok, taken] = res.tryEnd(bytes.subarray(offset), bytes.length);
      if (taken) this.settle?.();
      return ok;
    });
  }
}

class UwsStream implements HttpStream {
  private waiting: ((open: boolean) => void)[] = [];
  private listening = false;

  constructor(
    private readonly res: UwsResponse,
    private closed: boolean,
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
    this.res.cork(() => this.res.end());
    this.release(false);
  }

  abort(): void {
    this.closed = true;
    this.release(false);
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
  if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status] ?? "Unknown"}`);
  for (const header of headers) res.writeHeader(header[0], header[1]);
}

const LINE_BREAK = /[\r\n\0]/;

/** The library writes values as they are; a line break in one would start another header. Names are ours, never a user's. */
function checkHeaders(headers: HeaderList, guard: Guard): void {
  if (headers === guard.checked) return;
  for (const header of headers) {
    if (LINE_BREAK.test(header[1])) throw new Error(`the value of header '${header[0]}' holds a line break`);
  }
  guard.checked = headers;
}
