/**
 * Compiled parts of the packages that stores use. They are loaded when a server starts, so that one that was built for
 * another Node is an error then and not at the first call; the packages around them load with their adapter, later.
 */
interface NativeCheck {
  /** @throws BackendError setup, with what to do */
  readonly checkNativeModules: () => void;
}

/** A row for each backend that has such parts. */
const CHECKS: { readonly [backend: string]: () => Promise<NativeCheck> } = { sqlite: () => import("./sqlite/native.js") };

/** @throws BackendError setup for the first part that does not load */
export async function checkNativeModules(backends: Iterable<string>): Promise<void> {
  for (const backend of new Set(backends)) {
    const load = Object.hasOwn(CHECKS, backend) ? CHECKS[backend] : undefined;
    if (load !== undefined) (await load()).checkNativeModules();
  }
}
