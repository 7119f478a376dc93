/**
 * Everything about a provider of embeddings in one value: each folder here has a `descriptor.ts`, and `descriptors.ts`
 * is the table of them. Pure: no model and no package is loaded.
 */
import type { EmbeddingProvider } from "../abi/plan.js";
import type { ProviderDescriptor } from "../abi/provider.js";
import type { EmbedderModule } from "./embedder.js";

export interface EmbeddingDescriptor extends ProviderDescriptor<EmbeddingProvider> {
  readonly defaultModel: string;
  /** Vector lengths of its models, where they are known. */
  readonly dims: { readonly [model: string]: number };
  /** Models that need no service, no package and no download. */
  readonly builtIn: readonly string[];
  /** Whether texts stay in this process; otherwise they are sent to a service. */
  readonly inProcess: boolean;
  /** The embedder; absent where this version cannot embed with the provider. */
  readonly load?: () => Promise<{ readonly embedder: EmbedderModule }>;
}
