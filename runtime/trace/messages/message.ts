/**
 * What was said in a recorded payload, in one shape for every framework. Payloads keep the shape in which their sender
 * recorded them; these pure functions read the shapes they know and leave the others alone. The recorder uses them for
 * previews, the store for snippets, the pages for the chat view: there is no second implementation.
 * The tables: parts.ts (parts of a message), envelopes.ts (one message), normalise.ts (where a payload has messages).
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Fields = { readonly [key: string]: Json };

export interface ToolCall {
  readonly id: string | null;
  readonly name: string;
  /** Parsed when the sender recorded JSON text; text that does not parse stays as it came. */
  readonly arguments: Json;
}

export interface Image {
  /** A `data:` address, or the address or file id that was sent to the model. */
  readonly url: string;
}

/** Field names are those of the API. */
export interface Message {
  /** `system`, `user`, `assistant` or `tool`; another role stays as it came. */
  readonly role: string;
  readonly text: string;
  readonly tool_calls: readonly ToolCall[];
  /** The call that a message of the role `tool` answers. */
  readonly tool_call_id: string | null;
  readonly images: readonly Image[];
  readonly reasoning: string;
  /** Name of the tool or the participant, when it was recorded. */
  readonly name: string | null;
  /** The tool reported that it failed. */
  readonly is_error: boolean;
  /** Parts that no table knows, as they came. */
  readonly other: readonly Json[];
}

/** A message while its parts are read. */
export interface Draft {
  role: string;
  texts: string[];
  tool_calls: ToolCall[];
  tool_call_id: string | null;
  images: Image[];
  reasonings: string[];
  name: string | null;
  is_error: boolean;
  other: Json[];
  /** Results of tools that were recorded as parts of another message; each becomes a message of its own. */
  results: Draft[];
}

export function newDraft(role: string): Draft {
  return { role, texts: [], tool_calls: [], tool_call_id: null, images: [], reasonings: [], name: null, is_error: false, other: [], results: [] };
}

/** The finished messages of a draft. Results of tools answer calls of an earlier message and go first, unless the call is in this one. */
export function finishDraft(draft: Draft): Message[] {
  const own = new Set(draft.tool_calls.map((call) => call.id));
  const before = draft.results.filter((result) => result.tool_call_id === null || !own.has(result.tool_call_id)).flatMap(finishDraft);
  const after = draft.results.filter((result) => result.tool_call_id !== null && own.has(result.tool_call_id)).flatMap(finishDraft);
  const empty = draft.texts.length + draft.tool_calls.length + draft.images.length + draft.reasonings.length + draft.other.length === 0;
  if (empty && before.length > 0) return before;
  const { role, tool_calls, tool_call_id, images, name, is_error, other } = draft;
  return [...before, { role, text: draft.texts.join("\n"), tool_calls, tool_call_id, images, reasoning: draft.reasonings.join("\n"), name, is_error, other }, ...after];
}

export function isFields(value: Json | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** An own field; a payload may name anything, `__proto__` included. */
export function field(fields: Fields, name: string): Json | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** The first of the fields that is neither absent nor null. */
export function first(fields: Fields, ...names: readonly string[]): Json | undefined {
  for (const name of names) {
    const value = field(fields, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The first of the fields that is text. */
export function text(fields: Fields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = field(fields, name);
    if (typeof value === "string") return value;
  }
  return null;
}

/** JSON text as its value; any other text, and text too long to parse at once, as it came. */
export function parsed(value: Json): Json {
  if (typeof value !== "string" || value.length > MAX_PARSED || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}

const MAX_PARSED = 2_000_000;

const ROLES: { readonly [role: string]: string } = {
  human: "user", user: "user", "user-prompt": "user", input: "user", chat: "user",
  ai: "assistant", assistant: "assistant", model: "assistant", chatbot: "assistant", bot: "assistant", aimessagechunk: "assistant", humanmessagechunk: "user",
  system: "system", developer: "system", "system-prompt": "system", instructions: "system",
  tool: "tool", function: "tool", tool_result: "tool", toolmessage: "tool", ipython: "tool",
};

/** The role by its usual name; one that is unknown stays as it came. */
export function roleOf(role: string): string {
  const known = role.toLowerCase().replace(/^(messagerole|chatrole)\./, "");
  return Object.hasOwn(ROLES, known) ? (ROLES[known] ?? role) : role;
}

/** Whether a text names a role that the table knows. */
export function isRole(role: string): boolean {
  return Object.hasOwn(ROLES, role.toLowerCase().replace(/^(messagerole|chatrole)\./, ""));
}
