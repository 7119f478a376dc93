/** The descriptor of the embedding provider `local`: models in this process. Pure; the embedder loads when it is used. */
import type { EmbeddingDescriptor } from "../descriptor.js";
import { ONNX_SETTINGS } from "../onnx-settings.js";
import { PREFIX_SETTINGS } from "../settings.js";

/** How the vectors of a text's tokens become one. */
export const POOLING = "mean";

/** Vector length of each built-in model. */
export const BUILT_IN_MODELS = { "hashing-256": 256, "hashing-512": 512, "hashing-1024": 1024 } as const;

const isBuiltIn = (model: string): boolean => Object.hasOwn(BUILT_IN_MODELS, model);

/** Runs models in ONNX form. */
export const PACKAGE = "@huggingface/transformers";

export const descriptor: EmbeddingDescriptor = {
  name: "local",
  aliases: ["fastembed"],
  summary: "in this process: built-in models that compare words, or sentence models that compare meaning",
  settings: {
    ...ONNX_SETTINGS,
    pooling: { default: POOLING, use: "option", meaning: "how a sentence model makes one vector of a text: mean or cls" },
    ...PREFIX_SETTINGS,
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  needs: (model) => (isBuiltIn(model) ? [] : [["model_dir"]]),
  defaultModel: "BAAI/bge-small-en-v1.5",
  dims: { ...BUILT_IN_MODELS, "BAAI/bge-small-en-v1.5": 384, "bge-small-en-v1.5": 384 },
  builtIn: Object.keys(BUILT_IN_MODELS),
  inProcess: true,
  packages: (model) => (isBuiltIn(model) ? [] : [PACKAGE]),
  load: () => import("./index.js"),
};
