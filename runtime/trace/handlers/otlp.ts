/** The OTLP/HTTP receiver: answers in the type of the request, with a google.rpc.Status when it fails. */
import { type Answer, detail, type Handlers, withStatus } from "../http/answer.js";
import { bodyText, decodeBody, isProblem, mediaType } from "../ingest/body.js";
import { readEvent } from "../ingest/event.js";
import { spanEvents } from "../ingest/otlp/events.js";
import { protobufField } from "../ingest/otlp/protobuf.js";
import { type Span, spansOfJson, spansOfProtobuf } from "../ingest/otlp/spans.js";
import type { Incoming } from "../model.js";
import type { HandlerContext } from "./context.js";
import { RETRY_AFTER } from "./ingest.js";

const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";

/** google.rpc.Code */
const RPC = { invalidArgument: 3, resourceExhausted: 8, unavailable: 14 } as const;

export function otlpHandlers(context: HandlerContext): Pick<Handlers, "ingestSpans"> {
  return {
    async ingestSpans(_, request) {
      const type = mediaType(request.headers["content-type"] ?? "");
      if (type !== PROTOBUF && type !== JSON_TYPE) return { status: 415, body: detail(`Content-Type must be ${PROTOBUF} or ${JSON_TYPE}`) };
      const bytes = await decodeBody(request.body, request.headers["content-encoding"] ?? "");
      if (isProblem(bytes)) return bytes.status === 400 ? failure(type, 400, RPC.invalidArgument, bytes.message) : withStatus(bytes.status, { body: detail(bytes.message) });
      let spans: readonly Span[];
      try {
        spans = type === PROTOBUF ? spansOfProtobuf(bytes) : readJson(bytes);
      } catch (error) {
        return failure(type, 400, RPC.invalidArgument, error instanceof Error ? error.message : String(error));
      }
      const { events, refused, reason } = readSpans(context, spans);
      const refusal = context.queue.offer(events, bytes.length * 2);
      if (refusal === "full") return { ...failure(type, 429, RPC.resourceExhausted, "the ingestion queue is full"), headers: RETRY_AFTER };
      if (refusal !== null) return { ...failure(type, 503, RPC.unavailable, refusal === "storage" ? "the disk is full" : "the service is stopping"), headers: RETRY_AFTER };
      return success(type, refused, reason);
    },
  };
}

function readJson(bytes: Buffer): readonly Span[] {
  const text = bodyText(bytes);
  if (isProblem(text)) throw new Error(text.message);
  return spansOfJson(JSON.parse(text));
}

function readSpans({ redactor, reading }: HandlerContext, spans: readonly Span[]): { events: Incoming[]; refused: number; reason: string | null } {
  const mapped = spanEvents(spans);
  const events: Incoming[] = [];
  let { refused, reason } = mapped;
  for (const raw of mapped.events) {
    const event = readEvent(raw, reading, redactor);
    if (typeof event === "string") {
      refused += 1;
      reason ??= event;
    } else events.push(event);
  }
  return { events, refused, reason };
}

function success(type: string, refused: number, reason: string | null): Answer<"ingestSpans"> {
  if (type === JSON_TYPE) {
    return { status: 200, body: refused === 0 ? {} : { partialSuccess: { rejectedSpans: String(refused), errorMessage: reason ?? "" } } };
  }
  const partial = refused === 0 ? Buffer.alloc(0) : protobufField(1, Buffer.concat([protobufField(1, refused), protobufField(2, reason ?? "")]));
  return { status: 200, type: PROTOBUF, bytes: partial };
}

function failure(type: string, status: 400 | 429 | 503, code: number, message: string): Answer<"ingestSpans"> {
  if (type === JSON_TYPE) return withStatus(status, { body: { code, message } });
  return withStatus(status, { type: PROTOBUF, bytes: Buffer.concat([protobufField(1, code), protobufField(2, message)]) } as const);
}
