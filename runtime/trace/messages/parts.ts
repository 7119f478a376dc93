/** Parts of messages: text, images, reasoning, calls of tools and their results, as each framework spells them. */
import { type Draft, field, type Fields, first, isFields, isList, type Json, newDraft, parsed, text, type ToolCall } from "./message.js";

/** Adds a part to the message. False: the part isn't what its type says, and stays as it came. */
type PartReader = (part: Fields, into: Draft) => boolean;

const MAX_DEPTH = 8;

/** The content of a message: text, one part, or a list of parts. */
export function readContent(content: Json | undefined, into: Draft, depth = 0): void {
  if (content === undefined || content === null) return;
  if (typeof content === "string") {
    if (content !== "") into.texts.push(content);
  } else if (isList(content) && depth < MAX_DEPTH) for (const part of content) readContent(part, into, depth + 1);
  else if (!isFields(content) || !readPart(content, into, depth)) into.other.push(content);
}

function readPart(part: Fields, into: Draft, depth: number): boolean {
  const inner = field(part, "message_content");
  if (isFields(inner)) return readPart(inner, into, depth);
  const type = text(part, "type", "block_type", "part_kind");
  if (type !== null) {
    const reader = Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : type.startsWith("tool-") ? uiToolPart : undefined;
    if (reader !== undefined) return reader(part, into);
  }
  for (const [key, reader] of BY_KEY) if (field(part, key) !== undefined && field(part, key) !== null) return reader(part, into);
  return false;
}

const textPart: PartReader = (part, into) => {
  const value = first(part, "text", "content", "refusal", "value", "output_text");
  // OpenAI's assistants wrap a text once more.
  const found = isFields(value) ? text(value, "value", "text") : value;
  if (typeof found !== "string") return false;
  into.texts.push(found);
  return true;
};

const reasoningPart: PartReader = (part, into) => {
  const value = first(part, "thinking", "reasoning", "reasoningText", "text", "content", "summary", "reasoning_content");
  const texts: string[] = [];
  collectTexts(value, texts, 0);
  if (texts.length === 0) return field(part, "encrypted_content") !== undefined || field(part, "data") !== undefined || isList(value);
  into.reasonings.push(texts.join("\n"));
  return true;
};

function collectTexts(value: Json | undefined, into: string[], depth: number): void {
  if (typeof value === "string") {
    if (value !== "") into.push(value);
  } else if (isList(value) && depth < MAX_DEPTH) for (const item of value) collectTexts(item, into, depth + 1);
  else if (isFields(value) && depth < MAX_DEPTH) collectTexts(first(value, "text", "thinking", "content", "reasoningText"), into, depth + 1);
}

/** Spellings of a tool call: in OpenAI's the name and the arguments are below `function`. */
export function callOf(given: Fields): ToolCall | null {
  const wrapped = field(given, "tool_call");
  const part = isFields(wrapped) ? wrapped : given;
  const inner = field(part, "function");
  const source = isFields(inner) ? inner : part;
  const name = text(source, "name", "toolName", "tool_name") ?? text(part, "name", "toolName", "tool_name");
  if (name === null) return null;
  const value = first(source, "arguments", "args", "input", "parameters", "tool_kwargs");
  return { id: text(part, "id", "call_id", "tool_call_id", "toolCallId", "toolUseId"), name, arguments: value === undefined ? {} : parsed(value) };
}

/** A call of a tool; frameworks record some both as a part and beside the content. */
export function addCall(call: ToolCall, into: Draft): void {
  if (call.id !== null && into.tool_calls.some((known) => known.id === call.id)) return;
  into.tool_calls.push(call);
}

const callPart: PartReader = (part, into) => {
  const call = callOf(part);
  if (call !== null) addCall({ ...call, id: text(part, "call_id") ?? call.id }, into);
  return call !== null;
};

const resultPart: PartReader = (part, into) => {
  const result = newDraft("tool");
  result.tool_call_id = text(part, "tool_use_id", "tool_call_id", "call_id", "toolCallId", "toolUseId", "id");
  result.name = text(part, "name", "tool_name", "toolName");
  const output = first(part, "content", "output", "result", "response", "error");
  // The AI SDK says in a type what kind of output it is.
  const value = isFields(output) && text(output, "type") !== null && field(output, "value") !== undefined ? field(output, "value") : output;
  readOutput(value, result);
  result.is_error = field(part, "is_error") === true || field(part, "isError") === true || text(part, "status") === "error" || (isFields(output) && /^error/.test(text(output, "type") ?? ""));
  into.results.push(result);
  return true;
};

/** What a tool returned: parts of a message where it has them, else the value as text. */
export function readOutput(value: Json | undefined, into: Draft): void {
  if (value === undefined || value === null) return;
  if (typeof value === "string") into.texts.push(value);
  else if (isList(value) && value.length > 0 && value.every((item) => isFields(item) && isPart(item))) readContent(value, into);
  else if (isFields(value) && isList(field(value, "content")) && (field(value, "content") as readonly Json[]).every((item) => isFields(item) && isPart(item))) {
    readContent(field(value, "content"), into);
    if (field(value, "isError") === true) into.is_error = true;
  } else into.texts.push(JSON.stringify(value));
}

/** Whether a value looks like a part of a message. */
export function isPart(value: Fields): boolean {
  const type = text(value, "type", "block_type", "part_kind");
  if (type !== null) return Object.hasOwn(BY_TYPE, type) || type.startsWith("tool-");
  return BY_KEY.some(([key]) => field(value, key) !== undefined) && Object.keys(value).length <= 4;
}

/** A part of an AI SDK UI message: the call and, once there, its output. */
const uiToolPart: PartReader = (part, into) => {
  const id = text(part, "toolCallId");
  const name = text(part, "toolName") ?? (text(part, "type") ?? "").slice("tool-".length);
  if (id === null || name === "") return false;
  addCall({ id, name, arguments: parsed(first(part, "input", "args") ?? {}) }, into);
  const output = first(part, "output", "result", "errorText");
  if (output !== undefined) {
    const result = newDraft("tool");
    result.tool_call_id = id;
    result.name = name;
    result.is_error = text(part, "state") === "output-error";
    readOutput(output, result);
    into.results.push(result);
  }
  return true;
};

const imagePart: PartReader = (part, into) => {
  const url = imageUrl(part);
  if (url !== null) into.images.push({ url });
  return url !== null;
};

function imageUrl(part: Fields): string | null {
  const inner = first(part, "image_url", "image", "source", "image_file", "inlineData", "inline_data", "blob", "file_data");
  if (isFields(inner)) return imageUrl(inner);
  if (typeof inner === "string") return dataUrl(inner, part);
  const direct = text(part, "url", "uri", "file_uri", "fileUri", "file_id");
  if (direct !== null) return direct;
  const data = first(part, "data", "bytes", "content", "base64");
  return typeof data === "string" ? dataUrl(data, part) : null;
}

function dataUrl(data: string, part: Fields): string {
  if (/^(data:|https?:|gs:|s3:|file:|blob:)/i.test(data)) return data;
  const format = text(part, "format");
  const mime = text(part, "media_type", "mime_type", "mimeType", "mediaType", "image_mimetype") ?? (format === null ? "image/png" : `image/${format}`);
  return `data:${mime};base64,${data}`;
}

/** A file is shown when it is an image, and kept as it came otherwise. */
const filePart: PartReader = (part, into) => {
  const mime = text(part, "mime_type", "mimeType", "media_type", "mediaType") ?? text(part, "modality") ?? "";
  return mime.startsWith("image") ? imagePart(part, into) : false;
};

const resourcePart: PartReader = (part, into) => {
  const resource = field(part, "resource");
  if (isFields(resource)) {
    if (typeof field(resource, "text") === "string") return textPart(resource, into);
    return (text(resource, "mimeType") ?? "").startsWith("image/") && imagePart(resource, into);
  }
  const uri = text(part, "uri");
  if (uri === null) return false;
  into.texts.push([text(part, "name"), uri].filter((item) => item !== null).join(" "));
  return true;
};

/** By `type`, `block_type` or `part_kind`. */
const BY_TYPE: { readonly [type: string]: PartReader } = {
  // OpenAI chat and responses, Anthropic, LangChain, MCP, OTel GenAI, AI SDK, LlamaIndex, Pydantic AI
  text: textPart, input_text: textPart, output_text: textPart, summary_text: textPart, refusal: textPart, "user-prompt": textPart, "system-prompt": textPart, "instruction": textPart,
  thinking: reasoningPart, reasoning: reasoningPart, reasoning_text: reasoningPart, reasoning_content: reasoningPart, redacted_thinking: reasoningPart,
  image_url: imagePart, input_image: imagePart, image: imagePart, image_file: imagePart,
  blob: filePart, uri: filePart, file: filePart, media: filePart, input_file: filePart,
  tool_use: callPart, tool_call: callPart, "tool-call": callPart, function_call: callPart, server_tool_use: callPart, mcp_tool_use: callPart, mcp_call: callPart, custom_tool_call: callPart, server_tool_call: callPart,
  tool_result: resultPart, "tool-result": resultPart, tool_call_response: resultPart, function_call_output: resultPart, mcp_tool_result: resultPart, custom_tool_call_output: resultPart,
  web_search_tool_result: resultPart, code_execution_tool_result: resultPart, "tool-return": resultPart, "tool-error": resultPart, server_tool_result: resultPart,
  "retry-prompt": (part, into) => (field(part, "tool_call_id") === undefined || field(part, "tool_name") === null ? textPart(part, into) : resultPart(part, into)),
  resource: resourcePart, resource_link: resourcePart, embedded_resource: resourcePart,
  "step-start": () => true,
};

/** By the one key that tells what a part without a type is: Gemini, Bedrock, Haystack. */
const BY_KEY: readonly (readonly [string, PartReader])[] = [
  ["functionCall", (part, into) => nested(part, "functionCall", into, callPart)],
  ["function_call", (part, into) => nested(part, "function_call", into, callPart)],
  ["toolUse", (part, into) => nested(part, "toolUse", into, callPart)],
  ["tool_call", (part, into) => nested(part, "tool_call", into, callPart)],
  ["functionResponse", (part, into) => nested(part, "functionResponse", into, resultPart)],
  ["function_response", (part, into) => nested(part, "function_response", into, resultPart)],
  ["toolResult", (part, into) => nested(part, "toolResult", into, bedrockResult)],
  ["tool_call_result", (part, into) => nested(part, "tool_call_result", into, haystackResult)],
  ["reasoningContent", (part, into) => nested(part, "reasoningContent", into, reasoningPart)],
  ["inlineData", imagePart], ["inline_data", imagePart], ["image", imagePart],
  ["text", (part, into) => (field(part, "thought") === true ? reasoningPart(part, into) : textPart(part, into))],
  ["json", (part, into) => into.texts.push(JSON.stringify(field(part, "json"))) > 0],
];

function nested(part: Fields, key: string, into: Draft, reader: PartReader): boolean {
  const inner = field(part, key);
  return isFields(inner) && reader(inner, into);
}

const bedrockResult: PartReader = (part, into) => {
  const result = newDraft("tool");
  result.tool_call_id = text(part, "toolUseId");
  result.is_error = text(part, "status") === "error";
  readContent(field(part, "content"), result);
  into.results.push(result);
  return true;
};

const haystackResult: PartReader = (part, into) => {
  const result = newDraft("tool");
  const origin = field(part, "origin");
  if (isFields(origin)) {
    result.tool_call_id = text(origin, "id");
    result.name = text(origin, "tool_name");
  }
  result.is_error = field(part, "error") === true;
  readOutput(field(part, "result"), result);
  into.results.push(result);
  return true;
};
