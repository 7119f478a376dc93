/** Settings of V8 for a process that does nothing but serve. Not for the library: there the process is the application's. */
import { setFlagsFromString } from "node:v8";

/**
 * Most bytecode of called functions that becomes part of an optimized one; 920 unless set. A request runs through many
 * small functions that are called from one place each. Higher values than this join hardly any more of them.
 */
const INLINED_BYTES = 2000;

/** Applies to functions that are optimized from now on. */
export function inlineMore(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
}
