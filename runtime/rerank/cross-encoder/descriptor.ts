/** The descriptor of the reranker `cross_encoder`: a model in this process. Pure. */
import { ONNX_SETTINGS } from "../../embed/onnx-settings.js";
import type { RerankDescriptor } from "../descriptor.js";

/** Runs models in ONNX form. */
export const PACKAGE = "@huggingface/transformers";

export const descriptor: RerankDescriptor = {
  name: "cross_encoder",
  aliases: [],
  summary: "a cross-encoder model in this process",
  settings: {
    ...ONNX_SETTINGS,
    model: { default: null, use: "option", meaning: "the model, where rerank.model is empty" },
  },
  needs: () => [["model_dir"]],
  defaultModel: "cross-encoder/ms-marco-MiniLM-L-6-v2",
  packages: () => [PACKAGE],
  load: () => import("./index.js"),
};
