/** Expansion by `http`: POST `{query, variants}`; the answer is a list of phrases, or an object that has one. */
import { jsonService, postJson } from "../../embed/json-service.js";
import { bearerHeaders, firstText, required, timesOf } from "../../embed/settings.js";
import type { ExpanderModule } from "../expander.js";
import { readPhrases } from "../phrases.js";
import { TIMEOUT_S } from "./descriptor.js";

export const expander: ExpanderModule = {
  async open({ provider, variants, config }) {
    const address = required(firstText(config, "base_url", "url"), provider, "base_url");
    const service = jsonService({
      provider, who: `query expansion by '${provider}'`, address: address.text, from: address.key,
      headers: bearerHeaders(config, provider), ...timesOf(config, provider, TIMEOUT_S), retries: 0,
    });
    return { phrases: async (query, signal) => readPhrases(await postJson(service, { query, variants }, signal), variants) };
  },
};
