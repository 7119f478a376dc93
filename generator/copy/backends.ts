/** What a copy asks of the descriptors of backends: the one that is written, and whether another can carry out a filter. */
import { dirname } from "node:path";
import { isBackendError } from "../../runtime/abi/errors.js";
import type { Filter } from "../../runtime/abi/filter.js";
import type { BackendName } from "../../runtime/abi/plan.js";
import type { BackendDescriptor } from "../../runtime/adapters/descriptor.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { CompilerBug } from "../bug.js";

/** The backend of files that toolsrv writes. */
export function filledBackend(): BackendDescriptor {
  const found = Object.values<BackendDescriptor>(DESCRIPTORS).find(({ isFilled }) => isFilled === true);
  if (found === undefined) throw new CompilerBug("no backend is filled by toolsrv");
  return found;
}

/** Whether a file is an embedded store of toolsrv. */
export async function isOurs(file: string): Promise<boolean> {
  const { adapter } = await filledBackend().load();
  try {
    const store = await adapter.open({ path: file }, { base: dirname(file) });
    await store.collections(new AbortController().signal).finally(() => store.close());
    return true;
  } catch (error) {
    if (isBackendError(error)) return false;
    throw error;
  }
}

/** @throws RangeError for a condition that the backend cannot carry out: nothing is asked then */
export function checkFilter(filter: Filter | null, backend: BackendName): void {
  try {
    if (filter !== null) DESCRIPTORS[backend].compileFilter(filter);
  } catch (error) {
    throw isBackendError(error) ? new RangeError(error.message) : error;
  }
}
