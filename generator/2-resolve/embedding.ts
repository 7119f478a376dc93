/** Embeddings of the catalog: string and object forms, with the provider, model and vector length that they mean. */
import type { Path, ResolvedEmbedding, tds } from "../ir.js";
import type { Deferred } from "../../runtime/abi/plan.js";
import { providerCalled } from "../../runtime/abi/provider.js";
import { DEFAULT_EMBEDDER, EMBEDDERS, knownDims, readEmbeddingName } from "../../runtime/embed/descriptors.js";
import type { Interpolator } from "./interpolate.js";

/** defaults.embedding; null where nothing is written there. */
export function resolveDefaultEmbedding(written: tds.Embedding | undefined, interpolator: Interpolator): ResolvedEmbedding | null {
  const embedding = writtenEmbedding(written, ["defaults", "embedding"], interpolator);
  return embedding === null ? null : { ...embedding, origin: "default" };
}

/** What is inherited at `place`: the catalog's own default, else the built-in one, which the place itself decides on. */
export function inheritEmbedding(place: Path, inherited: ResolvedEmbedding | null): ResolvedEmbedding {
  const { name: provider, defaultModel: model } = DEFAULT_EMBEDDER;
  return inherited ?? { provider, model, dims: knownDims(model), config: {}, space: null, origin: "default", at: place };
}

/** The embedding of the query at `query`: stated there, or inherited. */
export function resolveEmbedding(written: tds.Embedding | undefined, query: Path, inherited: ResolvedEmbedding | null, interpolator: Interpolator): ResolvedEmbedding {
  return writtenEmbedding(written, [...query, "embedding"], interpolator) ?? inheritEmbedding(query, inherited);
}

/** The embedding written at `at`; null where nothing, or an empty text, is written. */
function writtenEmbedding(written: tds.Embedding | undefined, at: Path, interpolator: Interpolator): ResolvedEmbedding | null {
  if (written === undefined || written === null || written === "") return null;
  if (typeof written === "string") {
    const { descriptor, model } = readEmbeddingName(written);
    return { provider: descriptor.name, model, dims: knownDims(model), config: {}, space: null, origin: "stated", at };
  }
  const descriptor = written.provider === undefined ? DEFAULT_EMBEDDER : providerCalled(EMBEDDERS, written.provider) ?? DEFAULT_EMBEDDER;
  const model = modelOf(written.model ?? descriptor.defaultModel, descriptor);
  const config = Object.fromEntries(
    Object.entries(written.config ?? {}).map(([key, value]): [string, Deferred] => [key, interpolator.tree(value, [...at, "config", key])]),
  );
  return { provider: descriptor.name, model, dims: written.dims ?? knownDims(model), config, space: written.space ?? null, origin: "stated", at };
}

/** Models of the default provider may be written as in the string form, with a provider's name before them. */
function modelOf(written: string, descriptor: typeof DEFAULT_EMBEDDER): string {
  return descriptor === DEFAULT_EMBEDDER ? readEmbeddingName(written).model : written;
}
