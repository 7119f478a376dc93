/** Reranking by `hosted_alt`: POST {base_url}/v2/rerank, as Cohere's API has it. */
import { jsonService, postJson } from "../../embed/json-service.js";
import { bearerHeaders, firstText, required, textOf, timesOf } from "../../embed/settings.js";
import { readOrder } from "../order.js";
import type { RerankerModule } from "../reranker.js";
import { OWN_ADDRESS, TIMEOUT_S } from "./descriptor.js";

export const reranker: RerankerModule = {
  async open({ provider, model, config }) {
    required(textOf(config, "api_key"), provider, "api_key");
    const address = firstText(config, "base_url") ?? { key: "base_url", text: OWN_ADDRESS };
    const service = jsonService({
      provider, who: `rerank provider '${provider}'`, address: `${address.text.replace(/\/+$/, "")}/v2/rerank`, from: address.key,
      headers: bearerHeaders(config, provider), ...timesOf(config, provider, TIMEOUT_S), retries: 0,
    });
    return { order: async (query, documents, signal) => readOrder(await postJson(service, { model, query, documents }, signal), documents.length, provider) };
  },
};
