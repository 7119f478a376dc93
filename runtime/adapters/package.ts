/** Clients of stores are optional packages: installed beside the catalog or beside toolsrv, loaded when a catalog names the backend. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BackendError } from "../abi/errors.js";
import type { BackendName } from "../abi/plan.js";

type Find = (specifier: string) => Promise<unknown>;

/**
 * The module of a package, from where toolsrv lies, else from `base`, the folder of the catalog.
 * @throws BackendError setup that says what to install
 */
export async function loadPackage<T>(name: string, backend: BackendName, base: string, find: Find = (specifier) => import(specifier)): Promise<T> {
  try {
    return (await find(name)) as T;
  } catch (error) {
    if (!isMissing(error)) throw unloadable(name, backend, error);
  }
  try {
    return (await find(pathToFileURL(createRequire(join(base, "package.json")).resolve(name)).href)) as T;
  } catch (error) {
    if (!isMissing(error)) throw unloadable(name, backend, error);
    throw new BackendError("setup", backend, `${backend} needs the package ${name}, which is not installed; run: npm i ${name}`, { cause: error });
  }
}

/**
 * The address of a package's module, for a thread that imports it itself; found as `loadPackage` finds it.
 * @throws BackendError setup that says what to install
 */
export function findPackage(name: string, backend: BackendName, base: string): Promise<string> {
  return loadPackage<string>(name, backend, base, async (specifier) => (specifier.startsWith("file:") ? specifier : import.meta.resolve(specifier)));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND");
}

function unloadable(name: string, backend: BackendName, error: unknown): BackendError {
  return new BackendError("setup", backend, `the package ${name} cannot be loaded on Node ${process.versions.node}`, { cause: error });
}
