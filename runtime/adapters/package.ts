/** Clients of stores are optional packages: installed beside the catalog or beside toolsrv, loaded when a catalog names the backend. */
import { BackendError } from "../abi/errors.js";
import type { BackendName } from "../abi/plan.js";
import { loadOptionalPackage, PackageError, type FindPackage } from "../base/optional-package.js";

/**
 * The module of a package, from where toolsrv lies, else from `base`, the folder of the catalog.
 * @throws BackendError setup that says what to install
 */
export async function loadPackage<T>(name: string, backend: BackendName, base: string, find?: FindPackage): Promise<T> {
  try {
    return await loadOptionalPackage<T>(name, base, find);
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    throw new BackendError("setup", backend, `${backend}: ${error.message}`, { cause: error.cause });
  }
}

/**
 * The address of a package's module, for a thread that imports it itself; found as `loadPackage` finds it.
 * @throws BackendError setup that says what to install
 */
export function findPackage(name: string, backend: BackendName, base: string): Promise<string> {
  return loadPackage<string>(name, backend, base, async (specifier) => (specifier.startsWith("file:") ? specifier : import.meta.resolve(specifier)));
}
