/** All providers of embeddings. Adding one is a folder, its row here and its name in runtime/abi/plan.ts. */
import type { EmbeddingPlan, EmbeddingProvider } from "../abi/plan.js";
import { providerCalled } from "../abi/provider.js";
import type { EmbeddingDescriptor } from "./descriptor.js";
import { descriptor as hostedAlt } from "./hosted-alt/descriptor.js";
import { descriptor as hostedCloud } from "./hosted-cloud/descriptor.js";
import { descriptor as hosted } from "./hosted/descriptor.js";
import { descriptor as http } from "./http/descriptor.js";
import { descriptor as local } from "./local/descriptor.js";

export const EMBEDDERS: { readonly [P in EmbeddingProvider]: EmbeddingDescriptor } = { local, hosted, hosted_cloud: hostedCloud, http, hosted_alt: hostedAlt };

/** Where the catalog names no provider. */
export const DEFAULT_EMBEDDER = local;

/** Built-in models as a catalog writes them: `provider/model`. */
export const BUILT_IN_EMBEDDINGS: readonly string[] = Object.values(EMBEDDERS).flatMap(({ name, builtIn }) => builtIn.map((model) => `${name}/${model}`));

/** The smallest built-in embedding, for collections that no tool searches by text. */
export const SMALLEST_EMBEDDING: EmbeddingPlan = Object.values(EMBEDDERS)
  .flatMap(({ name, builtIn, dims }): readonly EmbeddingPlan[] => builtIn.map((model) => ({ provider: name, model, dims: dims[model] ?? 0 })))
  .reduce((least, one) => ((one.dims ?? 0) < (least.dims ?? 0) ? one : least));

/** `openai/text-embedding-3-small` → provider and model; a text without a provider's name is a model of the default one. */
export function readEmbeddingName(text: string): { readonly descriptor: EmbeddingDescriptor; readonly model: string } {
  const slash = text.indexOf("/");
  const descriptor = slash < 0 ? undefined : providerCalled(EMBEDDERS, text.slice(0, slash));
  return descriptor === undefined ? { descriptor: DEFAULT_EMBEDDER, model: text } : { descriptor, model: text.slice(slash + 1) };
}

/** Vector length of a model by its name, or by the part after its first "/", for any provider; null when unknown. */
export function knownDims(model: string): number | null {
  for (const name of [model, model.slice(model.indexOf("/") + 1)]) {
    const known = Object.values(EMBEDDERS).find(({ dims }) => Object.hasOwn(dims, name));
    if (known !== undefined) return known.dims[name] ?? null;
  }
  return null;
}
