/** The descriptor of the embedding provider `http`: any service that answers JSON with vectors. Pure. */
import type { EmbeddingDescriptor } from "../descriptor.js";

export const descriptor: EmbeddingDescriptor = {
  name: "http",
  aliases: [],
  summary: "any service that takes texts and answers vectors as JSON",
  settings: {
    base_url: { default: null, use: "endpoint", meaning: "address that texts are posted to; required" },
    api_key: { default: null, use: "secret", meaning: "sent as Authorization: Bearer, unless headers has an Authorization" },
    headers: { default: null, use: "secrets", meaning: "headers of each request" },
    request: { default: null, use: "option", meaning: "names of the fields in the body: model_field (model) and input_field (input)" },
    response: { default: null, use: "option", meaning: "where the vectors are in the answer: vectors_path (data[*].embedding)" },
    timeout_s: { default: 120, use: "option", meaning: "seconds one request may take" },
    batch_size: { default: 32, use: "option", meaning: "texts in one request" },
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  // Services for one open model are often asked without naming it.
  defaultModel: "BAAI/bge-small-en-v1.5",
  dims: {},
  builtIn: [],
  inProcess: false,
  packages: () => [],
  runs: () => false,
};
