/** Answers as HTTP: one JSON body, or an event stream where the client wants one or notifications are sent on the way. */
import type { Answer } from "../../mcp/answer.js";
import { bodyText } from "../../mcp/dispatch.js";
import { JSON_TYPE } from "../../http/errors.js";
import type { HeaderList, HttpReply } from "../../transport/types.js";

export const EVENT_TYPE: HeaderList = [["content-type", "text/event-stream"], ["cache-control", "no-cache"], ["x-accel-buffering", "no"]];

export type AnswerForm = "json" | "events";

/** How one request wants to be answered. */
export interface AnswerTo {
  readonly reply: HttpReply;
  readonly form: AnswerForm;
  /** The Accept header. */
  readonly accept: string;
  /** Headers for the origin that asked. */
  readonly cors: HeaderList;
}

/** What the client takes: JSON unless it accepts only an event stream; `null` when it takes neither. */
export function answerForm(accept: string): AnswerForm | null {
  if (accept === "" || accept.includes("application/json") || accept.includes("*/*") || accept.includes("application/*")) return "json";
  return mayGetEvents(accept) ? "events" : null;
}

/** Whether the client accepts event streams by name; one that accepts anything may still expect one body. */
export function takesEvents(accept: string): boolean {
  return accept.includes("text/event-stream");
}

/** Whether the client can be answered with a stream where there is no other way. */
export function mayGetEvents(accept: string): boolean {
  return accept === "" || takesEvents(accept) || accept.includes("text/*") || accept.includes("*/*");
}

/** One event of a stream. */
export function eventText(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

export function sendAnswer({ reply, form, cors }: AnswerTo, answered: Answer | null): void {
  if (answered === null) {
    reply.send(202, cors, "");
    return;
  }
  const { status, headers } = answered;
  if (form === "events" && status === 200) {
    reply.send(200, [...EVENT_TYPE, ...cors], eventText(bodyText(answered)));
    return;
  }
  reply.send(status, cors.length === 0 && headers.length === 0 ? JSON_TYPE : [...JSON_TYPE, ...headers, ...cors], answered.body);
}
