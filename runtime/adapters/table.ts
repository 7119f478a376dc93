/** Backend name → its adapter, imported when a catalog names it. Adding a backend is a row here. */
import type { Program } from "../abi/call.js";
import type { BackendName } from "../abi/plan.js";

/** Backends whose stores this version can open. */
export const ADAPTERS: Program["adapters"] & { readonly [B in BackendName]?: Program["adapters"][string] } = {
  sqlite: () => import("./sqlite/index.js"),
};

/** Whether this version can open stores of a backend. */
export function hasAdapter(backend: BackendName): boolean {
  return Object.hasOwn(ADAPTERS, backend);
}
