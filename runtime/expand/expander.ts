/** Writes other phrases for a query. One expander per `query.expand` of a plan. */
import type { ExpandPlan, Json } from "../abi/plan.js";

export interface Expander {
  /**
   * Other phrases, as the provider answers them: trimmed texts that are not empty, at most as many as the plan wants.
   * @throws BackendError when the provider fails, or answers what holds no phrases.
   */
  phrases(query: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** An expansion with the references of its `config` filled in. */
export type FilledExpand = Omit<ExpandPlan, "config"> & { readonly config: { readonly [key: string]: Json } };

export interface ExpanderModule {
  /** @throws BackendError setup for settings that cannot be used. */
  open(plan: FilledExpand): Promise<Expander>;
}
