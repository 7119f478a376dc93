/** Reads one event of the ingest endpoint: checks what was sent, fills in what may be left out, cuts what is too long. */
import { beginning } from "../deferred.js";
import { idProblem } from "../ids.js";
import { EVENT_KINDS, eventKind, eventNumber, type Incoming } from "../model.js";
import { parseTime } from "../time.js";
import type { Redactor } from "./redact.js";

export interface ReadOptions {
  readonly summaryChars: number;
  readonly newId: () => string;
  /** Microseconds since the epoch. */
  readonly nowUs: () => number;
}

/** Also those that are pairs: a test that costs little. */
const SURROGATE = /[\ud800-\udfff]/;
export const MAX_NAME = 200;
export const MAX_ERROR = 10_000;
const MAX_TAGS = 100;
const MAX_GRAPH = 1_000_000;
/** Characters of a payload in the summary of an event without one of its own. */
export const PREVIEW = 200;

type Fields = { readonly [name: string]: unknown };

/**
 * The event, or what is wrong with it in a few words. Secrets are taken out before anything is cut, so that no part of
 * one is left over at the cut.
 */
export function readEvent(value: unknown, options: ReadOptions, redactor: Redactor | null = null): Incoming | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "an event must be an object";
  const fields = value as Fields;
  const problem = fieldProblem(fields);
  if (problem !== null) return problem;
  const name = fields["event_type"] as string;
  const type = eventNumber(name);
  if (type === undefined) return `event_type must be one of ${EVENT_KINDS.map((kind) => kind.name).join(", ")}, not ${JSON.stringify(name)}`;
  const given = fields["timestamp"];
  const at = given === undefined || given === null ? options.nowUs() : parseTime(given);
  if (at === null) return "timestamp must be ISO-8601 text or milliseconds since the epoch";
  const eventId = textOf(fields["event_id"]);
  const clean = (text: string): string => (redactor === null ? text : redactor.text(text));
  const cleanJson = (json: string | null): string | null => (json === null || redactor === null ? json : redactor.json(json));
  const named = (field: string): string | null => nameOf(fields[field], clean);
  const payload = cleanJson(payloadOf(fields["payload"]));
  const agent = named("agent_name");
  const tool = named("tool_name");
  const error = cut(textOf(fields["error_message"]), MAX_ERROR, clean);
  const summary = textOf(fields["summary"]);
  const tags = fields["tags"] as readonly string[] | null | undefined;
  return {
    eventId: eventId ?? options.newId(),
    fresh: eventId === null,
    runId: fields["run_id"] as string,
    parentId: textOf(fields["parent_run_id"]),
    rootId: textOf(fields["root_run_id"]),
    type,
    at,
    agent,
    tool,
    server: named("mcp_server"),
    summary: cutText(summary === null ? describe(tool ?? agent, error, payload) : clean(summary), options.summaryChars),
    payload: eventKind(type).payload ? payload : null,
    tokensIn: numberOf(fields["token_input"]),
    tokensOut: numberOf(fields["token_output"]),
    error,
    tags: tags === undefined || tags === null ? null : tags.map((tag) => cutText(clean(whole(tag)), MAX_NAME)),
    session: named("session_id"),
    user: named("user_id"),
    model: named("model"),
    graph: cut(textOf(fields["graph_definition"]), MAX_GRAPH, clean),
    attributes: fields["attributes"] === undefined || fields["attributes"] === null ? null : cleanJson(JSON.stringify(fields["attributes"])),
    isAgent: fields["is_agent"] === true,
    durationMs: null,
    packed: null,
  };
}

const IDS = ["event_id", "parent_run_id", "root_run_id"] as const;
const TEXTS = ["agent_name", "tool_name", "mcp_server", "summary", "error_message", "session_id", "user_id", "model", "graph_definition"] as const;
const COUNTS = ["token_input", "token_output"] as const;

function fieldProblem(fields: Fields): string | null {
  if (typeof fields["run_id"] !== "string") return "run_id must be text";
  const bad = idProblem(fields["run_id"]);
  if (bad !== null) return `run_id ${bad}`;
  if (typeof fields["event_type"] !== "string") return "event_type must be text";
  for (const name of IDS) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    const wrong = typeof value === "string" ? idProblem(value) : "must be text or null";
    if (wrong !== null) return `${name} ${wrong}`;
  }
  for (const name of TEXTS) {
    const value = fields[name];
    if (value !== undefined && value !== null && typeof value !== "string") return `${name} must be text or null`;
  }
  for (const name of COUNTS) {
    const value = fields[name];
    if (value !== undefined && value !== null && !isCount(value)) return countProblem(name);
  }
  const tags = fields["tags"];
  if (tags !== undefined && tags !== null && !(Array.isArray(tags) && tags.length <= MAX_TAGS && tags.every((tag) => typeof tag === "string"))) {
    return `tags must be a list of at most ${MAX_TAGS} texts`;
  }
  const isAgent = fields["is_agent"];
  if (isAgent !== undefined && isAgent !== null && typeof isAgent !== "boolean") return "is_agent must be true, false or null";
  const attributes = fields["attributes"];
  if (attributes !== undefined && attributes !== null && (typeof attributes !== "object" || Array.isArray(attributes))) return "attributes must be an object or null";
  return null;
}

/** A count of tokens that sums can hold. */
export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 1e12;
}

export function countProblem(name: (typeof COUNTS)[number]): string {
  return `${name} must be a whole number from 0, or null`;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? whole(value) : null;
}

/** Halves of characters, which no store keeps as they are, become U+FFFD here, so that every copy is the same text. */
export function whole(text: string): string {
  return SURROGATE.test(text) ? text.replace(/[\ud800-\udfff]/gu, "\ufffd") : text;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** A name as it was sent, to its bound; an empty one is none. */
export function nameOf(value: unknown, clean: (text: string) => string): string | null {
  return typeof value !== "string" || value === "" ? null : cutText(clean(whole(value)), MAX_NAME);
}

/** JSON text of an object; anything else is put into one. */
function payloadOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return JSON.stringify(typeof value === "object" && !Array.isArray(value) ? value : { value });
}

/** The summary of an event that came without one. */
export function describe(name: string | null, error: string | null, payload: string | null): string {
  const rest = error ?? (payload === null ? null : shortened(payload));
  return rest === null || rest === "" ? (name ?? "") : name === null || name === "" ? rest : `${name} ${rest}`;
}

function shortened(payload: string): string {
  const { text, isAll } = beginning(payload, PREVIEW);
  return isAll ? text : `${text}…`;
}

function cut(text: string | null, chars: number, clean: (text: string) => string): string | null {
  return text === null ? null : cutText(clean(text), chars);
}

/** At most so many characters (code points); a pair of surrogates stays together. */
export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text;
  let units = 0;
  for (let count = 0; count < chars && units < text.length; count++) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, units);
}
