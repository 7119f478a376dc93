/** Provider `hosted_alt`: POST {base_url}/v2/embed, as Cohere's API has it. Queries and stored texts are embedded differently. */
import { BackendError } from "../../abi/errors.js";
import { readPath } from "../../base/paths.js";
import type { EmbedderModule } from "../embedder.js";
import { jsonService } from "../json-service.js";
import { batchSizeOf, serviceEmbedder } from "../service-embedder.js";
import { bearerHeaders, firstText, required, textOf, timesOf } from "../settings.js";
import { BATCH_SIZE, INPUT_TYPE, OWN_ADDRESS, TIMEOUT_S } from "./descriptor.js";

/** What stored texts are, beside queries of this kind; other kinds (clustering, classification) have no second side. */
const STORED: { readonly [inputType: string]: string } = { [INPUT_TYPE]: "search_document" };

export const embedder: EmbedderModule = {
  async open(plan, options) {
    const { provider, config } = plan;
    const model = textOf(config, "model") ?? plan.model;
    const who = `embedding provider '${provider}'`;
    required(textOf(config, "api_key"), provider, "api_key");
    const address = firstText(config, "base_url") ?? { key: "base_url", text: OWN_ADDRESS };
    const service = jsonService({ provider, who, address: `${address.text.replace(/\/+$/, "")}/v2/embed`, from: address.key, headers: bearerHeaders(config, provider), ...timesOf(config, provider, TIMEOUT_S, options) });
    const asked = textOf(config, "input_type") ?? INPUT_TYPE;
    const inputType = options.use === "document" ? (STORED[asked] ?? asked) : asked;
    return serviceEmbedder({ ...plan, model }, options, {
      service,
      batchSize: batchSizeOf(plan, BATCH_SIZE, BATCH_SIZE),
      body: (texts) => ({ model, texts, input_type: inputType, embedding_types: ["float"] }),
      vectors(answer) {
        const found = readPath(answer, "embeddings.float");
        if (!Array.isArray(found)) throw new BackendError("internal", provider, `${who} answers without a list of embeddings`);
        return found;
      },
    });
  },
};
