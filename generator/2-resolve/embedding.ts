/** Embeddings: string and object forms, older provider names, and the vector lengths that are known. */
import type { Path, ResolvedEmbedding, tds } from "../ir.js";
import type { Deferred } from "../../runtime/abi/plan.js";
import type { Interpolator } from "./interpolate.js";

type Provider = ResolvedEmbedding["provider"];

const PROVIDERS: { readonly [name: string]: Provider } = {
  local: "local", fastembed: "local",
  hosted: "hosted", openai: "hosted",
  hosted_cloud: "hosted_cloud", azure_openai: "hosted_cloud",
  http: "http",
  hosted_alt: "hosted_alt", cohere: "hosted_alt",
};

export const DEFAULT_MODEL = "BAAI/bge-small-en-v1.5";

const KNOWN_DIMS: { readonly [model: string]: number } = {
  "hashing-256": 256, "hashing-512": 512, "hashing-1024": 1024,
  "BAAI/bge-small-en-v1.5": 384, "bge-small-en-v1.5": 384,
  "text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536,
  "embed-english-v3.0": 1024, "embed-multilingual-v3.0": 1024,
};

/** Vector length of a model by its name, or by the part after its first "/"; null when unknown. */
export function knownDims(model: string): number | null {
  const tail = model.slice(model.indexOf("/") + 1);
  return KNOWN_DIMS[model] ?? KNOWN_DIMS[tail] ?? null;
}

/** defaults.embedding; null where nothing is written there. */
export function resolveDefaultEmbedding(written: tds.Embedding | undefined, interpolator: Interpolator): ResolvedEmbedding | null {
  const embedding = writtenEmbedding(written, ["defaults", "embedding"], interpolator);
  return embedding === null ? null : { ...embedding, origin: "default" };
}

/** What is inherited at `place`: the catalog's own default, else the built-in one, which the place itself decides on. */
export function inheritEmbedding(place: Path, inherited: ResolvedEmbedding | null): ResolvedEmbedding {
  return inherited ?? { provider: "local", model: DEFAULT_MODEL, dims: knownDims(DEFAULT_MODEL), config: {}, origin: "default", at: place };
}

/** The embedding of the query at `query`: stated there, or inherited. */
export function resolveEmbedding(written: tds.Embedding | undefined, query: Path, inherited: ResolvedEmbedding | null, interpolator: Interpolator): ResolvedEmbedding {
  return writtenEmbedding(written, [...query, "embedding"], interpolator) ?? inheritEmbedding(query, inherited);
}

/** The embedding written at `at`; null where nothing, or an empty text, is written. */
function writtenEmbedding(written: tds.Embedding | undefined, at: Path, interpolator: Interpolator): ResolvedEmbedding | null {
  if (written === undefined || written === null || written === "") return null;
  if (typeof written === "string") {
    const { provider, model } = splitName(written, "local");
    return { provider, model, dims: knownDims(model), config: {}, origin: "stated", at };
  }
  const provider = PROVIDERS[written.provider ?? "local"] ?? "local";
  const model = provider === "local" ? splitName(written.model ?? DEFAULT_MODEL, "local").model : written.model ?? DEFAULT_MODEL;
  const config = Object.fromEntries(
    Object.entries(written.config ?? {}).map(([key, value]): [string, Deferred] => [key, interpolator.tree(value, [...at, "config", key])]),
  );
  return { provider, model, dims: written.dims ?? knownDims(model), config, origin: "stated", at };
}

/** `openai/text-embedding-3-small` → provider and model; a text without a provider's name is a model of `fallback`. */
function splitName(text: string, fallback: Provider): { readonly provider: Provider; readonly model: string } {
  const slash = text.indexOf("/");
  const prefix = slash < 0 ? "" : text.slice(0, slash);
  const provider = Object.hasOwn(PROVIDERS, prefix) ? PROVIDERS[prefix] : undefined;
  return provider === undefined ? { provider: fallback, model: text } : { provider, model: text.slice(slash + 1) };
}
