/** Where a payload has its messages. */
import { field, type Fields, first, isFields, isList, type Json, type Message, newDraft, finishDraft, parsed } from "./message.js";
import { readMessage } from "./envelopes.js";
import { isPart, readContent } from "./parts.js";

/** What is known of the step beside its payload. */
export interface Hints {
  /** The payload is what went into the call, or what came out of it. */
  readonly side: "input" | "output";
  /** What the call is; plain text is a message only for models and agents. */
  readonly kind: "llm" | "chain" | "tool" | "retriever";
}

export interface Conversation {
  readonly messages: readonly Message[];
  /** Fields of the payload that hold no message: parameters, tools, usage. `null` when nothing is left. */
  readonly rest: Json;
}

const MAX_DEPTH = 6;
const MAX_MESSAGES = 10_000;

/**
 * The messages of a payload in their order; an empty list when it has none that a table knows. Never throws, and never
 * recurses deeper than a fixed bound, whatever the payload is.
 */
export function normalise(payload: Json, hints: Hints): readonly Message[] {
  return conversation(payload, hints).messages;
}

/** The messages and what is left of the payload. */
export function conversation(payload: Json, hints: Hints): Conversation {
  // Arguments of a tool are data, also where they happen to look like a message.
  if (hints.side === "input" && (hints.kind === "tool" || hints.kind === "retriever")) return { messages: [], rest: payload };
  const found = read(parsed(payload), hints, 0);
  return found === null || found.messages.length === 0 ? { messages: [], rest: payload } : { messages: found.messages.slice(0, MAX_MESSAGES), rest: found.rest };
}

function read(value: Json, hints: Hints, depth: number): Conversation | null {
  if (depth > MAX_DEPTH) return null;
  if (isList(value)) {
    const messages = readList(value, hints, depth);
    return messages === null ? null : { messages, rest: null };
  }
  if (!isFields(value)) return null;
  const state = unserialized(value);
  if (state !== null) return read(state, hints, depth + 1);
  for (const container of CONTAINERS) {
    const found = container.read(value, hints, depth);
    if (found === null) continue;
    const { takes } = container;
    const left = takes === "all" ? [] : Object.entries(value).filter(([key]) => !takes.includes(key));
    const inner = found.rest === null ? [] : [["rest", found.rest] as const];
    const rest = [...left, ...inner];
    return { messages: found.messages, rest: rest.length === 0 ? null : Object.fromEntries(rest) };
  }
  const single = readMessage(value, roleFor(hints));
  return single === null ? null : { messages: single, rest: null };
}

/** LangChain serializes whole states; what matters is inside. */
function unserialized(fields: Fields): Json | null {
  const kwargs = field(fields, "kwargs");
  const id = field(fields, "id");
  if (field(fields, "lc") === undefined || !isList(id) || !isFields(kwargs)) return null;
  return /Message(Chunk)?$/.test(String(id.at(-1) ?? "")) ? null : kwargs;
}

function roleFor({ side, kind }: Hints): string {
  return kind === "tool" ? "tool" : side === "input" ? "user" : "assistant";
}

function fromText(content: string, role: string): Conversation | null {
  if (content.trim() === "") return null;
  const draft = newDraft(role);
  draft.texts.push(content);
  return { messages: finishDraft(draft), rest: null };
}

/** A list of messages; a list of such lists, as LangChain batches them, is one conversation. */
function readList(list: readonly Json[], hints: Hints, depth: number): readonly Message[] | null {
  const role = roleFor(hints);
  const messages: Message[] = [];
  let known = 0;
  for (const item of list) {
    let found = readMessage(item, role);
    if (found === null && isList(item) && depth < MAX_DEPTH) found = readList(item, hints, depth + 1);
    // Parts of one message without a message around them: MCP's content, Anthropic's system prompt.
    if (found === null && isFields(item) && isPart(item)) {
      const draft = newDraft(role);
      readContent(item, draft);
      found = finishDraft(draft);
    }
    if (found !== null) {
      known += 1;
      messages.push(...found);
    } else messages.push({ role: "unknown", text: "", tool_calls: [], tool_call_id: null, images: [], reasoning: "", name: null, is_error: false, other: [item] });
  }
  return known === 0 || known * 2 < list.length ? null : messages;
}

interface Container {
  readonly format: string;
  /** The fields that it reads; the others are the rest. */
  readonly takes: readonly string[] | "all";
  readonly read: (fields: Fields, hints: Hints, depth: number) => Conversation | null;
}

/** Instructions stand beside the messages in most requests. */
const INSTRUCTIONS = ["system", "instructions", "system_instructions", "systemInstruction", "system_instruction", "systemPrompt", "system_prompt"];

/** A container whose messages are under one key, with instructions beside them. */
function under(format: string, key: string): Container {
  return {
    format, takes: [key, ...INSTRUCTIONS],
    read(fields, hints, depth) {
      const value = parsed(field(fields, key) ?? null);
      const messages = isList(value) ? readList(value, hints, depth + 1) : isFields(value) ? (read(value, hints, depth + 1)?.messages ?? null) : null;
      return messages === null ? null : { messages: [...instructions(fields), ...messages], rest: null };
    },
  };
}

function instructions(fields: Fields): readonly Message[] {
  const value = parsed(first(fields, ...INSTRUCTIONS) ?? null);
  if (value === null) return [];
  const draft = newDraft("system");
  readContent(isFields(value) && isList(field(value, "parts")) ? field(value, "parts") : value, draft);
  return draft.texts.length === 0 ? [] : finishDraft(draft);
}

/** A container that only holds another payload. */
function around(key: string): Container {
  return {
    format: `{${key}: payload}`, takes: [key],
    read(fields, hints, depth) {
      const value = parsed(field(fields, key) ?? null);
      if (typeof value === "string") return hints.kind === "llm" ? withInstructions(fields, fromText(value, roleFor(hints))) : null;
      if (value === null || typeof value !== "object") return null;
      if (isList(value) && value.length > 0 && value.every((item) => typeof item === "string")) {
        return hints.kind === "llm" ? { messages: value.flatMap((item) => fromText(String(item), roleFor(hints))?.messages ?? []), rest: null } : null;
      }
      const found = read(value, hints, depth + 1);
      return found === null ? null : withInstructions(fields, found);
    },
  };
}

function withInstructions(fields: Fields, found: Conversation | null): Conversation | null {
  return found === null ? null : { messages: [...instructions(fields), ...found.messages], rest: found.rest };
}

const AI_SDK_OUTPUT: Container = {
  format: "AI SDK: {text, toolCalls}", takes: ["text", "toolCalls", "tool_calls", "reasoningText", "reasoning"],
  read(fields, hints) {
    const calls = first(fields, "toolCalls", "tool_calls");
    if (hints.side !== "output" || !isList(calls) || ["role", "type", "content"].some((name) => field(fields, name) !== undefined)) return null;
    const found = readMessage({ role: "assistant", content: field(fields, "text") ?? "", tool_calls: calls, reasoning: first(fields, "reasoningText", "reasoning") ?? null }, "assistant");
    return found === null ? null : { messages: found, rest: null };
  },
};

/** Calls that are recorded beside the text of the answer. */
const MESSAGES_AND_CALLS: Container = {
  format: "messages as text, with calls beside it", takes: ["messages", "tool_calls"],
  read(fields, hints) {
    const content = field(fields, "messages");
    const calls = parsed(field(fields, "tool_calls") ?? null);
    if ((content !== undefined && typeof content !== "string") || (content === undefined && !isList(calls))) return null;
    if (field(fields, "role") !== undefined || field(fields, "content") !== undefined || (hints.kind !== "llm" && content === undefined)) return null;
    const structured = typeof content === "string" ? parsed(content) : null;
    if (structured !== null && typeof structured === "object") return null;
    const found = readMessage({ role: roleFor(hints), content: content ?? "", ...(isList(calls) ? { tool_calls: calls } : {}) }, roleFor(hints));
    return found === null ? null : { messages: found, rest: null };
  },
};

const MCP_RESULT: Container = {
  format: "MCP: {content: parts, isError}", takes: ["content", "isError", "structuredContent", "_meta"],
  read(fields, hints) {
    const content = field(fields, "content");
    if (field(fields, "role") !== undefined || !isList(content) || content.length === 0 || !content.every((part) => isFields(part) && isPart(part))) return null;
    if (field(fields, "type") !== undefined) return null;
    const draft = newDraft(hints.kind === "tool" ? "tool" : roleFor(hints));
    readContent(content, draft);
    draft.is_error = field(fields, "isError") === true;
    return { messages: finishDraft(draft), rest: null };
  },
};

/** LangGraph streams states by node: {agent: {messages: [...]}}. */
const BY_NODE: Container = {
  format: "LangGraph: {node: {messages}}", takes: "all",
  read(fields, hints, depth) {
    if (hints.kind !== "chain" || Object.keys(fields).length > 20) return null;
    const found = Object.values(fields).flatMap((value) => (isFields(value) && field(value, "messages") !== undefined ? (read(value, hints, depth + 1)?.messages ?? []) : []));
    return found.length === 0 ? null : { messages: found, rest: null };
  },
};

/** Tried in this order. */
const CONTAINERS: readonly Container[] = [
  under("chat: {messages}", "messages"),
  MESSAGES_AND_CALLS,
  under("Gemini: {contents}", "contents"),
  under("OpenAI: {choices}", "choices"),
  under("LangChain: {generations}", "generations"),
  under("Gemini: {candidates}", "candidates"),
  under("OTel GenAI: {input_messages}", "input_messages"),
  under("OTel GenAI: {output_messages}", "output_messages"),
  under("Haystack: {replies}", "replies"),
  AI_SDK_OUTPUT,
  MCP_RESULT,
  ...["outputs", "output", "inputs", "input", "prompt", "prompts", "response", "result", "update", "value", "data", "chat_history", "message", "new_messages", "completion"].map(around),
  BY_NODE,
];
