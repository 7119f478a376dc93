/**
 * Opens embedders by the table of descriptors. Each provider is imported when the first catalog that names it is
 * served; nothing else of its folder but the descriptor is loaded before.
 */
import { BackendError } from "../abi/errors.js";
import { providerCalled } from "../abi/provider.js";
import { BUILT_IN_EMBEDDINGS, EMBEDDERS } from "./descriptors.js";
import type { Embedder, FilledEmbedding, OpenEmbedding } from "./embedder.js";
import { textOf } from "./settings.js";

export { withCache } from "./cache.js";
export { probeEmbedder } from "./space.js";

/** @throws BackendError unsupported, for a provider or model that this version does not have; setup, for settings that cannot be used. */
export async function openEmbedder(plan: FilledEmbedding, options: OpenEmbedding = {}): Promise<Embedder> {
  const load = providerCalled(EMBEDDERS, plan.provider)?.load;
  if (load === undefined) {
    throw new BackendError("unsupported", plan.provider, `embedding provider '${plan.provider}' is not available in this version; use ${BUILT_IN_EMBEDDINGS.join(", ")}`);
  }
  const { embedder } = await load();
  const prefix = textOf(plan.config, options.use === "document" ? "document_prefix" : "query_prefix");
  const opened = await embedder.open(plan, options);
  return prefix === null ? opened : withPrefix(opened, prefix);
}

function withPrefix(embedder: Embedder, prefix: string): Embedder {
  return {
    provider: embedder.provider,
    model: embedder.model,
    get dims() {
      return embedder.dims;
    },
    embed: (texts, signal) => embedder.embed(texts.map((text) => prefix + text), signal),
  };
}
