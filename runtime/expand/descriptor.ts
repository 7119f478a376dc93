/**
 * Everything about a provider of query expansion in one value: each folder here has a `descriptor.ts`, and
 * `descriptors.ts` is the table of them. Pure: no package is loaded.
 */
import type { ExpandProvider } from "../abi/plan.js";
import type { ProviderDescriptor } from "../abi/provider.js";

export interface ExpandDescriptor extends ProviderDescriptor<ExpandProvider> {
  /** Whether it adds variants; where not, a plan has no expansion. */
  readonly expands: boolean;
}
