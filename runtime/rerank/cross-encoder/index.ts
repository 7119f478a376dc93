/** Reranking by `cross_encoder`: a model in this process that reads query and document together. */
import { openOnnx, unloadable } from "../../embed/onnx.js";
import { BackendError } from "../../abi/errors.js";
import type { RerankerModule } from "../reranker.js";
import { PACKAGE } from "./descriptor.js";

/** Pairs that go through the model together. */
const BATCH = 16;

export const reranker: RerankerModule = {
  async open({ provider, config }, { base }) {
    const { transformers: { AutoTokenizer, AutoModelForSequenceClassification }, folder, options } = await openOnnx(provider, PACKAGE, config, base);
    const [tokenize, classify] = await Promise.all([AutoTokenizer.from_pretrained(folder, options), AutoModelForSequenceClassification.from_pretrained(folder, options)])
      .catch((error: unknown) => { throw unloadable(provider, config, error); });
    return {
      async order(query, documents, signal) {
        const scores: number[] = [];
        for (let from = 0; from < documents.length; from += BATCH) {
          signal.throwIfAborted();
          const batch = documents.slice(from, from + BATCH);
          const { logits } = await classify(tokenize(batch.map(() => query), { text_pair: batch, padding: true, truncation: true }));
          const labels = logits.data.length / batch.length;
          // A model with two labels says how likely "relevant" is by the second.
          for (let i = 0; i < batch.length; i++) scores.push(Number(logits.data[i * labels + labels - 1]));
        }
        if (scores.length !== documents.length || !scores.every(Number.isFinite)) throw new BackendError("internal", provider, `rerank provider '${provider}' does not make one finite score for each document`);
        return scores.map((score, index) => ({ score, index })).sort((a, b) => b.score - a.score || a.index - b.index).map(({ index }) => index);
      },
    };
  },
};
