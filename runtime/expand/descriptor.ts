/**
 * Everything about a provider of query expansion in one value: each folder here has a `descriptor.ts`, and
 * `descriptors.ts` is the table of them. Pure: no package is loaded.
 */
import type { ExpandProvider } from "../abi/plan.js";
import type { ProviderDescriptor } from "../abi/provider.js";
import type { ExpanderModule } from "./expander.js";

export interface ExpandDescriptor extends ProviderDescriptor<ExpandProvider> {
  /** The expander; absent where this version has none, or where none is needed. */
  readonly load?: () => Promise<{ readonly expander: ExpanderModule }>;
  /** Whether it adds variants; where not, a plan has no expansion. */
  readonly expands: boolean;
}
