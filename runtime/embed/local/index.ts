/** Provider `local`: embedding in this process, without a service. */
import { BackendError } from "../../abi/errors.js";
import type { EmbedderModule } from "../embedder.js";
import { textOf } from "../settings.js";
import { BUILT_IN_MODELS } from "./descriptor.js";
import { hashTexts } from "./hashing.js";

const LENGTHS: { readonly [model: string]: number } = BUILT_IN_MODELS;

export const embedder: EmbedderModule = {
  async open(plan, options) {
    const { provider, model } = plan;
    const dims = Object.hasOwn(LENGTHS, model) ? LENGTHS[model] : undefined;
    if (dims === undefined && textOf(plan.config, "model_dir") === null) {
      throw new BackendError("setup", provider, `local embedding model '${model}' needs config.model_dir, the folder of an ONNX model; the built-in models are ${Object.keys(LENGTHS).join(", ")}`);
    }
    if (dims === undefined) return (await import("./onnx.js")).openSentenceModel(plan, options);
    return { provider, model, dims, embed: async (texts) => hashTexts(texts, dims) };
  },
};
