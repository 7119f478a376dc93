/** The descriptor of the reranker `hosted_alt`: Cohere. Pure. */
import type { RerankDescriptor } from "../descriptor.js";

export const descriptor: RerankDescriptor = {
  name: "hosted_alt",
  aliases: ["cohere"],
  summary: "Cohere",
  settings: {
    api_key: { default: null, use: "secret" },
  },
  needs: [["api_key"]],
  defaultModel: "rerank-english-v3.0",
  packages: () => [],
  runs: () => false,
};
