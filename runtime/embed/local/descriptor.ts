/** The descriptor of the embedding provider `local`: models in this process. Pure; the embedder loads when it is used. */
import type { EmbeddingDescriptor } from "../descriptor.js";
import { PREFIX_SETTINGS } from "../settings.js";

/** Vector length of each built-in model. */
export const BUILT_IN_MODELS = { "hashing-256": 256, "hashing-512": 512, "hashing-1024": 1024 } as const;

const isBuiltIn = (model: string): boolean => Object.hasOwn(BUILT_IN_MODELS, model);

export const descriptor: EmbeddingDescriptor = {
  name: "local",
  aliases: ["fastembed"],
  summary: "in this process: built-in models that compare words, or sentence models that compare meaning",
  settings: {
    ...PREFIX_SETTINGS,
    cache_ttl_s: { default: null, use: "option", meaning: "read for older catalogs; vectors are always cached" },
  },
  needs: [],
  defaultModel: "BAAI/bge-small-en-v1.5",
  dims: { ...BUILT_IN_MODELS, "BAAI/bge-small-en-v1.5": 384, "bge-small-en-v1.5": 384 },
  builtIn: Object.keys(BUILT_IN_MODELS),
  inProcess: true,
  packages: (model) => (isBuiltIn(model) ? [] : ["@huggingface/transformers"]),
  runs: isBuiltIn,
  load: () => import("./index.js"),
};
