/** The descriptor of the embedding provider `hosted`: a service with the API of OpenAI. Pure. */
import type { EmbeddingDescriptor } from "../descriptor.js";

export const descriptor: EmbeddingDescriptor = {
  name: "hosted",
  aliases: ["openai"],
  summary: "OpenAI, or a service with the same API",
  settings: {
    api_key: { default: null, use: "secret" },
    base_url: { default: null, use: "endpoint", meaning: "address of the API; OpenAI's when absent" },
    timeout_s: { default: null, use: "option", meaning: "seconds one request may take" },
    batch_size: { default: 32, use: "option", meaning: "texts in one request" },
    max_retries: { default: 6, use: "option", meaning: "times a failed request is sent again" },
    retry_backoff_s: { default: 1, use: "option", meaning: "seconds before the first retry, twice as many before the second" },
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  defaultModel: "text-embedding-3-small",
  dims: { "text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536 },
  builtIn: [],
  inProcess: false,
  packages: () => [],
  runs: () => false,
};
