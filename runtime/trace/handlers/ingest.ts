/** Events on their way in, over HTTP. */
import type { HeaderList, HttpRequest } from "../../transport/types.js";
import { detail, type Handlers, withStatus } from "../http/answer.js";
import { isProblem } from "../ingest/body.js";
import type { RawBody } from "../ingest/intake.js";
import type { Refusal } from "../ingest/queue.js";
import { StorageFullError, StoreUnavailableError } from "../store/store.js";
import { type HandlerContext, isOn } from "./context.js";

type IngestHandlers = Pick<Handlers, "ingestEvents" | "registerTools">;

/** A client that was refused for lack of room may come back after this. */
export const RETRY_AFTER: HeaderList = [["retry-after", "1"]];

export function ingestHandlers(context: HandlerContext): IngestHandlers {
  const { intake, store, queue } = context;
  return {
    async ingestEvents({ wait }, request) {
      const read = await intake.events(rawBody(context, request));
      if (isProblem(read)) {
        context.counters.dropped += read.events ?? 0;
        return withStatus(read.status, { body: detail(read.message) });
      }
      const { batches, accepted, rejected } = read;
      const refusal = queue.take(batches, isOn(wait));
      if (refusal !== null) return refused(refusal);
      if (!isOn(wait)) {
        await queue.pace(accepted);
        return { status: 202, body: { accepted, rejected, queue_depth: queue.depth } };
      }
      const lost = await queue.flushed(accepted);
      // Not committed, and not lost either: they wait until the store can be reached again.
      if (lost instanceof StoreUnavailableError) return { status: 202, body: { accepted, rejected, queue_depth: queue.depth } };
      if (lost instanceof StorageFullError) return { status: 507, body: detail("the disk is full; the events were not stored") };
      if (lost !== null) return { status: 503, body: detail("the events could not be stored"), headers: RETRY_AFTER };
      return { status: 200, body: { accepted, rejected, queue_depth: queue.depth } };
    },

    async registerTools(_, request) {
      const read = await intake.registration(rawBody(context, request));
      if (isProblem(read)) return withStatus(read.status, { body: detail(read.message) });
      if ("invalid" in read) return { status: 422, body: { detail: [...read.invalid] } };
      try {
        return { status: 200, body: { server: read.server, registered: await store.registerTools(read.server, read.tools) } };
      } catch (error) {
        if (error instanceof Error && error.name === "StorageFullError") return { status: 507, body: detail("the disk is full") };
        throw error;
      }
    },
  };
}

function refused(refusal: Refusal) {
  switch (refusal) {
    case "full":
      return { status: 429, body: detail("the ingestion queue is full; nothing of the request was taken"), headers: RETRY_AFTER } as const;
    case "storage":
      return { status: 507, body: detail("the disk is full; nothing of the request was taken") } as const;
    case "away":
      return { status: 503, body: detail("the store can't be reached; nothing of the request was taken"), headers: RETRY_AFTER } as const;
    case "stopping":
      return { status: 503, body: detail("the service is stopping"), headers: RETRY_AFTER } as const;
    default:
      return refusal satisfies never;
  }
}

/** The body of a request, for the intake. */
export function rawBody({ reading }: HandlerContext, request: HttpRequest): RawBody {
  return { bytes: request.body, encoding: request.headers["content-encoding"] ?? "", type: request.headers["content-type"] ?? "", atMs: reading.nowUs() / 1000 };
}
