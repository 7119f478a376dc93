/** What a run was asked and what it answered, as one line each; and a payload as text that a person can read. */
import { field, type Fields, isFields, isList, type Json, type Message, parsed } from "./message.js";
import { conversation, type Hints } from "./normalise.js";

/** Characters of a preview. */
export const PREVIEW_CHARS = 200;
/** Longer payloads are not parsed for a preview: it must not delay what is recorded. */
const MAX_PAYLOAD = 500_000;
const MAX_DEPTH = 4;

/** Keys under which programs keep what a run was asked, the most telling one first. */
const QUESTIONS = ["question", "query", "user_input", "user_message", "input", "inputs", "prompt", "message", "text", "task", "topic", "goal", "request", "search", "q", "args", "kwargs", "value", "content"];
const ANSWERS = ["answer", "final_answer", "final_output", "output", "outputs", "result", "response", "text", "message", "summary", "report", "return_value", "return_values", "value", "content"];

/** What was asked: the last message of the user, or the text under a known key. `null` when there is neither. */
export function questionOf(payload: string, kind: Hints["kind"]): string | null {
  return previewOf(payload, { side: "input", kind });
}

/** What was answered: the last message of the assistant that has a text, or the text under a known key. */
export function answerOf(payload: string, kind: Hints["kind"]): string | null {
  return previewOf(payload, { side: "output", kind });
}

function previewOf(payload: string, hints: Hints): string | null {
  if (payload.length > MAX_PAYLOAD) return null;
  const found = saidIn(parsed(payload), hints);
  return found === null ? null : oneLine(found);
}

/** The whole text that a preview is the beginning of: the question of an input, the answer of an output. */
export function saidIn(value: Json, hints: Hints): string | null {
  const [role, keys] = hints.side === "input" ? ["user", QUESTIONS] as const : ["assistant", ANSWERS] as const;
  const { messages } = conversation(value, hints);
  const said = messages.findLast((message) => message.role === role && message.text.trim() !== "") ?? messages.findLast((message) => message.role !== "system" && message.text.trim() !== "");
  return said?.text ?? textUnder(value, keys, 0);
}

function textUnder(given: Json, keys: readonly string[], depth: number): string | null {
  const value = parsed(given);
  if (typeof value === "string") return value.trim() === "" ? null : value;
  if (depth > MAX_DEPTH) return null;
  if (isList(value)) return value.length === 1 && value[0] !== undefined ? textUnder(value[0], keys, depth + 1) : null;
  if (!isFields(value)) return null;
  for (const key of keys) {
    const inner = field(value, key);
    const found = inner === undefined ? null : textUnder(inner, keys, depth + 1);
    if (found !== null) return found;
  }
  // A single field can mean nothing else.
  const values = Object.values(value);
  return values.length === 1 && values[0] !== undefined && typeof values[0] === "string" ? textUnder(values[0], keys, depth + 1) : null;
}

/** A text as a preview shows it. */
export function oneLine(found: string): string {
  const line = found.slice(0, PREVIEW_CHARS * 4).replace(/[\s\u0000-\u001f]+/g, " ").trim();
  const points = [...line];
  return points.length <= PREVIEW_CHARS ? line : `${points.slice(0, PREVIEW_CHARS - 1).join("")}…`;
}

/** The payload as readable text: messages by role, everything else as `key: value` lines. */
export function readableText(payload: Json, hints: Hints): string {
  const { messages, rest } = conversation(payload, hints);
  const lines = messages.map(messageText);
  if (rest !== null) lines.push(...plainLines(rest));
  return lines.join("\n");
}

function messageText(message: Message): string {
  const calls = message.tool_calls.map((call) => `${call.name}(${typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)})`);
  return [`${message.name ?? message.role}: ${message.text}`, message.reasoning, ...calls, ...message.other.map((part) => plainLines(part).join(" "))].filter((part) => part !== "").join(" ");
}

const MAX_LINES = 2000;

function plainLines(value: Json): string[] {
  const lines: string[] = [];
  const waiting: (readonly [string, Json])[] = [["", value]];
  for (let next = waiting.pop(); next !== undefined && lines.length < MAX_LINES; next = waiting.pop()) {
    const [name, inner] = next;
    if (isList(inner)) for (let index = inner.length - 1; index >= 0; index--) waiting.push([name, inner[index] ?? null]);
    else if (isFields(inner)) waiting.push(...Object.entries(inner as Fields).reverse());
    else if (inner !== null) lines.push(name === "" ? String(inner) : `${name}: ${String(inner)}`);
  }
  return lines;
}
