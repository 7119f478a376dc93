/**
 * Provider name → embedder. Each provider is imported when the first catalog that names it is served; nothing else
 * of this folder is loaded before.
 */
import { BackendError } from "../abi/errors.js";
import { withCache } from "./cache.js";
import type { Embedder, EmbedderModule } from "./embedder.js";

const PROVIDERS: { readonly [provider: string]: () => Promise<{ readonly embedder: EmbedderModule }> } = {
  local: () => import("./local/index.js"),
};

/** Whether this version can embed with a provider; the compiler refuses catalogs that name another. */
export function hasProvider(provider: string): boolean {
  return Object.hasOwn(PROVIDERS, provider);
}

/** @throws BackendError unsupported, for a provider or model that this version does not have. */
export async function openEmbedder(plan: Parameters<EmbedderModule["open"]>[0]): Promise<Embedder> {
  const load = hasProvider(plan.provider) ? PROVIDERS[plan.provider] : undefined;
  if (load === undefined) {
    throw new BackendError("unsupported", plan.provider, `embedding provider '${plan.provider}' is not available in this version; use local/hashing-256`);
  }
  const { embedder } = await load();
  return embedder.open(plan);
}

/** An embedder for query texts, which repeat. */
export async function openQueryEmbedder(plan: Parameters<EmbedderModule["open"]>[0]): Promise<Embedder> {
  return withCache(await openEmbedder(plan));
}
