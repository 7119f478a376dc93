/** Provider `hosted`: POST {base_url}/embeddings with `{model, input}`, as OpenAI's API has it. */
import type { EmbedderModule } from "../embedder.js";
import { jsonService } from "../json-service.js";
import { openAiEmbedder } from "../openai-shape.js";
import { batchSizeOf, shortened } from "../service-embedder.js";
import { bearerHeaders, firstText, required, textOf, timesOf } from "../settings.js";
import { BATCH_SIZE, TIMEOUT_S } from "./descriptor.js";

const OWN_ADDRESS = "https://api.openai.com/v1";

export const embedder: EmbedderModule = {
  async open(plan, options) {
    const { provider, model, config } = plan;
    const address = firstText(config, "base_url") ?? { key: "base_url", text: OWN_ADDRESS };
    // A service of the user's own may need no key.
    if (address.text === OWN_ADDRESS) required(textOf(config, "api_key"), provider, "api_key");
    const service = jsonService({
      provider, who: `embedding provider '${provider}'`, address: `${address.text.replace(/\/+$/, "")}/embeddings`, from: address.key,
      headers: bearerHeaders(config, provider), ...timesOf(config, provider, TIMEOUT_S, options),
    });
    return openAiEmbedder(plan, options, { service, batchSize: batchSizeOf(plan, BATCH_SIZE), fixed: { model, ...shortened(plan) } });
  },
};
