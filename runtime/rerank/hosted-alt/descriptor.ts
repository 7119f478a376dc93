/** The descriptor of the reranker `hosted_alt`: Cohere. Pure. */
import type { RerankDescriptor } from "../descriptor.js";

export const OWN_ADDRESS = "https://api.cohere.com";
export const TIMEOUT_S = 30;

export const descriptor: RerankDescriptor = {
  name: "hosted_alt",
  aliases: ["cohere"],
  summary: "Cohere",
  settings: {
    api_key: { default: null, use: "secret" },
    base_url: { default: null, use: "endpoint", meaning: "address of the API; Cohere's when absent" },
    timeout_s: { default: TIMEOUT_S, use: "option", meaning: "seconds one request may take" },
  },
  needs: () => [["api_key"]],
  defaultModel: "rerank-english-v3.0",
  packages: () => [],
  load: () => import("./index.js"),
};
