/** The descriptor of the embedding provider `hosted_cloud`: a deployment of an OpenAI model at Azure. Pure. */
import type { EmbeddingDescriptor } from "../descriptor.js";

export const descriptor: EmbeddingDescriptor = {
  name: "hosted_cloud",
  aliases: ["azure_openai"],
  summary: "a deployment of an OpenAI model at Azure",
  settings: {
    api_key: { default: null, use: "secret" },
    endpoint: { default: null, use: "endpoint", meaning: "address of the resource" },
    base_url: { default: null, use: "endpoint", meaning: "another name of endpoint" },
    deployment: { default: null, use: "option", meaning: "name of the deployment; the model's name when absent" },
    api_version: { default: "2024-02-01", use: "option", meaning: "version of the API" },
    timeout_s: { default: null, use: "option", meaning: "seconds one request may take" },
    batch_size: { default: 32, use: "option", meaning: "texts in one request" },
    max_retries: { default: 6, use: "option", meaning: "times a failed request is sent again" },
    retry_backoff_s: { default: 1, use: "option", meaning: "seconds before the first retry, twice as many before the second" },
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  defaultModel: "text-embedding-3-small",
  dims: {},
  builtIn: [],
  inProcess: false,
  packages: () => [],
  runs: () => false,
};
