/** Expansion by `hosted`: one chat completion, whose content is JSON with phrases. */
import { BackendError } from "../../abi/errors.js";
import { readPath } from "../../base/paths.js";
import { jsonService, postJson } from "../../embed/json-service.js";
import { bearerHeaders, firstText, required, textOf, timesOf } from "../../embed/settings.js";
import type { ExpanderModule } from "../expander.js";
import { parseFenced, readPhrases } from "../phrases.js";
import { DEFAULT_MODEL, PROMPT, TIMEOUT_S } from "./descriptor.js";

const OWN_ADDRESS = "https://api.openai.com/v1";

export const expander: ExpanderModule = {
  async open({ provider, model = DEFAULT_MODEL, variants, config }) {
    const who = `query expansion by '${provider}'`;
    const address = firstText(config, "base_url") ?? { key: "base_url", text: OWN_ADDRESS };
    if (address.text === OWN_ADDRESS) required(textOf(config, "api_key"), provider, "api_key");
    const service = jsonService({
      provider, who, address: `${address.text.replace(/\/+$/, "")}/chat/completions`, from: address.key,
      headers: bearerHeaders(config, provider), ...timesOf(config, provider, TIMEOUT_S), retries: 0,
    });
    const prompt = textOf(config, "prompt") ?? PROMPT;
    return {
      async phrases(query, signal) {
        const holes: { readonly [hole: string]: string } = { "{variants}": String(variants), "{query}": query };
        const content = prompt.replace(/\{(?:variants|query)\}/g, (hole) => holes[hole] ?? hole);
        const answer = await postJson(service, { model, messages: [{ role: "user", content }] }, signal);
        const [choice] = listAt(answer, "choices");
        const text = readPath(choice, "message.content");
        if (typeof text !== "string") throw new BackendError("internal", provider, `${who} answers without a message`);
        try {
          return readPhrases(parseFenced(text), variants);
        } catch {
          throw new BackendError("internal", provider, `${who} answers a message that is not JSON`);
        }
      },
    };
  },
};

function listAt(answer: unknown, path: string): readonly unknown[] {
  const list = readPath(answer, path);
  return Array.isArray(list) ? list : [];
}
