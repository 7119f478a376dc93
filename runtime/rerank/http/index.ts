/** Reranking by `http`: POST `{query, documents, model}`; the answer names indexes, best first. */
import { jsonService, postJson } from "../../embed/json-service.js";
import { bearerHeaders, firstText, required, timesOf } from "../../embed/settings.js";
import { readOrder } from "../order.js";
import type { RerankerModule } from "../reranker.js";
import { TIMEOUT_S } from "./descriptor.js";

export const reranker: RerankerModule = {
  async open({ provider, model, config }) {
    const address = required(firstText(config, "base_url", "url"), provider, "base_url");
    const service = jsonService({
      provider, who: `rerank provider '${provider}'`, address: address.text, from: address.key,
      headers: bearerHeaders(config, provider), ...timesOf(config, provider, TIMEOUT_S), retries: 0,
    });
    return { order: async (query, documents, signal) => readOrder(await postJson(service, { query, documents, model }, signal), documents.length, provider) };
  },
};
