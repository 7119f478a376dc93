/** Turns texts into vectors. One embedder per distinct `EmbeddingPlan`; shared by all tools that use it. */
import type { EmbeddingPlan, Json } from "../abi/plan.js";

export interface Embedder {
  readonly provider: string;
  readonly model: string;
  /** Vector length, or `null` until the first answer of a service that does not state it. */
  readonly dims: number | null;
  /**
   * One vector a text, in order, L2-normalised where the model is.
   * @throws BackendError when the service fails or answers with a different number of vectors.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

export interface EmbedderModule {
  open(plan: Omit<EmbeddingPlan, "config"> & { readonly config: { readonly [key: string]: Json } }): Promise<Embedder>;
}
