/** Sentence models in this process: any ONNX model that Transformers.js runs. */
import { BackendError } from "../../abi/errors.js";
import type { Embedder, FilledEmbedding, OpenEmbedding } from "../embedder.js";
import { openOnnx, type Tensor, unloadable } from "../onnx.js";
import { textOf } from "../settings.js";
import { PACKAGE, POOLING } from "./descriptor.js";

/** Texts that go through the model together. */
const BATCH = 32;

const POOLINGS = ["mean", "cls"];

/** @throws BackendError setup for a folder, a package or settings that cannot be used. */
export async function openSentenceModel({ provider, model, dims: stated, config }: FilledEmbedding, { base = ".", anyLength = false }: OpenEmbedding): Promise<Embedder> {
  const pooling = textOf(config, "pooling") ?? POOLING;
  if (!POOLINGS.includes(pooling)) throw new BackendError("setup", provider, `provider '${provider}': config.pooling is ${POOLINGS.join(" or ")}`);
  const { transformers, folder, options } = await openOnnx(provider, PACKAGE, config, base);
  const extract = await transformers.pipeline("feature-extraction", folder, options).catch((error: unknown) => { throw unloadable(provider, config, error); });
  let dims = stated ?? null;
  const embedBatch = async (texts: readonly string[]): Promise<readonly Float32Array[]> => {
    const vectors = rows(await extract(texts, { pooling, normalize: true }), texts.length);
    const length = vectors?.[0]?.length ?? 0;
    if (vectors === null || !vectors.every((vector) => vector.every(Number.isFinite))) throw new BackendError("internal", provider, `the model '${model}' does not make one vector of finite numbers for each text`);
    dims ??= length;
    if (length !== dims && !anyLength) throw new BackendError("internal", provider, `the model '${model}' makes vectors of ${length} numbers; ${dims} are expected (embedding.dims, or the length that the model is known to have)`);
    return vectors;
  };
  return {
    provider,
    model,
    get dims() {
      return dims;
    },
    async embed(texts, signal) {
      const made: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += BATCH) {
        signal.throwIfAborted();
        made.push(...(await embedBatch(texts.slice(from, from + BATCH))));
      }
      return made;
    },
  };
}

/** A tensor of one row a text; null for one of another shape. */
function rows({ dims, data }: Tensor, texts: number): readonly Float32Array[] | null {
  const [count = 0, length = 0] = dims;
  if (dims.length !== 2 || count !== texts || length === 0 || data.length !== count * length) return null;
  const numbers = Float32Array.from(data as ArrayLike<number>);
  return Array.from({ length: count }, (_, index) => numbers.slice(index * length, (index + 1) * length));
}
