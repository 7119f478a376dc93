/** Provider `local`: embedding in this process, without a service. */
import { BackendError } from "../../abi/errors.js";
import type { EmbedderModule } from "../embedder.js";
import { BUILT_IN_MODELS } from "./descriptor.js";
import { hashText } from "./hashing.js";

const LENGTHS: { readonly [model: string]: number } = BUILT_IN_MODELS;

export const embedder: EmbedderModule = {
  async open({ provider, model }) {
    const dims = Object.hasOwn(LENGTHS, model) ? LENGTHS[model] : undefined;
    if (dims === undefined) {
      throw new BackendError("unsupported", provider, `local embedding model '${model}' is not available; the built-in models are ${Object.keys(LENGTHS).join(", ")}`);
    }
    return { provider, model, dims, embed: async (texts) => texts.map((text) => hashText(text, dims)) };
  },
};
