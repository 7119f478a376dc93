/** Phrases in the answers of services. Pure. */
import { isRecord } from "../base/paths.js";

/** Longest phrase, in characters: it is embedded as a query is. */
const MAX_PHRASE = 1024;

/** Keys of an object that hold the list. */
const KEYS = ["phrases", "variants", "queries"] as const;

/** The phrases of an answer: a list, or an object with one of the keys; none for anything else. */
export function readPhrases(answer: unknown, variants: number): readonly string[] {
  const list = Array.isArray(answer) ? answer : isRecord(answer) ? KEYS.map((key) => answer[key]).find(Array.isArray) : undefined;
  const texts = (list ?? []).filter((one: unknown): one is string => typeof one === "string");
  return texts.map((text) => text.slice(0, MAX_PHRASE).trim()).filter((text) => text !== "").slice(0, variants);
}

/**
 * What a chat model wrote as JSON, with or without a fence around it.
 * @throws SyntaxError for a text that is not JSON.
 */
export function parseFenced(text: string): unknown {
  const fence = /^```(?:json)?\s*([\s\S]*?)\s*```$/i.exec(text.trim());
  return JSON.parse(fence?.[1] ?? text) as unknown;
}
