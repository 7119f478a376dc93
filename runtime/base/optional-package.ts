/** Packages that toolsrv does not bring along: installed beside the catalog or beside toolsrv, loaded when one is needed. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export type FindPackage = (specifier: string) => Promise<unknown>;

/** A package that is needed and cannot be had; `isMissing` when it is not installed at all. */
export class PackageError extends Error {
  override readonly name = "PackageError";
  constructor(
    readonly package_: string,
    readonly isMissing: boolean,
    cause: unknown,
  ) {
    super(isMissing ? `the package ${package_} is not installed; run: npm i ${package_}` : `the package ${package_} cannot be loaded on Node ${process.versions.node}`, { cause });
  }
}

/**
 * The module of a package, from where toolsrv lies, else from `base`, the folder of the catalog.
 * @throws PackageError
 */
export async function loadOptionalPackage<T>(name: string, base: string, find: FindPackage = (specifier) => import(specifier)): Promise<T> {
  try {
    return (await find(name)) as T;
  } catch (error) {
    if (!isMissing(error)) throw new PackageError(name, false, error);
  }
  try {
    return (await find(pathToFileURL(createRequire(join(base, "package.json")).resolve(name)).href)) as T;
  } catch (error) {
    throw new PackageError(name, isMissing(error), error);
  }
}

/** File of a package that was loaded, from where it finds the packages that it brings along. */
export function placeOfPackage(name: string, base: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return createRequire(join(base, "package.json")).resolve(name);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND");
}
