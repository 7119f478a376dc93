/** Provider `hosted_cloud`: a deployment's address at Azure, the key in a header of its own, OpenAI's bodies. */
import type { EmbedderModule } from "../embedder.js";
import { jsonService } from "../json-service.js";
import { openAiEmbedder } from "../openai-shape.js";
import { batchSizeOf, shortened } from "../service-embedder.js";
import { firstText, required, textOf, timesOf } from "../settings.js";
import { API_VERSION, BATCH_SIZE, TIMEOUT_S } from "./descriptor.js";

export const embedder: EmbedderModule = {
  async open(plan, options) {
    const { provider, model, config } = plan;
    const endpoint = required(firstText(config, "endpoint", "base_url"), provider, "endpoint");
    const deployment = encodeURIComponent(textOf(config, "deployment") ?? model);
    const version = encodeURIComponent(textOf(config, "api_version") ?? API_VERSION);
    const service = jsonService({
      provider, who: `embedding provider '${provider}'`, from: endpoint.key,
      address: `${endpoint.text.replace(/\/+$/, "")}/openai/deployments/${deployment}/embeddings?api-version=${version}`,
      headers: { "api-key": required(textOf(config, "api_key"), provider, "api_key") }, ...timesOf(config, provider, TIMEOUT_S, options),
    });
    return openAiEmbedder(plan, options, { service, batchSize: batchSizeOf(plan, BATCH_SIZE), fixed: shortened(plan) });
  },
};
