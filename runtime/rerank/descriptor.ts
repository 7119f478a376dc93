/**
 * Everything about a reranker in one value: each folder here has a `descriptor.ts`, and `descriptors.ts` is the table of
 * them. Pure: no model and no package is loaded.
 */
import type { RerankProvider } from "../abi/plan.js";
import type { ProviderDescriptor } from "../abi/provider.js";
import type { RerankerModule } from "./reranker.js";

export interface RerankDescriptor extends ProviderDescriptor<RerankProvider> {
  readonly defaultModel: string;
  /** The reranker; absent where this version cannot rerank with the provider. */
  readonly load?: () => Promise<{ readonly reranker: RerankerModule }>;
}
