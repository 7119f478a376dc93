/** The conversation of one call: what was said before, what is new in this turn, and what was answered. */
import type { Json, Message } from "../../trace/messages/message.js";
import { type Hints, normalise } from "../../trace/messages/normalise.js";
import type { SpanKind } from "./spans.js";

export interface Chat {
  /** Messages that an earlier turn has shown already. */
  readonly earlier: readonly Message[];
  /** What this turn adds to them. */
  readonly fresh: readonly Message[];
  readonly output: readonly Message[];
  /** Results of tools, by the id of their call. */
  readonly results: ReadonlyMap<string, Message>;
  /** Payloads in which there is no message: the conversation shows nothing of them. */
  readonly unread: { readonly input: boolean; readonly output: boolean };
}

/** Kind of a call in the terms of the normaliser. */
export function hintKind(kind: SpanKind): Hints["kind"] {
  return kind === "llm" || kind === "tool" || kind === "retriever" ? kind : "chain";
}

/** `null` when neither payload holds a message. */
export function chatOf(input: Json, output: Json, kind: SpanKind): Chat | null {
  const hints = { kind: hintKind(kind) } as const;
  const asked = normalise(input, { ...hints, side: "input" });
  const said = normalise(output, { ...hints, side: "output" });
  if (asked.length === 0 && said.length === 0) return null;
  const answered = said.slice(commonPrefix(asked, said));
  const last = asked.findLastIndex((message) => message.role === "assistant");
  const calls = new Set([...asked, ...answered].flatMap((message) => message.tool_calls.map((call) => call.id)));
  const results = new Map<string, Message>();
  for (const message of [...asked, ...answered]) if (message.role === "tool" && message.tool_call_id !== null && calls.has(message.tool_call_id)) results.set(message.tool_call_id, message);
  // The calls of the last turn are shown with their results, which are new.
  const turn = last >= 0 && (asked[last]?.tool_calls.length ?? 0) > 0 ? last : last + 1;
  return { earlier: asked.slice(0, turn), fresh: asked.slice(turn), output: answered, results, unread: { input: asked.length === 0, output: said.length === 0 } };
}

/** A chain often returns its whole state: what went in comes out again, with the answer after it. */
function commonPrefix(a: readonly Message[], b: readonly Message[]): number {
  let count = 0;
  while (count < a.length && count < b.length && sameMessage(a[count], b[count])) count += 1;
  return count;
}

function sameMessage(a: Message | undefined, b: Message | undefined): boolean {
  return a !== undefined && b !== undefined && a.role === b.role && a.text === b.text && a.tool_call_id === b.tool_call_id && JSON.stringify(a.tool_calls) === JSON.stringify(b.tool_calls);
}

/** Whether a result is shown with its call and not as a message of its own. */
export function isJoined(message: Message, chat: Chat): boolean {
  return message.role === "tool" && message.tool_call_id !== null && chat.results.get(message.tool_call_id) === message;
}
