/** Requests and answers of OpenAI's embeddings, which several providers have. */
import { BackendError } from "../abi/errors.js";
import type { Json } from "../abi/plan.js";
import type { Embedder, FilledEmbedding, OpenEmbedding } from "./embedder.js";
import { serviceEmbedder, type ServiceEmbedding } from "./service-embedder.js";
import { readVectors } from "./vectors-path.js";

const PATH = { list: "data", each: "embedding" };

/** `fixed` is what every request has beside its texts. */
export function openAiEmbedder(plan: FilledEmbedding, options: OpenEmbedding, { fixed, ...rest }: Pick<ServiceEmbedding, "service" | "batchSize"> & { readonly fixed: { readonly [key: string]: Json } }): Embedder {
  return serviceEmbedder(plan, options, {
    ...rest,
    body: (texts) => ({ ...fixed, input: texts }),
    vectors(answer) {
      const found = readVectors(answer, PATH);
      if (found === null) throw new BackendError("internal", plan.provider, `${rest.service.who} answers without a list of embeddings in their order`);
      return found;
    },
  });
}
