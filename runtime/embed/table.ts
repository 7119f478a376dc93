/**
 * Opens embedders by the table of descriptors. Each provider is imported when the first catalog that names it is
 * served; nothing else of its folder but the descriptor is loaded before.
 */
import { BackendError } from "../abi/errors.js";
import { providerCalled } from "../abi/provider.js";
import { withCache } from "./cache.js";
import { BUILT_IN_EMBEDDINGS, EMBEDDERS } from "./descriptors.js";
import type { Embedder, EmbedderModule } from "./embedder.js";

/** @throws BackendError unsupported, for a provider or model that this version does not have. */
export async function openEmbedder(plan: Parameters<EmbedderModule["open"]>[0]): Promise<Embedder> {
  const load = providerCalled(EMBEDDERS, plan.provider)?.load;
  if (load === undefined) {
    throw new BackendError("unsupported", plan.provider, `embedding provider '${plan.provider}' is not available in this version; use ${BUILT_IN_EMBEDDINGS.join(", ")}`);
  }
  const { embedder } = await load();
  return embedder.open(plan);
}

/** An embedder for query texts, which repeat. */
export async function openQueryEmbedder(plan: Parameters<EmbedderModule["open"]>[0]): Promise<Embedder> {
  return withCache(await openEmbedder(plan));
}
