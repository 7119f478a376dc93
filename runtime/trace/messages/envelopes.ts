/** One message, in whatever its framework wraps it: constructors, stored messages, pairs, typed items, choices. */
import { type Draft, field, type Fields, finishDraft, first, isFields, isList, isRole, type Json, type Message, newDraft, parsed, roleOf, text } from "./message.js";
import { addCall, callOf, isPart, readContent, readOutput } from "./parts.js";

const MAX_UNWRAP = 6;

/** The messages that a value holds (a turn with results of tools holds several), or `null` when it is no message. */
export function readMessage(given: Json, role: string): readonly Message[] | null {
  let value = parsed(given);
  for (let step = 0; step < MAX_UNWRAP; step++) {
    if (isList(value)) return readPair(value);
    if (!isFields(value)) return null;
    const fields: Fields = value;
    const wrapper = WRAPPERS.map((unwrap) => unwrap(fields)).find((inner) => inner !== null);
    if (wrapper === undefined) break;
    value = wrapper;
  }
  if (!isFields(value)) return null;
  for (const { reads, read } of ENVELOPES) {
    if (!reads(value, role)) continue;
    const draft = newDraft(role);
    read(value, draft);
    return finishDraft(draft);
  }
  return null;
}

/** `["human", "text"]` */
function readPair(value: readonly Json[]): readonly Message[] | null {
  const [role, content] = value;
  if (value.length !== 2 || typeof role !== "string" || !isRole(role) || content === undefined) return null;
  const draft = newDraft(roleOf(role));
  readContent(content, draft);
  return finishDraft(draft);
}

/** What is inside a wrapper; `null` when the value isn't wrapped that way. */
type Unwrap = (fields: Fields) => Json | null;

const WRAPPERS: readonly Unwrap[] = [
  // LangChain's serialized objects: {lc, type: "constructor", id: [..., "HumanMessage"], kwargs}
  (fields) => {
    const id = field(fields, "id");
    const kwargs = field(fields, "kwargs");
    if (field(fields, "lc") === undefined || !isList(id) || !isFields(kwargs)) return null;
    const name = String(id.at(-1) ?? "");
    const role = /^(Human|AI|System|Tool|Function|Developer)Message/.exec(name)?.[1];
    return role === undefined ? kwargs : { ...kwargs, role: role.toLowerCase(), type: null };
  },
  // LangChain's stored messages: {type: "human", data: {content}}
  (fields) => {
    const data = field(fields, "data");
    const type = text(fields, "type");
    return isFields(data) && type !== null && isRole(type) && field(data, "content") !== undefined ? { ...data, role: type, type: null } : null;
  },
  // Choices, generations, OpenInference, Ollama: {message: {...}}
  (fields) => {
    const message = parsed(field(fields, "message") ?? null);
    if (!isFields(message) || field(fields, "content") !== undefined) return null;
    const role = text(fields, "role");
    return role !== null && field(message, "role") === undefined ? { ...message, role } : message;
  },
  // Span events and attributes carry parts as JSON text.
  (fields) => {
    const content = field(fields, "content");
    if (typeof content !== "string" || !/^\s*\[\s*\{\s*"type"/.test(content)) return null;
    const parts = parsed(content);
    return isList(parts) && parts.every((part) => isFields(part) && isPart(part)) ? { ...fields, content: parts } : null;
  },
  // Gemini: {content: {role, parts}}
  (fields) => {
    const content = field(fields, "content");
    return isFields(content) && isList(field(content, "parts")) ? content : null;
  },
];

interface Envelope {
  readonly format: string;
  readonly reads: (fields: Fields, role: string) => boolean;
  readonly read: (fields: Fields, into: Draft) => void;
}

const RESPONSE_ITEMS = /^(function_call|custom_tool_call|mcp_call|function_call_output|custom_tool_call_output|reasoning)$/;

const ENVELOPES: readonly Envelope[] = [
  {
    format: "OpenAI responses: typed items",
    reads: (fields) => RESPONSE_ITEMS.test(text(fields, "type") ?? "") && text(fields, "role") === null,
    read(fields, into) {
      const type = text(fields, "type") ?? "";
      if (type !== "reasoning" && !type.endsWith("_output")) into.role = "assistant";
      if (type === "reasoning") into.role = "assistant";
      readContent([fields], into);
      // A call that the service itself made has its result beside it.
      const output = field(fields, "output");
      if (type === "mcp_call" && output !== undefined && output !== null) {
        const result = newDraft("tool");
        result.tool_call_id = text(fields, "id");
        readOutput(output, result);
        into.results.push(result);
      }
    },
  },
  {
    format: "Pydantic AI: {kind: request | response, parts}",
    reads: (fields) => /^(request|response)$/.test(text(fields, "kind") ?? "") && isList(field(fields, "parts")),
    read(fields, into) {
      into.role = text(fields, "kind") === "response" ? "assistant" : "user";
      const parts = field(fields, "parts");
      if (!isList(parts)) return;
      const system = parts.filter((part) => isFields(part) && text(part, "part_kind") === "system-prompt");
      if (system.length > 0) {
        const draft = newDraft("system");
        readContent(system, draft);
        into.results.push(draft);
      }
      readContent(parts.filter((part) => !system.includes(part)), into);
    },
  },
  {
    format: "OTel GenAI, Gemini, AI SDK: {role, parts}",
    reads: (fields) => isList(field(fields, "parts")) && (text(fields, "role") !== null || field(fields, "content") === undefined),
    read(fields, into) {
      into.role = roleOf(text(fields, "role") ?? into.role);
      readContent(field(fields, "parts"), into);
      into.name = text(fields, "name");
    },
  },
  {
    format: "LlamaIndex: {role, blocks}",
    reads: (fields) => isList(field(fields, "blocks")) && text(fields, "role") !== null,
    read(fields, into) {
      into.role = roleOf(text(fields, "role") ?? into.role);
      readContent(field(fields, "blocks"), into);
      const extra = field(fields, "additional_kwargs");
      if (isFields(extra)) readExtras(extra, into);
    },
  },
  {
    format: "Haystack: {_role, _content}",
    reads: (fields) => text(fields, "_role") !== null && isList(field(fields, "_content")),
    read(fields, into) {
      into.role = roleOf(text(fields, "_role") ?? into.role);
      readContent(field(fields, "_content"), into);
    },
  },
  {
    format: "role and content: OpenAI chat, Anthropic, LangChain, Bedrock, OpenInference, Ollama, MCP prompts",
    reads: (fields) => roleField(fields) !== null && ["content", "contents", "tool_calls", "text", "parts", "function_call", "reasoning_content", "tool_plan"].some((name) => field(fields, name) !== undefined),
    read(fields, into) {
      into.role = roleOf(roleField(fields) ?? into.role);
      into.name = text(fields, "name", "tool_name");
      into.tool_call_id = text(fields, "tool_call_id", "toolCallId");
      into.is_error = text(fields, "status") === "error" || field(fields, "isError") === true || field(fields, "is_error") === true;
      const content = first(fields, "content", "contents", "text");
      if (into.role === "tool" && isFields(content)) readOutput(content, into);
      else readContent(content, into);
      readExtras(fields, into);
      const extra = field(fields, "additional_kwargs");
      if (isFields(extra)) readExtras(extra, into);
    },
  },
  {
    format: "legacy completions and generations: {text}",
    reads: (fields, role) => text(fields, "text") !== null && role !== "tool" && (["finish_reason", "generation_info", "generationInfo"].some((name) => field(fields, name) !== undefined) || Object.keys(fields).length === 1),
    read(fields, into) {
      readContent(text(fields, "text"), into);
    },
  },
];

/** `role`, or LangChain's `type` when it names one. */
function roleField(fields: Fields): string | null {
  const role = text(fields, "role");
  if (role !== null) return role;
  const type = text(fields, "type");
  if (type !== null && isRole(type) && type !== "tool_result" && type !== "input") return type;
  // AutoGen's participants
  const source = text(fields, "source");
  return source !== null && type !== null && /(Message|Event)$/.test(type) ? (source === "user" ? "user" : "assistant") : null;
}

/** What stands beside the content: calls, reasoning, images. */
function readExtras(fields: Fields, into: Draft): void {
  for (const name of ["tool_calls", "toolCalls"]) {
    const calls = field(fields, name);
    if (isList(calls)) for (const call of calls) addGiven(call, into);
  }
  const legacy = field(fields, "function_call");
  if (isFields(legacy) && into.tool_calls.length === 0) addGiven(legacy, into);
  const reasoning = text(fields, "reasoning_content", "reasoning", "thinking", "tool_plan");
  if (reasoning !== null && reasoning !== "") into.reasonings.push(reasoning);
  const refusal = text(fields, "refusal");
  if (refusal !== null && refusal !== "") into.texts.push(refusal);
  const images = field(fields, "images");
  if (isList(images)) for (const image of images) if (typeof image === "string") into.images.push({ url: image.startsWith("data:") || image.startsWith("http") ? image : `data:image/png;base64,${image}` });
}

function addGiven(given: Json, into: Draft): void {
  const call = isFields(given) ? callOf(given) : null;
  if (call === null) into.other.push(given);
  else addCall(call, into);
}
