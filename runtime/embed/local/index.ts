/** Provider `local`: embedding in this process, without a service. */
import { BackendError } from "../../abi/errors.js";
import type { EmbedderModule } from "../embedder.js";
import { hashText } from "./hashing.js";

/** Vector length of each built-in model. */
export const BUILT_IN_MODELS: { readonly [model: string]: number } = {
  "hashing-256": 256,
  "hashing-512": 512,
  "hashing-1024": 1024,
};

export const embedder: EmbedderModule = {
  async open({ provider, model }) {
    const dims = Object.hasOwn(BUILT_IN_MODELS, model) ? BUILT_IN_MODELS[model] : undefined;
    if (dims === undefined) {
      throw new BackendError("unsupported", provider, `local embedding model '${model}' is not available; the built-in models are ${Object.keys(BUILT_IN_MODELS).join(", ")}`);
    }
    return { provider, model, dims, embed: async (texts) => texts.map((text) => hashText(text, dims)) };
  },
};
