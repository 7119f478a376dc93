/**
 * The stores' own filter compilers. They are pure, and they are the code that will run: what compiles here runs there,
 * so validation and execution cannot disagree.
 */
import type { Filter } from "../../runtime/abi/filter.js";
import type { BackendName } from "../../runtime/abi/plan.js";
import { compileFilter as sqlite } from "../../runtime/adapters/sqlite/filter.js";

const COMPILERS: { readonly [B in BackendName]?: (filter: Filter) => unknown } = { sqlite };

/** Why a backend refuses a filter, or null when it compiles. */
export function refusal(backend: BackendName, filter: Filter): string | null {
  const compile = COMPILERS[backend];
  if (compile === undefined) return null;
  try {
    compile(filter);
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === "BackendError") return error.message;
    throw error;
  }
}
