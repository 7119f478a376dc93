/**
 * A proposal as text from outside. What a reader cannot see is refused; what is visible but may be meant for the model
 * rather than for the reader is reported, so that the approver reads it. Pure.
 */
import { isRecord } from "../../runtime/base/paths.js";
import type { JsonMap } from "./record.js";

/** Something in a text of the proposal. */
export interface Finding {
  /** Dotted path of the text. */
  readonly path: string;
  readonly what: string;
  /** The place itself, hidden characters made visible. */
  readonly excerpt: string;
}

const MAX_BYTES = 65_536;
const MAX_DEPTH = 20;
const KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;

/** Why a value is not the JSON of a tool; null when it may be one. Nothing else looks at a value before this has. */
export function unusable(value: unknown): string | null {
  const problem = shapeProblem(value, 0);
  if (problem !== null) return problem;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > MAX_BYTES ? `the draft has ${bytes} bytes; the limit is ${MAX_BYTES}` : null;
}

function shapeProblem(value: unknown, depth: number): string | null {
  if (depth > MAX_DEPTH) return `the draft is nested more than ${MAX_DEPTH} levels deep`;
  if (typeof value === "number") return Number.isFinite(value) ? null : "the draft has a number that is none";
  if (Array.isArray(value)) return firstProblem(value, depth);
  if (value === null || typeof value === "string" || typeof value === "boolean") return null;
  if (!isRecord(value)) return "the draft has a value that is not JSON";
  const odd = Object.keys(value).find((key) => !KEY.test(key) || key === "__proto__");
  return odd === undefined ? firstProblem(Object.values(value), depth) : `the draft has the key '${visible(odd.slice(0, 60))}'`;
}

function firstProblem(values: readonly unknown[], depth: number): string | null {
  for (const value of values) {
    const problem = shapeProblem(value, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}

/** Every text of a value with its dotted path, `parameters.0.description`. */
export function textsOf(value: unknown, path = ""): readonly (readonly [path: string, text: string])[] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => textsOf(member, path === "" ? key : `${path}.${key}`));
}

/**
 * Characters that readers do not see, or that change what they see: controls, formats (zero-width characters, direction
 * marks, tags), private and unassigned ones, lone surrogates, line separators, letters without a shape. Joiners and the
 * emoji selector are part of ordinary text in some scripts; they are made visible, not refused.
 */
const HIDDEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0e\u{e0100}-\u{e01ef}]/u;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** A text for a terminal: characters that cannot be seen are written as `\u{202E}`. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${codeOf(character)}}`);
}

/** JSON for a terminal, indented; hidden characters are JSON escapes. */
export function visibleJson(value: unknown): string {
  const escape = (character: string): string => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  return JSON.stringify(value, null, 2).split("\n").map((line) => line.replace(INVISIBLE, escape)).join("\n");
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** Hidden characters, the first of each text: they are refused. */
export function hiddenIn(tool: JsonMap): readonly Finding[] {
  return textsOf(tool).flatMap(([path, text]) => {
    const found = HIDDEN.exec(text);
    return found === null ? [] : [{ path, what: `U+${codeOf(found[0])}`, excerpt: around(text, found.index, found[0].length) }];
  });
}

/**
 * What a description of a tool has no need of. Every repetition behind an open start is bounded: a draft may have 64 KB of text.
 * Each finding is shown to the approver with its place, whatever it turns out to be.
 */
const ODDITIES: readonly (readonly [what: string, form: RegExp])[] = [
  ["markup", /<[/!?]?[A-Za-z][^<>\n]{0,200}>|<!--|\]\([^)\s]{1,200}\)|```|~~~/],
  ["the mark of another speaker", /^[ \t>*#-]*(?:system|assistant|user|human|developer|tool)[ \t]*:|\[\/?(?:INST|SYS|SYSTEM)\]|<\|[^|\n]{0,40}\|>|###\s*(?:instruction|system|response)/im],
  ["an address", /\b[a-z][a-z0-9+.-]{1,20}:\/\/|\bwww\.|\b(?:data|javascript|mailto):|[\w.+-]{1,40}@[\w-]{1,60}\.\w/i],
  ["an order to the model", /\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.\n]{0,60}\b(?:previous|prior|above|earlier|other|all|any|instruction|rule|polic|guideline|system|filter|tool|confirm|approval)/i],
  ["an order to the model", /\b(?:do not|don't|never|without)\b[^.\n]{0,40}\b(?:tell|telling|mention|reveal|inform|ask|asking|show|confirm|disclose|warn|use|call|trust)/i],
  ["an order to the model", /\b(?:always|first|instead|before|after)\b[^.\n]{0,40}\b(?:call|use|run|invoke|execute|read|send|pass|include|append|fetch)\b/i],
  ["an order to the model", /\byou (?:must|should|shall|have to|need to|are (?:now|an?|required))\b|\b(?:must|shall) (?:always|never|be called|not)\b|\b(?:act|respond|behave|pretend|roleplay) as\b/i],
  ["an order to the model", /\b(?:send|forward|upload|post|email|transmit|leak|exfiltrate|copy)\b[^.\n]{0,40}\bto\b/i],
  ["talk of instructions", /\b(?:system prompt|instructions?|jailbreak|important\s*[:!]|urgent\s*[:!]|attention\s*[:!]|as an ai|new task)\b/i],
  ["talk of secrets", /\b(?:passwords?|secrets?|api[ _-]?keys?|access tokens?|credentials?|private keys?|\.env|ssh)\b/i],
  ["lines that look like lines of a catalog", /\n[ \t]*(?:- +[A-Za-z_]{1,40}|tools|connections|security|static_filters|must|must_not|target|output|redact)[ \t]*:(?:[ \t\n]|$)/],
  ["encoded text", /[A-Za-z0-9+/_-]{60,}={0,2}|(?:\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}|&#x?[0-9a-f]+;){3,}/i],
  ["letters of two scripts in one word", /(?:\p{Script=Latin}[\p{M}\d]{0,8}(?:\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Armenian}|\p{Script=Cherokee}))|(?:(?:\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Armenian}|\p{Script=Cherokee})[\p{M}\d]{0,8}\p{Script=Latin})/u],
  ["letters that look like others", /[\u{1d400}-\u{1d7ff}\uff21-\uff3a\uff41-\uff5a\u2460-\u24ff]/u],
  ["empty space that hides what follows", / {8,}|\t{3,}|(?:[ \t]{0,200}\n){3,}|[\u00a0\u2000-\u200a\u202f\u205f\u3000]{3,}/],
  ["marks piled on one letter", /\p{M}{4,}/u],
  ["a joiner or selector", /[\u200c\u200d\ufe0f]/u],
];

/** What the approver should read closely; several kinds of one text are several findings. */
export function odditiesIn(tool: JsonMap): readonly Finding[] {
  return textsOf(tool).flatMap(([path, text]) => {
    const seen = new Set<string>();
    return ODDITIES.flatMap(([what, form]): readonly Finding[] => {
      const found = seen.has(what) ? null : form.exec(text);
      if (found === null) return [];
      seen.add(what);
      return [{ path, what, excerpt: around(text, found.index, found[0].length) }];
    });
  });
}

const BESIDE = 24;
const LONGEST = 80;

/** A place of a text with a few words around it, on one line. */
function around(text: string, index: number, length: number): string {
  const [start, end] = [Math.max(0, index - BESIDE), Math.min(text.length, index + Math.min(length, LONGEST) + BESIDE)];
  const cut = visible(text.slice(start, end)).replaceAll("\\u{000A}", "\\n").replaceAll("\\u{0009}", "\\t");
  return `${start > 0 ? "…" : ""}${cut}${end < text.length ? "…" : ""}`;
}
