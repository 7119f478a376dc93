/** The descriptor of the expansion provider `hosted`: a chat model behind the API of OpenAI. Pure. */
import type { ExpandDescriptor } from "../descriptor.js";

export const TIMEOUT_S = 30;
export const DEFAULT_MODEL = "gpt-4o-mini";
export const PROMPT = `Write {variants} short search queries that ask for the same as the query below in other words: synonyms, full names of abbreviations, more general and more specific terms. Answer with a JSON array of strings and nothing else.

Query: {query}`;

export const descriptor: ExpandDescriptor = {
  name: "hosted",
  aliases: ["openai"],
  summary: "a chat model of OpenAI, or of a service with the same API",
  settings: {
    api_key: { default: null, use: "secret" },
    base_url: { default: null, use: "endpoint", meaning: "address of the API; OpenAI's when absent" },
    prompt: { default: null, use: "option", meaning: "text of the request, with {variants} and {query}" },
    timeout_s: { default: TIMEOUT_S, use: "option", meaning: "seconds one request may take" },
  },
  needs: () => [["api_key", "base_url"]],
  defaultModel: DEFAULT_MODEL,
  packages: () => [],
  load: () => import("./index.js"),
  expands: true,
};
