/** The descriptor of the embedding provider `hosted_cloud`: a deployment of an OpenAI model at Azure. Pure. */
import type { EmbeddingDescriptor } from "../descriptor.js";
import { PREFIX_SETTINGS, RETRY_SETTINGS } from "../settings.js";

export const TIMEOUT_S = 60;
export const BATCH_SIZE = 256;
export const API_VERSION = "2024-02-01";

export const descriptor: EmbeddingDescriptor = {
  name: "hosted_cloud",
  aliases: ["azure_openai"],
  summary: "a deployment of an OpenAI model at Azure",
  settings: {
    api_key: { default: null, use: "secret" },
    endpoint: { default: null, use: "endpoint", meaning: "address of the resource" },
    base_url: { default: null, use: "endpoint", meaning: "another name of endpoint" },
    deployment: { default: null, use: "option", meaning: "name of the deployment; the model's name when absent" },
    api_version: { default: API_VERSION, use: "option", meaning: "version of the API" },
    timeout_s: { default: TIMEOUT_S, use: "option", meaning: "seconds one request may take" },
    batch_size: { default: BATCH_SIZE, use: "option", meaning: "texts in one request" },
    ...RETRY_SETTINGS,
    ...PREFIX_SETTINGS,
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  needs: () => [["endpoint", "base_url"], ["api_key"]],
  defaultModel: "text-embedding-3-small",
  dims: {},
  builtIn: [],
  inProcess: false,
  packages: () => [],
  load: () => import("./index.js"),
};
