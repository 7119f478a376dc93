/** The descriptor of the embedding provider `hosted_alt`: Cohere. Pure. */
import type { EmbeddingDescriptor } from "../descriptor.js";
import { PREFIX_SETTINGS, RETRY_SETTINGS } from "../settings.js";

export const OWN_ADDRESS = "https://api.cohere.com";
export const INPUT_TYPE = "search_query";
export const TIMEOUT_S = 60;
/** As many as the service takes. */
export const BATCH_SIZE = 96;

export const descriptor: EmbeddingDescriptor = {
  name: "hosted_alt",
  aliases: ["cohere"],
  summary: "Cohere",
  settings: {
    api_key: { default: null, use: "secret" },
    model: { default: null, use: "option", meaning: "overrides the model of the embedding" },
    base_url: { default: null, use: "endpoint", meaning: "address of the API; Cohere's when absent" },
    input_type: { default: INPUT_TYPE, use: "option", meaning: "what queries are; texts that load stores are search_document beside search_query" },
    timeout_s: { default: TIMEOUT_S, use: "option", meaning: "seconds one request may take" },
    batch_size: { default: BATCH_SIZE, use: "option", meaning: "texts in one request" },
    ...RETRY_SETTINGS,
    ...PREFIX_SETTINGS,
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  needs: () => [["api_key"]],
  defaultModel: "embed-english-v3.0",
  dims: { "embed-english-v3.0": 1024, "embed-multilingual-v3.0": 1024 },
  builtIn: [],
  inProcess: false,
  packages: () => [],
  load: () => import("./index.js"),
};
