/** The descriptor of the reranker `cross_encoder`: a model in this process. Pure. */
import type { RerankDescriptor } from "../descriptor.js";

export const descriptor: RerankDescriptor = {
  name: "cross_encoder",
  aliases: [],
  summary: "a cross-encoder model in this process",
  settings: {
    model: { default: null, use: "option", meaning: "the model, where rerank.model is empty" },
  },
  needs: [],
  defaultModel: "cross-encoder/ms-marco-MiniLM-L-6-v2",
  packages: () => ["@huggingface/transformers"],
  runs: () => false,
};
