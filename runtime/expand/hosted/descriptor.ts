/** The descriptor of the expansion provider `hosted`: a chat model behind the API of OpenAI. Pure. */
import type { ExpandDescriptor } from "../descriptor.js";

export const descriptor: ExpandDescriptor = {
  name: "hosted",
  aliases: ["openai"],
  summary: "a chat model of OpenAI, or of a service with the same API",
  settings: {
    api_key: { default: null, use: "secret" },
    base_url: { default: null, use: "endpoint", meaning: "address of the API; OpenAI's when absent" },
    prompt: { default: null, use: "option", meaning: "text of the request, with {variants} and {query}" },
  },
  needs: [["api_key", "base_url"]],
  defaultModel: "gpt-4o-mini",
  packages: () => [],
  runs: () => false,
  expands: true,
};
