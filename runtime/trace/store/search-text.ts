/** What full-text search reads of a step, and how a question is asked of it. */
import { parsed } from "../messages/message.js";
import { readableText } from "../messages/preview.js";
import { eventKind } from "../model.js";

/** Characters of a payload that are searched. */
const PAYLOAD_CHARS = 16_384;

// Scripts without spaces between words: each character counts as a word.
const UNSPACED = /[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]/g;

export interface SearchedStep {
  readonly agent: string | null;
  readonly tool: string | null;
  readonly server: string | null;
  readonly summary: string;
  readonly error: string | null;
  readonly model: string | null;
}

/** The text of a step. The index is taken back by the same text, so it must depend on stored values alone. */
export function searchText(step: SearchedStep, payload: string | null): string {
  const parts = [step.summary, step.agent, step.tool, step.server, step.model, step.error, payload === null ? null : plainJson(payload.slice(0, PAYLOAD_CHARS))];
  return parts.filter((part) => part !== null).join("\n");
}

/** Longer payloads are quoted as they are stored; parsing them for one line would take too long. */
const READABLE_CHARS = 200_000;

/** The line that a search shows of a step: from what was said in it, else from its stored text. */
export function hitSnippet(step: SearchedStep & { readonly type: number }, payload: string | null, terms: readonly Term[]): string {
  if (payload !== null && payload.length <= READABLE_CHARS) {
    const { call, side } = eventKind(step.type);
    const value = parsed(payload);
    const text = typeof value === "string" ? "" : readableText(value, { side: side === "start" ? "input" : "output", kind: call ?? "chain" });
    if (termPattern(terms).test(text)) return snippet(text, terms);
  }
  for (const text of [step.error, step.summary]) if (text !== null && termPattern(terms).test(text)) return snippet(text, terms);
  return snippet(searchText(step, payload), terms);
}

/** What the index is given: the text with a space around each character that is a word of its own. */
export function indexedText(text: string): string {
  return text.replace(UNSPACED, " $& ");
}

/** JSON text without its escapes, so that words next to them are found. */
function plainJson(json: string): string {
  return json.includes("\\") ? json.replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))).replace(/\\[nrtbf]/g, " ").replace(/\\(["\\/])/g, "$1") : json;
}

export interface Term {
  readonly text: string;
  readonly prefix: boolean;
}

/** Words and "phrases" of a question; a trailing * asks for a prefix. */
export function searchTerms(q: string): readonly Term[] {
  const terms: Term[] = [];
  // FTS5 reads a question up to its first NUL.
  for (const match of q.replaceAll("\0", " ").matchAll(/"([^"]*)"?|(\S+)/g)) {
    const phrase = match[1];
    if (phrase !== undefined) terms.push({ text: phrase, prefix: false });
    else terms.push({ text: (match[2] ?? "").replace(/\*$/, ""), prefix: (match[2] ?? "").endsWith("*") });
  }
  return terms.filter((term) => /[\p{L}\p{N}\p{Co}]/u.test(term.text));
}

/** The terms in the language of FTS5, which sees no operator in them; `null` when there is nothing to look for. */
export function matchExpression(terms: readonly Term[]): string | null {
  if (terms.length === 0) return null;
  return terms.map((term) => `"${indexedText(term.text).replaceAll('"', '""')}"${term.prefix ? " *" : ""}`).join(" ");
}

/** Characters before and after the first match: it must be in sight in a narrow list as well. */
const BEFORE = 50;
const AFTER = 120;

function termPattern(terms: readonly Term[]): RegExp {
  const pattern = terms.map((term) => term.text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/\s+/g, "\\s+")).join("|");
  return new RegExp(pattern === "" ? "(?!)" : pattern, "giu");
}

/** Text around the first term that is found, with U+0002 before and U+0003 after each one. */
export function snippet(text: string, terms: readonly Term[]): string {
  const find = termPattern(terms);
  const first = find.exec(text);
  const at = first?.index ?? 0;
  const from = wordStart(text, Math.max(0, at - BEFORE), at);
  const to = at + (first?.[0].length ?? 0) + AFTER;
  const cut = text.slice(from, to).replace(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${cut.replace(find, "\u0002$&\u0003")}${to < text.length ? "…" : ""}`;
}

/** The first start of a word from there on, before `end`; where there is none, the place itself. */
function wordStart(text: string, from: number, end: number): number {
  if (from === 0) return 0;
  const space = text.slice(from, end).search(/\s\S/);
  return space < 0 ? from : from + space + 1;
}
