/**
 * The stores' own filter compilers. They are pure, and they are the code that will run: what compiles here runs there,
 * so validation and execution cannot disagree.
 */
import type { Filter } from "../../runtime/abi/filter.js";
import type { BackendName } from "../../runtime/abi/plan.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";

/**
 * The filter in the store's own language; "all" and "none" need none.
 * @throws BackendError unsupported
 */
export function compileNative(backend: BackendName, filter: Filter): unknown {
  return DESCRIPTORS[backend].compileFilter(filter);
}

/** Why a backend refuses a filter, or null when it compiles. */
export function refusal(backend: BackendName, filter: Filter): string | null {
  try {
    DESCRIPTORS[backend].compileFilter(filter);
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === "BackendError") return error.message;
    throw error;
  }
}
