/** The descriptor of the embedding provider `http`: any service that answers JSON with vectors. Pure. */
import type { EmbeddingDescriptor } from "../descriptor.js";
import { PREFIX_SETTINGS, RETRY_SETTINGS } from "../settings.js";

export const TIMEOUT_S = 120;
export const BATCH_SIZE = 32;
export const MODEL_FIELD = "model";
export const INPUT_FIELD = "input";
export const VECTORS_PATH = "data[*].embedding";

export const descriptor: EmbeddingDescriptor = {
  name: "http",
  aliases: [],
  summary: "any service that takes texts and answers vectors as JSON",
  settings: {
    base_url: { default: null, use: "endpoint", meaning: "address that texts are posted to; required" },
    api_key: { default: null, use: "secret", meaning: "sent as Authorization: Bearer, unless headers has an Authorization" },
    headers: { default: null, use: "secrets", meaning: "headers of each request" },
    request: { default: null, use: "option", meaning: `names of the fields in the body: model_field (${MODEL_FIELD}) and input_field (${INPUT_FIELD})` },
    response: { default: null, use: "option", meaning: `where the vectors are in the answer: vectors_path (${VECTORS_PATH})` },
    timeout_s: { default: TIMEOUT_S, use: "option", meaning: "seconds one request may take" },
    batch_size: { default: BATCH_SIZE, use: "option", meaning: "texts in one request" },
    ...RETRY_SETTINGS,
    ...PREFIX_SETTINGS,
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  needs: () => [["base_url"]],
  // Services for one open model are often asked without naming it.
  defaultModel: "BAAI/bge-small-en-v1.5",
  dims: {},
  builtIn: [],
  inProcess: false,
  packages: () => [],
  load: () => import("./index.js"),
};
