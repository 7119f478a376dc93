/** Events on their way in, over HTTP. */
import type { HeaderList, HttpRequest } from "../../transport/types.js";
import type { components } from "../api.types.gen.js";
import { detail, type Handlers, withStatus } from "../http/answer.js";
import { bodyText, decodeBody, isProblem, mediaType, parseEntries, Unreadable } from "../ingest/body.js";
import { readEvent } from "../ingest/event.js";
import type { Refusal } from "../ingest/queue.js";
import type { Incoming } from "../model.js";
import { StorageFullError, StoreUnavailableError } from "../store/store.js";
import { type HandlerContext, isOn } from "./context.js";

type IngestHandlers = Pick<Handlers, "ingestEvents" | "registerTools">;
type Rejection = components["schemas"]["Rejection"];
type Invalid = components["schemas"]["ValidationError"];

/** A client that was refused for lack of room may come back after this. */
export const RETRY_AFTER: HeaderList = [["retry-after", "1"]];

/** Objects take about this many times their JSON. */
const MEMORY_FACTOR = 2;

export function ingestHandlers(context: HandlerContext): IngestHandlers {
  const { store, queue } = context;
  return {
    async ingestEvents({ wait }, request) {
      const body = await readJson(request);
      if (isProblem(body)) return withStatus(body.status, { body: detail(body.message) });
      const entries = parseEntries(body, mediaType(request.headers["content-type"] ?? ""));
      if (isProblem(entries)) return withStatus(entries.status, { body: detail(entries.message) });
      const { events, rejected } = readEntries(context, entries, body);
      const refusal = queue.offer(events, body.length * MEMORY_FACTOR, isOn(wait));
      if (refusal !== null) return refused(refusal);
      if (!isOn(wait)) return { status: 202, body: { accepted: events.length, rejected, queue_depth: queue.depth } };
      const lost = await queue.flushed(events.length);
      // Not committed, and not lost either: they wait until the store can be reached again.
      if (lost instanceof StoreUnavailableError) return { status: 202, body: { accepted: events.length, rejected, queue_depth: queue.depth } };
      if (lost instanceof StorageFullError) return { status: 507, body: detail("the disk is full; the events were not stored") };
      if (lost !== null) return { status: 503, body: detail("the events could not be stored") };
      return { status: 200, body: { accepted: events.length, rejected, queue_depth: queue.depth } };
    },

    async registerTools(_, request) {
      const body = await readJson(request);
      if (isProblem(body)) return withStatus(body.status, { body: detail(body.message) });
      if (mediaType(request.headers["content-type"] ?? "") !== "application/json") return { status: 415, body: detail("Content-Type must be application/json") };
      let value: unknown;
      try {
        value = JSON.parse(body);
      } catch (error) {
        return { status: 400, body: detail(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`) };
      }
      const read = readRegistration(value);
      if ("invalid" in read) return { status: 422, body: { detail: read.invalid } };
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
      return { status: 503, body: detail("the service is stopping") } as const;
    default:
      return refusal satisfies never;
  }
}

async function readJson(request: HttpRequest): Promise<string | { readonly status: 400 | 413 | 415; readonly message: string }> {
  const bytes = await decodeBody(request.body, request.headers["content-encoding"] ?? "");
  return isProblem(bytes) ? bytes : bodyText(bytes);
}

function readEntries(context: HandlerContext, entries: readonly unknown[], raw: string): { events: Incoming[]; rejected: Rejection[] } {
  const events: Incoming[] = [];
  const rejected: Rejection[] = [];
  const redactor = context.redactor?.concerns(raw) === true ? context.redactor : null;
  entries.forEach((entry, index) => {
    const read = entry instanceof Unreadable ? entry.reason : readEvent(entry, context.reading, redactor);
    if (typeof read === "string") rejected.push({ index, error: read });
    else events.push(read);
  });
  return { events, rejected };
}

const MAX_TOOLS = 10_000;
const MAX_NAME = 200;

function readRegistration(value: unknown): { server: string; tools: readonly string[] } | { invalid: Invalid[] } {
  const fields = (typeof value === "object" && value !== null && !Array.isArray(value) ? value : {}) as { readonly server?: unknown; readonly tools?: unknown };
  const invalid: Invalid[] = [];
  const server = nameOf(fields.server, ["body", "server"], invalid);
  const given = fields.tools;
  if (!Array.isArray(given)) invalid.push({ type: "list_type", loc: ["body", "tools"], msg: "must be a list", input: given ?? null });
  else if (given.length > MAX_TOOLS) invalid.push({ type: "too_long", loc: ["body", "tools"], msg: `must have at most ${MAX_TOOLS} entries`, input: given.length, ctx: { max_length: MAX_TOOLS } });
  const tools = Array.isArray(given) && given.length <= MAX_TOOLS ? given.map((tool, index) => nameOf(tool, ["body", "tools", index], invalid)) : [];
  return invalid.length > 0 ? { invalid } : { server, tools };
}

function nameOf(value: unknown, loc: (string | number)[], invalid: Invalid[]): string {
  if (typeof value !== "string") invalid.push({ type: value === undefined ? "missing" : "string_type", loc, msg: value === undefined ? "is required" : "must be text", input: value ?? null });
  else if (value === "") invalid.push({ type: "string_too_short", loc, msg: "must have at least 1 character", input: value, ctx: { min_length: 1 } });
  else if (value.length > MAX_NAME) invalid.push({ type: "string_too_long", loc, msg: `must have at most ${MAX_NAME} characters`, input: value, ctx: { max_length: MAX_NAME } });
  return typeof value === "string" ? value.replace(/[\u0000-\u001f]+/g, " ") : "";
}
