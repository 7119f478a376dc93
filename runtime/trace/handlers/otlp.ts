/** The OTLP/HTTP receiver: answers in the type of the request, with a google.rpc.Status when it fails. */
import { type Answer, detail, type Handlers, withStatus } from "../http/answer.js";
import { isProblem, mediaType } from "../ingest/body.js";
import { protobufField } from "../ingest/otlp/protobuf.js";
import type { HandlerContext } from "./context.js";
import { rawBody, RETRY_AFTER } from "./ingest.js";

const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";

/** google.rpc.Code */
const RPC = { invalidArgument: 3, resourceExhausted: 8, unavailable: 14 } as const;

export function otlpHandlers(context: HandlerContext): Pick<Handlers, "ingestSpans"> {
  return {
    async ingestSpans(_, request) {
      const type = mediaType(request.headers["content-type"] ?? "");
      if (type !== PROTOBUF && type !== JSON_TYPE) return { status: 415, body: detail(`Content-Type must be ${PROTOBUF} or ${JSON_TYPE}`) };
      const read = await context.intake.spans(rawBody(context, request), type === PROTOBUF);
      if (isProblem(read)) return read.status === 400 ? failure(type, 400, RPC.invalidArgument, read.message) : withStatus(read.status, { body: detail(read.message) });
      const { batches, refused, reason } = read;
      const refusal = context.queue.take(batches);
      if (refusal === "full") return { ...failure(type, 429, RPC.resourceExhausted, "the ingestion queue is full"), headers: RETRY_AFTER };
      if (refusal !== null) return { ...failure(type, 503, RPC.unavailable, refusal === "storage" ? "the disk is full" : "the service is stopping"), headers: RETRY_AFTER };
      await context.queue.pace(batches.reduce((sum, { count }) => sum + count, 0));
      return success(type, refused, reason);
    },
  };
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
