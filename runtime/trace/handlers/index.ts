/** One handler for each operation of the OpenAPI document; a missing one does not compile. */
import type { Handlers } from "../http/answer.js";
import type { HandlerContext } from "./context.js";
import { ingestHandlers } from "./ingest.js";
import { otlpHandlers } from "./otlp.js";
import { queryHandlers } from "./queries.js";
import { runHandlers } from "./runs.js";
import { serviceHandlers } from "./service.js";

export function createHandlers(context: HandlerContext): Handlers {
  return { ...serviceHandlers(context), ...runHandlers(context), ...queryHandlers(context), ...ingestHandlers(context), ...otlpHandlers(context) };
}
