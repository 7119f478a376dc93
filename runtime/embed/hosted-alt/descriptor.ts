/** The descriptor of the embedding provider `hosted_alt`: Cohere. Pure. */
import type { EmbeddingDescriptor } from "../descriptor.js";

export const descriptor: EmbeddingDescriptor = {
  name: "hosted_alt",
  aliases: ["cohere"],
  summary: "Cohere",
  settings: {
    api_key: { default: null, use: "secret" },
    model: { default: null, use: "option", meaning: "overrides the model of the embedding" },
    input_type: { default: "search_query", use: "option", meaning: "what the texts are" },
    batch_size: { default: 32, use: "option", meaning: "texts in one request" },
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  defaultModel: "embed-english-v3.0",
  dims: { "embed-english-v3.0": 1024, "embed-multilingual-v3.0": 1024 },
  builtIn: [],
  inProcess: false,
  packages: () => [],
  runs: () => false,
};
