/** Provider `http`: POST to base_url exactly; the catalog names the fields of the body and where the vectors are. */
import { BackendError } from "../../abi/errors.js";
import { isRecord } from "../../base/paths.js";
import type { EmbedderModule } from "../embedder.js";
import { jsonService } from "../json-service.js";
import { batchSizeOf, serviceEmbedder } from "../service-embedder.js";
import { bearerHeaders, firstText, required, type Config, timesOf } from "../settings.js";
import { parseVectorsPath, readVectors } from "../vectors-path.js";
import { BATCH_SIZE, INPUT_FIELD, MODEL_FIELD, TIMEOUT_S, VECTORS_PATH } from "./descriptor.js";

export const embedder: EmbedderModule = {
  async open(plan, options) {
    const { provider, model, config } = plan;
    const address = required(firstText(config, "base_url"), provider, "base_url");
    const who = `embedding provider '${provider}'`;
    const service = jsonService({ provider, who, address: address.text, from: address.key, headers: bearerHeaders(config, provider), ...timesOf(config, provider, TIMEOUT_S, options) });
    const written = textIn(config, "response", "vectors_path") ?? VECTORS_PATH;
    const path = parseVectorsPath(written);
    if (path === null) throw new BackendError("setup", provider, `${who}: config.response.vectors_path '${written}' is not a path such as ${VECTORS_PATH}`);
    const modelField = textIn(config, "request", "model_field") ?? MODEL_FIELD;
    const inputField = textIn(config, "request", "input_field") ?? INPUT_FIELD;
    return serviceEmbedder(plan, options, {
      service,
      batchSize: batchSizeOf(plan, BATCH_SIZE),
      body: (texts) => ({ [modelField]: model, [inputField]: texts }),
      vectors(answer) {
        const found = readVectors(answer, path);
        if (found === null) throw new BackendError("internal", provider, `${who} answers without a list of vectors in their order at ${written}`);
        return found;
      },
    });
  },
};

function textIn(config: Config, part: string, key: string): string | null {
  const within = config[part];
  const text = isRecord(within) ? within[key] : undefined;
  return typeof text === "string" && text !== "" ? text : null;
}
