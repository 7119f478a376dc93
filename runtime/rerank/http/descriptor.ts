/** The descriptor of the reranker `http`: any service that orders documents. Pure. */
import type { RerankDescriptor } from "../descriptor.js";

export const TIMEOUT_S = 30;

export const descriptor: RerankDescriptor = {
  name: "http",
  aliases: [],
  summary: "any service that takes a query and documents and answers an order",
  settings: {
    base_url: { default: null, use: "endpoint", meaning: "address that documents are posted to; required" },
    url: { default: null, use: "endpoint", meaning: "another name of base_url" },
    headers: { default: null, use: "secrets", meaning: "headers of each request" },
    api_key: { default: null, use: "secret", meaning: "sent as Authorization: Bearer" },
    timeout_s: { default: TIMEOUT_S, use: "option", meaning: "seconds one request may take" },
  },
  needs: () => [["base_url", "url"]],
  defaultModel: "rerank-english-v3.0",
  packages: () => [],
  load: () => import("./index.js"),
};
