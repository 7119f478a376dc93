/** Opens providers of query expansion by the table of descriptors; each is imported when a call needs it. */
import { BackendError } from "../abi/errors.js";
import { providerCalled } from "../abi/provider.js";
import { EXPANDERS } from "./descriptors.js";
import type { Expander, FilledExpand } from "./expander.js";

/** @throws BackendError unsupported, for a provider that this version does not have; setup, for settings that cannot be used. */
export async function openExpander(plan: FilledExpand): Promise<Expander> {
  const load = providerCalled(EXPANDERS, plan.provider)?.load;
  if (load === undefined) throw new BackendError("unsupported", plan.provider, `query expansion by '${plan.provider}' is not available in this version`);
  const { expander } = await load();
  return expander.open(plan);
}
