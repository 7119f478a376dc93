/** Opens rerankers by the table of descriptors; each is imported when a call needs it. */
import { BackendError } from "../abi/errors.js";
import { providerCalled } from "../abi/provider.js";
import { RERANKERS } from "./descriptors.js";
import type { FilledRerank, OpenReranker, Reranker } from "./reranker.js";

/** @throws BackendError unsupported, for a provider that this version does not have; setup, for settings that cannot be used. */
export async function openReranker(plan: FilledRerank, options: OpenReranker): Promise<Reranker> {
  const load = providerCalled(RERANKERS, plan.provider)?.load;
  if (load === undefined) throw new BackendError("unsupported", plan.provider, `reranking by '${plan.provider}' is not available in this version`);
  const { reranker } = await load();
  return reranker.open(plan, options);
}
