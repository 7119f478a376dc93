/**
 * The body of one request, on its way from the library to the handler: bounded by the route's limit and by the budget
 * of the server, discarded where the request is refused, and kept only until the handler has answered.
 */
import { BodyReader } from "./body.js";
import type { BodyBudget } from "./body-budget.js";
import type { HeaderList, HttpHandler, HttpServerOptions, Refusal } from "./types.js";
import type { UwsResponse } from "./uws-api.js";
import type { UwsReply } from "./uws-reply.js";
import type { CopiedRequest } from "./uws-request.js";

/** How much of a refused body is read and discarded, so that the client can read the answer. */
export const DISCARD_BYTES = 16 * 1024 * 1024;

/** Errors that are answered here, before or instead of a handler. */
export interface OwnAnswers {
  readonly body: NonNullable<HttpServerOptions["errorBody"]>;
  readonly headers: HeaderList;
}

/** Limits of a route and its server for a body. */
export interface BodyRules {
  readonly limitBytes: number;
  readonly ignored: boolean;
  readonly budget: BodyBudget;
  readonly own: OwnAnswers;
  /** Runs a handler and catches its exceptions and rejections. */
  run(handler: HttpHandler, request: CopiedRequest, reply: UwsReply): void;
}

/** A refusal that closes the connection, because bytes after it could be read as another request. */
export function refuseAndClose(reply: UwsReply, refusal: Refusal): void {
  reply.closes = true;
  reply.refuse(refusal);
}

export function ownRefusal({ body, headers }: OwnAnswers, status: number, code: string, message: string, more: HeaderList = []): Refusal {
  return { status, headers: [...headers, ...more], body: body(code, message) };
}

/** Reads the body for a handler. Called before the library's callback returns. */
export function readBody(res: UwsResponse, request: CopiedRequest, reply: UwsReply, rules: BodyRules, handler: HttpHandler): void {
  let intake: BodyIntake | null = null;
  res.onData((chunk, isLast) => {
    reply.corked = true;
    // The usual case, which needs no more state: the body is one chunk.
    if (intake === null && isLast && !rules.ignored && chunk.byteLength <= rules.limitBytes) runBorrowed(chunk, request, reply, rules, handler);
    else (intake ??= new BodyIntake(request, reply, rules, handler)).take(chunk, isLast);
    reply.corked = false;
  });
}

/** Reads the body while the decision about its request is pending, or discards it. Called before the library's callback returns. */
export function holdBody(res: UwsResponse, request: CopiedRequest, reply: UwsReply, rules: BodyRules): BodyIntake {
  const intake = new BodyIntake(request, reply, rules, null);
  res.onData((chunk, isLast) => {
    reply.corked = true;
    intake.take(chunk, isLast);
    reply.corked = false;
  });
  return intake;
}

/** Runs the handler on the library's own memory, which is invalid afterwards. */
function runBorrowed(chunk: ArrayBuffer, request: CopiedRequest, reply: UwsReply, rules: BodyRules, handler: HttpHandler): void {
  if (reply.aborted || reply.answered) return;
  if (!rules.budget.fits(chunk.byteLength)) {
    refuseAndClose(reply, busy(rules.own));
    return;
  }
  request.borrow(chunk);
  rules.run(handler, request, reply);
  const keptBytes = request.keep();
  if (keptBytes > 0 && !reply.settled && rules.budget.take(keptBytes)) reply.onSettled(() => rules.budget.give(keptBytes));
}

export class BodyIntake {
  private reader: BodyReader | null = null;
  private ignoredBytes = 0;
  private complete = false;
  private refusal: Refusal | null = null;

  /** @param handler `null` until `admit` or `refuse` is called. */
  constructor(
    private readonly request: CopiedRequest,
    private readonly reply: UwsReply,
    private readonly rules: BodyRules,
    private handler: HttpHandler | null,
  ) {}

  /** The handler that a pending decision chose. */
  admit(handler: HttpHandler): void {
    this.handler = handler;
    if (this.complete) this.finish();
  }

  /** Discards the body, including what has arrived, and answers: at once where its length is known, because the library then skips the rest by itself. */
  refuse(refusal: Refusal): void {
    this.refusal = refusal;
    this.ignoredBytes += this.reader?.seenBytes ?? 0;
    this.drop();
    if (this.complete || !this.request.coded) this.answerRefusal();
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    const { reply, rules } = this;
    if (reply.aborted || reply.answered) return;
    if (isLast) this.complete = true;
    if (this.refusal !== null || rules.ignored) {
      this.ignoredBytes += chunk.byteLength;
      if (isLast) this.finish();
      else if (this.ignoredBytes > DISCARD_BYTES) refuseAndClose(reply, this.refusal ?? this.tooLarge());
      return;
    }
    if (this.reader === null && isLast && this.handler !== null && chunk.byteLength <= rules.limitBytes) {
      runBorrowed(chunk, this.request, reply, rules, this.handler);
      return;
    }
    this.collect(chunk, isLast);
  }

  private collect(chunk: ArrayBuffer, isLast: boolean): void {
    const { reply, rules } = this;
    if (this.reader === null) {
      this.reader = new BodyReader(rules.limitBytes, rules.budget);
      reply.onSettled(() => this.drop());
    }
    this.reader.push(chunk);
    if (this.reader.starved) refuseAndClose(reply, busy(rules.own));
    else if (this.reader.over && this.reader.seenBytes > rules.limitBytes + DISCARD_BYTES) refuseAndClose(reply, this.tooLarge());
    else if (isLast) this.finish();
  }

  /** The body is complete, and perhaps the decision about it too. */
  private finish(): void {
    const { reader, request, reply, rules, handler } = this;
    if (reply.aborted || reply.answered) return;
    if (this.refusal !== null) this.answerRefusal();
    else if (handler === null) return;
    else if (reader?.over === true) refuseAndClose(reply, this.tooLarge());
    else {
      if (reader !== null) request.own(reader.finish());
      rules.run(handler, request, reply);
    }
  }

  private answerRefusal(): void {
    if (this.refusal !== null) this.reply.refuse(this.refusal);
  }

  private drop(): void {
    this.reader?.release();
  }

  private tooLarge(): Refusal {
    const { limitBytes, own } = this.rules;
    return bodyTooLarge(own, limitBytes);
  }
}

function busy(own: OwnAnswers): Refusal {
  return ownRefusal(own, 503, "busy", "too many request bodies are being read; try again", [["retry-after", "1"]]);
}

export function bodyTooLarge(own: OwnAnswers, limitBytes: number): Refusal {
  return ownRefusal(own, 413, "body_too_large", limitBytes === 0 ? "this path takes no body" : `the body is larger than ${limitBytes} bytes`);
}
