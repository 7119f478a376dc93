/** Turns texts into vectors. One embedder per distinct `EmbeddingPlan`; shared by all tools that use it. */
import type { EmbeddingPlan, Json } from "../abi/plan.js";

export interface Embedder {
  readonly provider: string;
  readonly model: string;
  /** Vector length, or `null` until the first answer of a service that does not state it. */
  readonly dims: number | null;
  /**
   * One vector a text, in order, L2-normalised where the model is.
   * @throws BackendError when the service fails, or answers with another number of vectors than texts, or with what is no vector.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

/** An embedding with the references of its `config` filled in. */
export type FilledEmbedding = Omit<EmbeddingPlan, "config"> & { readonly config: { readonly [key: string]: Json } };

export interface OpenEmbedding {
  /** What the texts are: models of some providers embed queries and stored texts differently. A query by default. */
  readonly use?: "query" | "document";
  /** Take vectors of any length: `validate --live-embed` reports the length itself. */
  readonly anyLength?: boolean;
  /** Absolute folder against which relative paths in `config` are resolved; the working directory by default. */
  readonly base?: string;
}

export interface EmbedderModule {
  /** @throws BackendError setup for settings that cannot be used. */
  open(plan: FilledEmbedding, options: OpenEmbedding): Promise<Embedder>;
}
