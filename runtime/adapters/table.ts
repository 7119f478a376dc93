/** The adapters of the backends that this version can open; each loads when a catalog names it. */
import type { Program } from "../abi/call.js";
import type { BackendName } from "../abi/plan.js";
import { DESCRIPTORS } from "./descriptors.js";

export const ADAPTERS: Program["adapters"] = Object.fromEntries(Object.values(DESCRIPTORS).flatMap(({ name, load }) => (load === undefined ? [] : [[name, load]])));

/** Whether this version can open stores of a backend. */
export function hasAdapter(backend: BackendName): boolean {
  return DESCRIPTORS[backend].load !== undefined;
}
