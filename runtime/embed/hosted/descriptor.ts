/** The descriptor of the embedding provider `hosted`: a service with the API of OpenAI. Pure. */
import type { EmbeddingDescriptor } from "../descriptor.js";
import { PREFIX_SETTINGS, RETRY_SETTINGS } from "../settings.js";

export const TIMEOUT_S = 60;
export const BATCH_SIZE = 256;

export const descriptor: EmbeddingDescriptor = {
  name: "hosted",
  aliases: ["openai"],
  summary: "OpenAI, or a service with the same API",
  settings: {
    api_key: { default: null, use: "secret" },
    base_url: { default: null, use: "endpoint", meaning: "address of the API; OpenAI's when absent" },
    timeout_s: { default: TIMEOUT_S, use: "option", meaning: "seconds one request may take" },
    batch_size: { default: BATCH_SIZE, use: "option", meaning: "texts in one request" },
    ...RETRY_SETTINGS,
    ...PREFIX_SETTINGS,
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  needs: () => [["api_key", "base_url"]],
  defaultModel: "text-embedding-3-small",
  dims: { "text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536 },
  builtIn: [],
  inProcess: false,
  packages: () => [],
  load: () => import("./index.js"),
};
